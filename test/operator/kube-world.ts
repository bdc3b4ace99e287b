// Test support: clusters with a control plane each (fake or real), fake kubelets for the hosts of a fake cloud, one shard,
// and the operator of each cluster with exactly the rights of its manifests. Used by the end-to-end cases of the operator.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type { TestContext } from 'vitest';
import { MachineState } from '../../src/model/index.ts';
import {
  clusterFactories,
  loadSettings,
  operatorManifests,
  startOperator,
} from '../../src/operator/index.ts';
import type { KubeObject, Node, Pod } from '../../src/operator/kube/index.ts';
import { pathOf, RESOURCES } from '../../src/operator/kube/index.ts';
import type { CatalogueEntry } from '../../src/provider/index.ts';
import type { MonotonicClock } from '../../src/runtime/clock.ts';
import { systemClock } from '../../src/runtime/system-clock.ts';
import { ApiProxy } from '../../testing/kube/api-proxy.ts';
import {
  type ControlPlane,
  type ControlPlaneOptions,
  eventually,
  startControlPlane,
  type Target,
} from '../../testing/kube/control-plane.ts';
import { FakeKubelets } from '../../testing/kube/kubelet.ts';
import { NodeHosts, TOKEN_TEMPLATE, USER_DATA_TEMPLATE } from '../../testing/kube/node-hosts.ts';
import { World, type WorldGiven } from '../e2e/shard-world.ts';
import { type OperatorUnderTest, startOperatorProcess } from './operator-process.ts';
import { expectNoRefusals } from './refusals.ts';

/** Timers of the operator at about a tenth of their defaults. */
export const QUICK = {
  session: { rollupInterval: '1s' },
  nodes: { joinTimeout: '1m', emptyAfter: '2s', budgetAfter: '2s', unprotectedAfter: '5s' },
  // Longer than a busy machine needs to schedule pods: an episode would buy a machine that a case does not expect.
  episodes: { stuckAfter: '1m', emptyFor: '4s' },
  // Failed writes that are repeated are logged at this level; see refusals.ts.
  log: { level: 'info' },
};

/** The shortest that the settings accept is too short for a busy machine. */
const ELECTION = {
  enabled: true,
  leaseDuration: '6s',
  renewDeadline: '4s',
  retryPeriod: '500ms',
};
/** Of an operator without replicas. */
const ONLY = '';

interface EventFields {
  readonly regarding?: { readonly name?: string };
  readonly reason?: string;
  readonly note?: string;
}

/** Longer than anything here takes on a busy machine; costs nothing when tests pass. */
const PATIENCE_MS = 180_000;
const LOOK_MS = 100;

export interface KubeWorldGiven
  extends Pick<WorldGiven, 'settings' | 'cloudSettings' | 'isProcess' | 'hasDefaultTimes'> {
  readonly target: Target;
  readonly plane?: ControlPlaneOptions;
  /** How machines join. Default: template. */
  readonly mode?: 'tokens' | 'template';
  readonly clusters: readonly string[];
  readonly offerings: readonly CatalogueEntry[];
  /** More settings of all operators. */
  readonly operator?: Readonly<Record<string, unknown>>;
  /**
   * Names of the replicas of each operator, which are processes of their own and elect a leader. Default: one operator
   * without election.
   */
  readonly replicas?: readonly string[];
  /** The operators reach the API server through a proxy. */
  readonly hasProxy?: boolean;
  /** The API server may refuse requests of the operators: the case is about that. */
  readonly isRefused?: boolean;
  /**
   * How much faster than time the clock of the operators runs, which then have their default times: for what takes minutes
   * and has no setting. Default: 1.
   */
  readonly speed?: number;
  /** Interval of the heartbeats of kubelets. Default: that of the kubelets. */
  readonly heartbeatMs?: number;
}

export interface KubeCluster {
  readonly name: string;
  readonly plane: ControlPlane;
  readonly kubelets: FakeKubelets;
  /** Null without one. */
  readonly proxy: ApiProxy | null;
  /** Those that run, by name of the replica. */
  readonly operators: Map<string, OperatorUnderTest>;
}

export class KubeWorld {
  readonly clusters: ReadonlyMap<string, KubeCluster>;
  readonly hosts: NodeHosts;
  readonly world: World;
  readonly lines: string[] = [];
  readonly #given: KubeWorldGiven;
  /** For the files of operators that are processes. */
  readonly #folder: string;

  private constructor(
    folder: string,
    given: KubeWorldGiven,
    clusters: ReadonlyMap<string, KubeCluster>,
    hosts: NodeHosts,
    world: World,
  ) {
    this.#folder = folder;
    this.#given = given;
    this.clusters = clusters;
    this.hosts = hosts;
    this.world = world;
  }

