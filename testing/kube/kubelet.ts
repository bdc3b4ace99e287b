// Fake kubelets: make a Node of a machine, renew its Lease, run the pods that the scheduler binds, and finish deletions
// after their grace. One object plays the kubelets of all nodes of a cluster, with one watch, on the fake and on a real
// control plane alike. Tests steer it: slow and failed boots, lost heartbeats, disk pressure, pods that never get ready.
//
//   const kubelets = new FakeKubelets({ client: plane.admin });
//   kubelets.start();
//   await kubelets.boot({ name: 'n1', providerID: 'fake://n1', labels: {}, taints: [], capacity: { cpu: '4', memory: '8Gi' } });

import {
  createLease,
  getLease,
  type KubeClient,
  KubeError,
  microTime,
  type Node,
  type NodeTaint,
  type ObjectConsumer,
  type Pod,
  pathOf,
  RESOURCES,
  Reflector,
  type ResourceList,
} from '../../src/operator/kube/index.ts';
import type { Clock } from '../../src/runtime/clock.ts';
import { Random } from '../../src/runtime/random.ts';
import { systemClock } from '../../src/runtime/system-clock.ts';

const LEASES = 'kube-node-lease';

/** A machine as its provider made it, with what its bootstrap gives to the kubelet. */
export interface Machine {
  readonly name: string;
  readonly providerID: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly taints: readonly NodeTaint[];
  readonly capacity: ResourceList;
  /** Default: the capacity. */
  readonly allocatable?: ResourceList;
}

export interface BootOptions {
  /** Time until the Node appears. Default 0. */
  readonly bootMs?: number;
  /** The Node appears only after this. */
  readonly after?: Promise<void>;
  /** The machine never joins. */
  readonly fails?: boolean;
}

export interface KubeletOptions {
  readonly client: KubeClient;
  readonly clock?: Clock;
  /** Default 10 s, as the real kubelet. */
  readonly heartbeatMs?: number;
  /** From bound to ready. Default 0. */
  readonly podStartMs?: number;
  /** Longest time that a pod takes to end; it never exceeds its grace. Default 0. */
  readonly podStopMs?: number;
  /** Whether a pod becomes ready. Default: all. */
  readonly isReady?: (pod: Pod) => boolean;
}

interface FakeNode {
  readonly machine: Machine;
  hasHeartbeat: boolean;
  /** Ends with the machine. */
  isRunning: boolean;
}

export class FakeKubelets implements ObjectConsumer<Pod> {
  readonly #client: KubeClient;
  readonly #clock: Clock;
  readonly #options: KubeletOptions;
  readonly #nodes = new Map<string, FakeNode>();
  /** Pods of nodes that are known, by uid, as last seen. */
  readonly #pods = new Map<string, Pod>();
  /** What is under way for a pod, so that it is not begun twice. */
  readonly #working = new Set<string>();
  readonly #reflector: Reflector<Pod>;
  #cancelBeat: () => void = () => {};
  #isStopped = false;
  #listed: Set<string> | null = null;

