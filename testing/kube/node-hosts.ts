// Hosts of the fake cloud that become nodes: a host which is configured with the user data of an operator boots a fake
// kubelet in the cluster that the user data is for, and a host which is drained, interrupted or dies loses its Node, as a
// cloud controller would remove it, unless a test wants hosts without one. Used by the worlds of test/operator.

import { formatResources } from '../../src/model/index.ts';
import type { NodeTaint } from '../../src/operator/kube/index.ts';
import type { Backend, CloudEvent, FakeCloud, Offering, Subject } from '../../src/provider/index.ts';
import type { BootOptions, FakeKubelets } from './kubelet.ts';

/** User data as the template of the tests renders it. */
export interface UserData {
  readonly cluster: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly taints: readonly NodeTaint[];
  readonly token?: string;
}

/** Template for the operator of a test: what a kubelet needs, as JSON. */
export const USER_DATA_TEMPLATE =
  '{"cluster": {{ json cluster }}, "labels": {{ json labels }}, "taints": {{ json taints }}}\n';
/** The same for an operator in mode tokens. */
export const TOKEN_TEMPLATE = USER_DATA_TEMPLATE.replace('}\n', ', "token": {{ json token }}}\n');

export class NodeHosts {
  readonly #kubelets: ReadonlyMap<string, FakeKubelets>;
  /** By machine: the cluster that its Node is in. */
  readonly #nodes = new Map<string, string>();
  /** References of all hosts that were made. A Create that is repeated because its answer was late makes no other host. */
  readonly #made = new Set<string>();
  #offerings: ReadonlyMap<string, Offering> = new Map();
  /** User data by machine, as its host got it. */
  readonly userData = new Map<string, UserData>();
  /** How hosts boot from now on. */
  boot: BootOptions = {};
  /** A host that is lost leaves its Node, which becomes NotReady, as on bare metal. */
  leavesNodes = false;

  /** `kubelets`: by cluster. */
  constructor(kubelets: ReadonlyMap<string, FakeKubelets>) {
    this.#kubelets = kubelets;
  }

  /** The name of the Node of a machine differs from the machine's id, as on most clouds. */
  nodeOf(machineId: string): string {
    return `node-of-${machineId}`;
  }

  /** Clusters of machines that have a Node, by machine. */
  get nodes(): ReadonlyMap<string, string> {
    return this.#nodes;
  }

  /** Number of hosts that were made, those that are gone included. */
  get bought(): number {
    return this.#made.size;
  }

  /** The cloud, with hosts that join clusters. */
  extend(cloud: FakeCloud): Backend {
    return {
      resumable: cloud.resumable,
      describe: async () => {
        const offerings = await cloud.describe();
        this.#offerings = new Map(offerings.map((offering) => [offering.id, offering]));
        return offerings;
      },
      create: async (machine, operation) => {
        const host = await cloud.create(machine, operation);
        this.#made.add(host.ref);
        return host;
      },
      configure: async (machine, binding, operation) => {
        await cloud.configure(machine, binding, operation);
        const data = JSON.parse(Buffer.from(binding.bootstrapBlob).toString('utf8')) as UserData;
        this.userData.set(machine.id, data);
        await this.#join(machine, data);
      },
      drain: async (machine, graceSeconds, operation) => {
        await cloud.drain(machine, graceSeconds, operation);
        await this.#leave(machine.id);
      },
      delete: async (machine, operation) => {
        await this.#leave(machine.id);
        await cloud.delete(machine, operation);
      },
    };
  }

  /** Events of the cloud: a lost host takes its Node along. */
  readonly onEvent = ({ what, whom }: CloudEvent): void => {
    if (what === 'interrupted' || what === 'died') void this.#leave(whom, !this.leavesNodes);
  };

  async #join(machine: Subject, data: UserData): Promise<void> {
    const kubelets = this.#kubelets.get(data.cluster);
    const offering = this.#offerings.get(machine.id);
    if (kubelets === undefined || offering === undefined) throw new Error(`no cluster ${data.cluster}`);
    const { allocatable, resources } = offering;
    this.#nodes.set(machine.id, data.cluster);
    await kubelets.boot(
      {
        name: this.nodeOf(machine.id),
        providerID: machine.host?.ref ?? '',
        labels: {
          'node.kubernetes.io/instance-type': machine.instanceType,
          'topology.kubernetes.io/zone': machine.zone,
          ...data.labels,
        },
        taints: data.taints,
        capacity: formatResources(resources),
        allocatable: formatResources(allocatable.size === 0 ? resources : allocatable),
      },
      this.boot,
    );
  }

  async #leave(machineId: string, deletesNode = true): Promise<void> {
    const cluster = this.#nodes.get(machineId);
    if (cluster === undefined) return;
    this.#nodes.delete(machineId);
    await this.#kubelets.get(cluster)!.terminate(this.nodeOf(machineId), deletesNode);
  }
}