  static async open(context: Pick<TestContext, 'onTestFinished'>, given: KubeWorldGiven): Promise<KubeWorld> {
    const folder = mkdtempSync(join(tmpdir(), 'bigfleet-operators-'));
    context.onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const clusters = new Map<string, KubeCluster>();
    await Promise.all(
      given.clusters.map(async (name) => {
        const plane = await startControlPlane(given.target, given.plane);
        context.onTestFinished(() => plane.stop());
        const { heartbeatMs } = given;
        const beat = heartbeatMs === undefined ? {} : { heartbeatMs };
        const kubelets = new FakeKubelets({ client: plane.admin, ...beat });
        kubelets.start();
        context.onTestFinished(() => kubelets.stop());
        const proxy = given.hasProxy === true ? await ApiProxy.start(plane) : null;
        context.onTestFinished(() => proxy?.stop());
        clusters.set(name, { name, plane, kubelets, proxy, operators: new Map() });
      }),
    );
    const hosts = new NodeHosts(new Map([...clusters].map(([name, { kubelets }]) => [name, kubelets])));
    const world = await World.open(context, {
      clouds: { cloud: given.offerings },
      ...(given.cloudSettings === undefined ? {} : { cloudSettings: given.cloudSettings }),
      ...(given.settings === undefined ? {} : { settings: given.settings }),
      ...(given.isProcess === undefined ? {} : { isProcess: given.isProcess }),
      ...(given.hasDefaultTimes === undefined ? {} : { hasDefaultTimes: given.hasDefaultTimes }),
      extension: { extend: (cloud) => hosts.extend(cloud), onEvent: hosts.onEvent },
    });
    const all = new KubeWorld(folder, given, clusters, hosts, world);
    context.onTestFinished(async () => {
      await Promise.all(
        [...clusters.values()].flatMap(({ name, operators }) =>
          [...operators.keys()].map((replica) => all.stopOperator(name, replica)),
        ),
      );
      if (given.isRefused !== true)
        expectNoRefusals(
          all.lines,
          [...clusters.values()].map(({ plane }) => plane),
        );
    });
    for (const { plane, name } of clusters.values()) {
      await plane.apply(all.#manifests(name).filter(({ kind }) => kind !== 'Deployment') as KubeObject[]);
      for (const replica of given.replicas ?? [ONLY]) await all.startOperator(name, {}, replica);
    }
    return all;
  }

  cluster(name?: string): KubeCluster {
    const cluster = name === undefined ? [...this.clusters.values()][0] : this.clusters.get(name);
    if (cluster === undefined) throw new Error(`there is no cluster ${name}`);
    return cluster;
  }

  get #template(): string {
    return this.#given.mode === 'tokens' ? TOKEN_TEMPLATE : USER_DATA_TEMPLATE;
  }