  constructor(options: KubeletOptions) {
    this.#options = options;
    this.#client = options.client;
    this.#clock = options.clock ?? systemClock;
    this.#reflector = new Reflector<Pod>({
      client: this.#client,
      path: pathOf(RESOURCES.pods),
      consumer: this,
      selector: { fieldSelector: 'spec.nodeName!=' },
      random: new Random(Date.now()),
      clock: this.#clock,
      settings: { resumeJitterMs: 20, backoff: { baseMs: 50, maxMs: 1_000 } },
    });
  }

  start(): void {
    this.#reflector.start();
    this.#beat();
  }

  /** All kubelets stop; Nodes and pods stay as they are. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#cancelBeat();
    await this.#reflector.stop();
  }

  /** Resolves when the Node exists, or when the boot has failed. */
  async boot(machine: Machine, { bootMs = 0, after, fails = false }: BootOptions = {}): Promise<void> {
    if (bootMs > 0) await this.#sleep(bootMs);
    await after;
    if (fails || this.#isStopped) return;
    await this.#retried(() => this.#register(machine));
    const node: FakeNode = { machine, hasHeartbeat: true, isRunning: true };
    this.#nodes.set(machine.name, node);
    await this.#retried(() => this.#renew(node));
    for (const pod of this.#pods.values()) this.#follow(pod);
  }

  get nodeNames(): readonly string[] {
    return [...this.#nodes.keys()];
  }

  /** The Lease is no longer renewed, and pods are left alone, until it is set again. */
  setHeartbeat(nodeName: string, hasHeartbeat: boolean): void {
    const node = this.#nodes.get(nodeName);
    if (node === undefined) throw new Error(`no kubelet runs on ${nodeName}`);
    node.hasHeartbeat = hasHeartbeat;
    if (!hasHeartbeat) return;
    // The controller has set the condition to Unknown; only the kubelet sets it back.
    void this.#retried(() => this.#setCondition(nodeName, this.#condition('Ready', true, 'KubeletReady')));
    for (const pod of this.#pods.values()) this.#follow(pod);
  }

  async setDiskPressure(nodeName: string, hasPressure: boolean): Promise<void> {
    const reason = hasPressure ? 'KubeletHasDiskPressure' : 'KubeletHasNoDiskPressure';
    await this.#setCondition(nodeName, this.#condition('DiskPressure', hasPressure, reason));
  }

  /** The machine is gone. `deletesNode`: a cloud controller removes the Node as well; else it stays, without heartbeat. */
  async terminate(nodeName: string, deletesNode = true): Promise<void> {
    const node = this.#nodes.get(nodeName);
    if (node !== undefined) node.isRunning = false;
    this.#nodes.delete(nodeName);
    if (!deletesNode) return;
    await this.#retried(() =>
      this.#ignoreMissing(this.#client.delete(pathOf(RESOURCES.nodes, { name: nodeName }))),
    );
    await this.#retried(() =>
      this.#ignoreMissing(
        this.#client.delete(pathOf(RESOURCES.leases, { namespace: LEASES, name: nodeName })),
      ),
    );
  }

  listing(): void {
    this.#listed = new Set();
  }

  set(pod: Pod): void {
    const uid = pod.metadata.uid ?? '';
    this.#listed?.add(uid);
    this.#pods.set(uid, pod);
    this.#follow(pod);
  }

  remove(pod: Pod): void {
    this.#pods.delete(pod.metadata.uid ?? '');
  }

  listed(): void {
    for (const uid of this.#pods.keys()) if (!this.#listed!.has(uid)) this.#pods.delete(uid);
    this.#listed = null;
  }

  /** Does what a kubelet would do next for this pod. */
  #follow(pod: Pod): void {
    const { uid = '', deletionTimestamp } = pod.metadata;
    if (!this.#isServed(pod) || this.#working.has(uid)) return;
    const { phase } = pod.status ?? {};
    const isOver = phase === 'Succeeded' || phase === 'Failed';
    const work =
      deletionTimestamp !== undefined
        ? () => this.#end(pod)
        : phase === 'Pending' || (!isOver && !this.#isMarkedReady(pod) && this.#getsReady(pod))
          ? () => this.#run(pod)
          : null;
    if (work === null) return;
    this.#working.add(uid);
    void this.#retried(work).finally(() => {
      this.#working.delete(uid);
      const latest = this.#pods.get(uid);
      // Deleted, or changed, in the meantime.
      if (latest !== undefined && latest.metadata.resourceVersion !== pod.metadata.resourceVersion)
        this.#follow(latest);
    });
  }

  #isServed(pod: Pod): boolean {
    const node = this.#nodes.get(pod.spec.nodeName ?? '');
    return node?.hasHeartbeat === true && node.isRunning && !this.#isStopped;
  }

  #isMarkedReady(pod: Pod): boolean {
    return (pod.status?.conditions ?? []).some(({ type, status }) => type === 'Ready' && status === 'True');
  }

  #getsReady(pod: Pod): boolean {
    return this.#options.isReady?.(pod) ?? true;
  }

  async #run(pod: Pod): Promise<void> {
    const { podStartMs = 0 } = this.#options;
    if (podStartMs > 0) await this.#sleep(podStartMs);
    if (!this.#isServed(pod)) return;
    const isReady = this.#getsReady(pod);
    const kept = (pod.status?.conditions ?? []).filter(({ type }) => type === 'PodScheduled');
    const conditions = [
      ...kept,
      this.#condition('Initialized', true),
      this.#condition('Ready', isReady),
      this.#condition('ContainersReady', isReady),
    ];
    const now = new Date(this.#clock.now()).toISOString();
    const containerStatuses = pod.spec.containers.map(({ name }) => ({
      name,
      ready: isReady,
      started: true,
      restartCount: 0,
      image: 'fake',
      imageID: 'fake',
      state: { running: { startedAt: now } },
    }));
    const status = {
      phase: 'Running',
      conditions,
      startTime: now,
      podIP: '10.0.0.1',
      podIPs: [{ ip: '10.0.0.1' }],
      containerStatuses,
    };
    const body = { metadata: { uid: pod.metadata.uid }, status };
    await this.#ignoreMissing(this.#client.patch(`${podPath(pod)}/status`, 'merge', body));
  }

  async #end(pod: Pod): Promise<void> {
    const { podStopMs = 0 } = this.#options;
    const { deletionTimestamp = '', uid } = pod.metadata;
    const leftMs = Math.max(0, Date.parse(deletionTimestamp) - this.#clock.now());
    const stopMs = Math.min(podStopMs, leftMs);
    if (stopMs > 0) await this.#sleep(stopMs);
    if (!this.#isServed(pod)) return;
    const options = { gracePeriodSeconds: 0, ...(uid === undefined ? {} : { preconditions: { uid } }) };
    await this.#ignoreMissing(this.#client.delete(podPath(pod), options));
  }

  async #register(machine: Machine): Promise<void> {
    const { name, providerID, labels, taints, capacity, allocatable = capacity } = machine;
    const pods = { pods: '110' };
    const node = {
      metadata: {
        name,
        labels: {
          'kubernetes.io/hostname': name,
          'kubernetes.io/os': 'linux',
          'kubernetes.io/arch': 'amd64',
          ...labels,
        },
      },
      spec: { providerID, taints },
      status: {
        capacity: { ...pods, ...capacity },
        allocatable: { ...pods, ...allocatable },
        conditions: [
          this.#condition('Ready', true, 'KubeletReady'),
          this.#condition('MemoryPressure', false, 'KubeletHasSufficientMemory'),
          this.#condition('DiskPressure', false, 'KubeletHasNoDiskPressure'),
          this.#condition('PIDPressure', false, 'KubeletHasSufficientPID'),
        ],
        nodeInfo: NODE_INFO,
      },
    };
    try {
      await this.#client.create(pathOf(RESOURCES.nodes), node);
    } catch (error) {
      // A machine that boots again keeps its Node.
      if (!(error instanceof KubeError) || !error.isConflict) throw error;
      await this.#client.patch(`${pathOf(RESOURCES.nodes, { name })}/status`, 'merge', {
        status: node.status,
      });
    }
  }

  async #setCondition(name: string, condition: Readonly<Record<string, string>>): Promise<void> {
    const path = pathOf(RESOURCES.nodes, { name });
    const node = await this.#client.get<Node>(path);
    const others = (node.status?.conditions ?? []).filter(({ type }) => type !== condition['type']);
    await this.#client.patch(`${path}/status`, 'merge', { status: { conditions: [...others, condition] } });
  }

  async #renew({ machine }: FakeNode): Promise<void> {
    const { name } = machine;
    const spec = { holderIdentity: name, leaseDurationSeconds: 40, renewTime: microTime(this.#clock.now()) };
    try {
      await this.#client.patch(pathOf(RESOURCES.leases, { namespace: LEASES, name }), 'merge', { spec });
    } catch (error) {
      if (!(error instanceof KubeError) || !error.isNotFound) throw error;
      if ((await getLease(this.#client, LEASES, name)) === null)
        await createLease(this.#client, LEASES, name, spec);
    }
  }

  #beat(): void {
    const { heartbeatMs = 10_000 } = this.#options;
    this.#cancelBeat = this.#clock.after(heartbeatMs, () => {
      // A renewal that fails is followed by the next one.
      for (const node of this.#nodes.values()) if (node.hasHeartbeat) this.#renew(node).catch(() => {});
      if (!this.#isStopped) this.#beat();
    });
  }

  #condition(type: string, isTrue: boolean, reason = ''): Record<string, string> {
    const now = new Date(this.#clock.now()).toISOString().replace(/\.\d+Z/, 'Z');
    const status = isTrue ? 'True' : 'False';
    const condition = {
      type,
      status,
      lastTransitionTime: now,
      ...(reason === '' ? {} : { reason, message: reason }),
    };
    return type.endsWith('Pressure') || reason === 'KubeletReady'
      ? { ...condition, lastHeartbeatTime: now }
      : condition;
  }

  async #ignoreMissing(request: Promise<unknown>): Promise<void> {
    try {
      await request;
    } catch (error) {
      if (!(error instanceof KubeError) || !(error.isNotFound || error.isConflict)) throw error;
    }
  }

  /** Until it succeeds or the kubelets stop: an API server that is down comes back. */
  async #retried(work: () => Promise<void>): Promise<void> {
    for (;;) {
      try {
        await work();
        return;
      } catch {
        if (this.#isStopped) return;
        await this.#sleep(200);
      }
    }
  }

  #sleep(ms: number): Promise<void> {
    return new Promise((resolve) => {
      this.#clock.after(ms, resolve);
    });
  }
}

const NODE_INFO = {
  architecture: 'amd64',
  bootID: 'fake',
  containerRuntimeVersion: 'fake://1',
  kernelVersion: 'fake',
  kubeProxyVersion: '',
  kubeletVersion: 'v1.36.3',
  machineID: 'fake',
  operatingSystem: 'linux',
  osImage: 'fake',
  systemUUID: 'fake',
};

function podPath({ metadata: { namespace, name } }: Pod): string {
  return pathOf(RESOURCES.pods, { namespace, name });
}