  #manifests(cluster: string): ReturnType<typeof operatorManifests> {
    return operatorManifests({
      cluster,
      shard: this.world.sessions,
      image: 'bigfleet',
      namespace: 'bigfleet-system',
      mode: this.#given.mode ?? 'template',
      replicas: this.#given.replicas?.length ?? 1,
      tlsSecret: null,
      insecure: true,
      endpoint: null,
      demandMode: 'all',
      template: this.#template,
    });
  }

  /** `more`: settings of this operator only. */
  async startOperator(
    name: string,
    more: Readonly<Record<string, unknown>> = {},
    replica = ONLY,
  ): Promise<void> {
    const cluster = this.cluster(name);
    const { isProcess, replicas, hasDefaultTimes, speed = 1 } = this.#given;
    const template = join(this.#folder, 'bootstrap.tmpl');
    writeFileSync(template, this.#template);
    const text = JSON.stringify({
      cluster: name,
      shard: { addresses: [this.world.sessions] },
      listen: '127.0.0.1:0',
      bootstrap: { mode: this.#given.mode ?? 'template', templateFile: template },
      kubernetes: {
        kubeconfig: cluster.plane.kubeconfig('operator', cluster.proxy?.url),
        namespace: 'bigfleet-system',
        requestsPerSecond: 1000,
        burst: 1000,
      },
      leaderElection: replicas === undefined ? { enabled: false } : ELECTION,
      ...(hasDefaultTimes === true || speed !== 1 ? { log: QUICK.log } : QUICK),
      ...this.#given.operator,
      ...more,
    });
    const label = replica === ONLY ? name : `${name}/${replica}`;
    if (isProcess === true || replicas !== undefined) {
      const file = join(this.#folder, `${name}-${replica}.yaml`);
      writeFileSync(file, text);
      const process = await startOperatorProcess(file, (line) => this.lines.push(`${label} ${line}`));
      cluster.operators.set(replica, process);
      return;
    }
    const settings = loadSettings({ file: { path: 'operator.yaml', text }, flags: {} });
    if (!settings.ok) throw new Error(JSON.stringify(settings.problems));
    const operator = await startOperator(settings.value, {
      log: (level, event, fields) => {
        this.lines.push(`${label} ${level} ${event} ${JSON.stringify(fields ?? {}, plainly)}`);
      },
      factories: clusterFactories,
      clock: fasterClock(systemClock, speed),
    });
    cluster.operators.set(replica, operator);
  }

  async stopOperator(name: string, replica = ONLY): Promise<void> {
    const { operators } = this.cluster(name);
    const operator = operators.get(replica);
    operators.delete(replica);
    await operator?.stop();
  }

  /** Kills the process of an operator. */
  async killOperator(name: string, replica = ONLY): Promise<void> {
    const { operators } = this.cluster(name);
    const kill = operators.get(replica)?.kill;
    if (kill === undefined) throw new Error('this operator is no process');
    operators.delete(replica);
    await kill();
  }

  /** The replica that leads; throws unless exactly one says so. */
  async leader(name?: string): Promise<string> {
    const leading: string[] = [];
    for (const replica of this.cluster(name).operators.keys())
      if ((await this.operatorMetric('bigfleet_operator_leader', name, replica)) === 1) leading.push(replica);
    if (leading.length !== 1) throw new Error(`${leading.length} replicas lead: ${leading.join(', ')}`);
    return leading[0]!;
  }

  /** The value of a series of an operator, named as in the text of the metrics; 0 if absent. */
  async operatorMetric(series: string, name?: string, replica = ONLY): Promise<number> {
    const operator = this.cluster(name).operators.get(replica);
    const text = await (await fetch(`http://${operator?.address ?? ''}/metrics`)).text();
    const line = text.split('\n').find((each) => each.startsWith(`${series} `));
    return line === undefined ? 0 : Number(line.slice(series.length + 1));
  }

  // ---- what is in a cluster

  async pods(name?: string, app?: string): Promise<readonly Pod[]> {
    const query = app === undefined ? {} : { labelSelector: `app=${app}` };
    const path = pathOf(RESOURCES.pods, { namespace: 'default' });
    return (await this.cluster(name).plane.admin.list<Pod>(path, { query })).items;
  }

  async nodes(name?: string): Promise<readonly Node[]> {
    return (await this.cluster(name).plane.admin.list<Node>(pathOf(RESOURCES.nodes))).items;
  }

  async running(app: string, name?: string): Promise<number> {
    const all = await this.pods(name, app);
    return all.filter(
      ({ metadata, status }) => metadata.deletionTimestamp === undefined && status?.phase === 'Running',
    ).length;
  }

  /** Nodes that take no pods. */
  async cordoned(name?: string): Promise<readonly Node[]> {
    return (await this.nodes(name)).filter(({ spec }) => spec?.unschedulable === true);
  }

  /** Events on an object, `REASON: message` each. */
  async events(object: string, name?: string): Promise<readonly string[]> {
    const path = pathOf(RESOURCES.events);
    const { items } = await this.cluster(name).plane.admin.list<KubeObject & EventFields>(path);
    return items
      .filter(({ regarding }) => regarding?.name === object)
      .map(({ reason, note }) => `${reason}: ${note}`);
  }

  /** A budget for the pods of an app. */
  async budget(app: string, spec: object, name?: string): Promise<void> {
    await this.cluster(name).plane.apply([
      {
        apiVersion: 'policy/v1',
        kind: 'PodDisruptionBudget',
        metadata: { name: app, namespace: 'default' },
        spec: { selector: { matchLabels: { app } }, ...spec },
      } as unknown as KubeObject,
    ]);
  }

  /** Machines that were bought, in the whole life of the world. */
  get bought(): number {
    return this.hosts.bought;
  }

  /** Scales or creates a Deployment of pods of one container. `more`: labels of its pods. */
  async deploy(
    app: string,
    replicas: number,
    spec: object,
    name?: string,
    more: Readonly<Record<string, string>> = {},
  ): Promise<void> {
    const labels = { app };
    await this.cluster(name).plane.apply([
      {
        apiVersion: 'apps/v1',
        kind: 'Deployment',
        metadata: { name: app, namespace: 'default', labels },
        spec: {
          replicas,
          selector: { matchLabels: labels },
          template: { metadata: { labels: { ...labels, ...more } }, spec },
        },
      } as unknown as KubeObject,
    ]);
  }

  async until(what: string, isTrue: () => Promise<boolean> | boolean, withinMs = PATIENCE_MS): Promise<void> {
    try {
      await eventually(what, isTrue, withinMs);
    } catch (error) {
      const scene = await this.#report().catch((cause: unknown) => `no report: ${String(cause)}`);
      throw new Error(`${String(error)}\n${scene}`, { cause: error });
    }
  }

  /** Waits until as many pods of an app run as given, and no others of it are left. */
  async runs(app: string, count: number, name?: string): Promise<void> {
    await this.until(`${count} pods of ${app} run`, async () => {
      const all = await this.pods(name, app);
      return all.length === count && (await this.running(app, name)) === count;
    });
  }

  /** Nodes of a cluster, machines that the shard has there, and hosts that the cloud has: equal if none has leaked. */
  async held(name?: string): Promise<readonly [nodes: number, machines: number, hosts: number]> {
    const cluster = this.cluster(name).name;
    const machines = await this.world.machines();
    const hosts = await this.world.cloud().machines(MachineState.Configured);
    return [
      (await this.nodes(cluster)).length,
      machines.filter((machine) => machine.cluster === cluster && machine.state === 'CONFIGURED').length,
      hosts.filter((host) => host.cluster === cluster).length,
    ];
  }

  /** Asserts that something stays true for a while. */
  async stays(what: string, ms: number, isTrue: () => Promise<boolean> | boolean): Promise<void> {
    // A request that fails says nothing; only if none succeeds, nothing has been asserted.
    let looks = 0;
    let cause: unknown;
    for (const endMs = Date.now() + ms; Date.now() < endMs; await wait(LOOK_MS)) {
      let isSo = true;
      try {
        isSo = await isTrue();
        looks++;
      } catch (error) {
        cause = error;
      }
      if (!isSo) throw new Error(`no longer: ${what}\n${await this.#report()}`);
    }
    if (looks === 0) throw new Error(`never asked in ${ms} ms: ${what}`, { cause });
  }

  async #report(): Promise<string> {
    const clusters = await Promise.all(
      [...this.clusters.keys()].map(async (name) => {
        const pods = (await this.pods(name)).map(
          ({ metadata, spec, status }) =>
            `${metadata.name} ${status?.phase} on ${spec.nodeName ?? '-'} ${JSON.stringify(status?.conditions?.find(({ type }) => type === 'PodScheduled')?.message ?? '')}`,
        );
        const nodes = (await this.nodes(name)).map(
          ({ metadata, spec }) =>
            `${metadata.name} ${spec?.unschedulable === true ? 'cordoned' : ''} ${JSON.stringify(metadata.annotations ?? {})}`,
        );
        const events = (
          await this.cluster(name).plane.admin.list<KubeObject & EventFields>(pathOf(RESOURCES.events))
        ).items.map(({ regarding, reason, note }) => `${regarding?.name} ${reason}: ${note}`);
        return [`cluster ${name}`, ...pods.slice(0, 20), ...nodes, ...events.slice(-20)].join('\n  ');
      }),
    );
    const needs = (await this.world.needs()).map((need) => JSON.stringify(need).slice(0, 400));
    return [
      ...clusters,
      'needs',
      ...needs,
      'operator',
      ...this.lines.filter((line) => !line.includes('rollup-sent')).slice(-30),
    ].join('\n');
  }
}

/** A clock that begins with the time of another one. */
function fasterClock(clock: MonotonicClock, speed: number): MonotonicClock {
  const [nowMs, startMs] = [clock.now(), clock.monotonic()];
  const passedMs = (): number => (clock.monotonic() - startMs) * speed;
  return {
    now: () => Math.floor(nowMs + passedMs()),
    monotonic: () => startMs + passedMs(),
    after: (ms, run) => clock.after(ms / speed, run),
  };
}

/** Errors with what is in them. */
function plainly(_key: string, value: unknown): unknown {
  if (typeof value === 'bigint') return String(value);
  return value instanceof Error
    ? { ...Object.fromEntries(Object.entries(value)), message: value.message }
    : value;
}

/** A container that asks for an amount of cpu. */
export function asks(cpu: string, more: object = {}): object {
  return {
    terminationGracePeriodSeconds: 0,
    containers: [{ name: 'main', image: 'fake', resources: { requests: { cpu } } }],
    ...more,
  };
}
