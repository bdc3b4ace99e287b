// Test support: a whole small fleet on loopback. A real shard (controller on its thread, state in its own directory),
// fake clouds on ports, simulated operators over gRPC. Times are milliseconds; nothing sleeps: every wait has a
// condition and a timeout, and reports the state of the fleet when it expires. Used by shard-*.test.ts and
// kill-scenario.ts.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'vitest';
import {
  type Dialer,
  type DrainHabit,
  grpcDialer,
  type OperatorTimes,
  type SimNode,
  SimOperator,
} from '../../src/demo/operator/index.ts';
import {
  MachineState,
  makeProfile,
  type Need,
  Operator,
  type ProfileParts,
  parseQuantity,
  type Requirement,
} from '../../src/model/index.ts';
import type { CatalogueEntry, FakeProviderOptions, SettingsPatch } from '../../src/provider/index.ts';
import { Random } from '../../src/runtime/random.ts';
import { systemClock } from '../../src/runtime/system-clock.ts';
import { type SettingKey, variableOf } from '../../src/shard/config/settings.ts';
import {
  type ActionView,
  type ClusterView,
  loadConfig,
  type MachineView,
  type NeedExplanation,
  type NeedView,
  type Page,
  type ShardConfig,
  type ShardLogLevel,
  type StatusView,
  startShard,
  type WaitingActionView,
} from '../../src/shard/index.ts';
import type { ReclaimInstruction } from '../../src/wire/gen/bigfleet/v1alpha1/shard.ts';
import { quietPort } from '../../testing/support/quiet-port.ts';
import { Cloud, type CloudCall } from './shard-cloud.ts';
import { type ShardUnderTest, startShardProcess } from './shard-process.ts';

export interface LogLine {
  readonly level: ShardLogLevel;
  readonly event: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

export const RACK_KEY = 'topology.bigfleet/rack';
/** Interval between roll-ups. */
const ROLLUP_MS = 400;
/** Longer than anything here takes on a busy machine; costs nothing when tests pass. */
const PATIENCE_MS = 120_000;
/** Timeout of a test, for the same reason. */
export const PATIENT = { timeout: 600_000 };
const LOOK_MS = 20;

/** A row that wants `cpu` in units of `unit`. */
export function need(
  cluster: string,
  cpu: number,
  given: ProfileParts & { readonly group?: string; readonly unit?: number } = {},
): Need {
  const { group = '', unit = 4 } = given;
  const cores = (count: number) => new Map([['cpu', count * 1000]]);
  const amounts = { aggregate: cores(cpu), minUnit: cores(unit) };
  return { cluster, profile: makeProfile(given), group, ...amounts, firstSeenMs: 0 };
}

export function ofType(instanceType: string): readonly Requirement[] {
  return [{ key: 'node.kubernetes.io/instance-type', operator: Operator.In, values: [instanceType] }];
}

/** Settings of a shard in their textual form. */
type Settings = Partial<Record<SettingKey, string>>;

const QUICK: Settings = {
  'cycle.interval': '100ms',
  'cycle.spacing': '20ms',
  'cycle.readyWait': '60s',
  'reconcile.interval': '100ms',
  'reconcile.fullInterval': '1s',
  'reconcile.retry.base': '100ms',
  'reconcile.retry.max': '500ms',
  'guardrails.reclaimCapFraction': '1',
  reclaimHold: '500ms',
  'releaseHold.onDemand': '1s',
  'releaseHold.spot': '1s',
  // Only the tests of slow operators shorten this; elsewhere a slow machine must not trigger it.
  'actuation.bootstrapTimeout': '10s',
  'actuation.retry.base': '50ms',
  'actuation.retry.max': '200ms',
  'actuation.machineBackoff.base': '200ms',
  'actuation.machineBackoff.max': '1s',
  'actuation.clusterBackoff.base': '200ms',
  'actuation.clusterBackoff.max': '1s',
  'breaker.base': '300ms',
  'breaker.max': '1s',
};

export interface WorldGiven {
  /** By name: the offerings of each cloud. */
  readonly clouds: Readonly<Record<string, readonly CatalogueEntry[]>>;
  /** By name: settings of clouds that are not calm. */
  readonly cloudSettings?: Readonly<Record<string, SettingsPatch>>;
  readonly settings?: Settings;
  /** Extends each cloud, for example by hosts that join clusters. */
  readonly extension?: Pick<FakeProviderOptions, 'extend' | 'onEvent'>;
  /** Runs the shard as a separate process, which can be killed. */
  readonly isProcess?: boolean;
  /** All times are the defaults of a shard, not the short ones of the tests. */
  readonly hasDefaultTimes?: boolean;
  /** The test starts the shard itself. */
  readonly isLate?: boolean;
  /** From which size on Needs are explained on a replica; not for a shard in a process of its own. */
  readonly largeFleet?: ShardConfig['largeFleet'];
}

/** A Reclaim instruction received by a cluster's operator. */
export interface ReceivedReclaim {
  readonly cluster: string;
  readonly instruction: ReclaimInstruction;
}

/** How an operator differs from the one that `join` starts. */
export interface OperatorGiven {
  readonly times?: Partial<OperatorTimes>;
  /** Announces and reports drains. */
  readonly drains?: DrainHabit;
  /** Changes or records the frames between the operator and the shard. */
  readonly through?: (dialer: Dialer) => Dialer;
}

/** All machines of the row have the same value of a label. */
export function same(key: string): Requirement {
  return { key, operator: Operator.Same, values: [] };
}

export class World {
  readonly clouds: ReadonlyMap<string, Cloud>;
  readonly operators = new Map<string, SimOperator>();
  readonly log: LogLine[] = [];
  /** Reclaim instructions as received by operators. */
  readonly reclaims: ReceivedReclaim[] = [];
  readonly #dir: string;
  readonly #given: WorldGiven;
  /** Address for sessions; unchanged by a restart, as clusters know no other address. */
  #listen = '';
  #shard: ShardUnderTest | null = null;

  private constructor(dir: string, clouds: ReadonlyMap<string, Cloud>, given: WorldGiven) {
    this.#dir = dir;
    this.clouds = clouds;
    this.#given = given;
  }

  /** Opens the clouds and starts a shard on them. All of it is closed with the test. */
  static async open(
    { onTestFinished }: Pick<TestContext, 'onTestFinished'>,
    given: WorldGiven,
  ): Promise<World> {
    const dir = mkdtempSync(join(tmpdir(), 'bigfleet-e2e-'));
    onTestFinished(() => rmSync(dir, { recursive: true }));
    const clouds = new Map<string, Cloud>();
    for (const [name, catalogue] of Object.entries(given.clouds)) {
      const cloud = await Cloud.open(name, catalogue, given.cloudSettings?.[name] ?? {}, given.extension);
      onTestFinished(() => cloud.stop());
      clouds.set(name, cloud);
    }
    const world = new World(dir, clouds, given);
    world.#listen = `127.0.0.1:${await quietPort()}`;
    onTestFinished(() => world.#close());
    if (given.isLate !== true) await world.start();
    return world;
  }

  get dataDir(): string {
    return join(this.#dir, 'shard');
  }

  /** Where operators connect; unchanged by a restart. */
  get sessions(): string {
    return this.#listen;
  }

  get shard(): ShardUnderTest {
    if (this.#shard === null) throw new Error('the shard is not running');
    return this.#shard;
  }

  /** The only cloud, or the one of that name. */
  cloud(name?: string): Cloud {
    const cloud = name === undefined ? [...this.clouds.values()][0] : this.clouds.get(name);
    if (cloud === undefined) throw new Error(`there is no cloud ${name}`);
    return cloud;
  }

  get calls(): readonly CloudCall[] {
    return [...this.clouds.values()].flatMap(({ calls }) => calls).sort((a, b) => a.atMs - b.atMs);
  }

  callsOf(command: CloudCall['command']): readonly CloudCall[] {
    return this.calls.filter((call) => call.command === command);
  }

  async start(extra: Readonly<Record<string, string>> = {}): Promise<void> {
    const log = (level: ShardLogLevel, event: string, fields = {}): void => {
      this.log.push({ level, event, fields });
    };
    const env = { ...this.#environment(), ...extra };
    this.#shard =
      this.#given.isProcess === true
        ? await startShardProcess(env, log)
        : await startShard({ ...configFrom(env), ...this.#sizes }, { log });
    this.#listen = this.#shard.addresses.sessions;
  }

  get #sizes(): Partial<ShardConfig> {
    const { largeFleet } = this.#given;
    return largeFleet === undefined ? {} : { largeFleet };
  }

  async stop(): Promise<void> {
    const shard = this.shard;
    this.#shard = null;
    await shard.stop();
  }

  /** Kills the shard's process. */
  async kill(): Promise<void> {
    const { kill } = this.shard;
    if (kill === undefined) throw new Error('this shard is no process');
    this.#shard = null;
    await kill();
  }

  /** Records that the process has died by itself. */
  buried(): void {
    this.#shard = null;
  }

  async restart(): Promise<void> {
    await this.stop();
    await this.start();
  }

  /** Adds a cluster with its demand; its operator connects at once. */
  join(cluster: string, ...needs: readonly Need[]): SimOperator {
    return this.joinWith({}, cluster, ...needs);
  }

  /** As `join`, with other times of the operator. */
  joinWith(times: Partial<OperatorTimes>, cluster: string, ...needs: readonly Need[]): SimOperator {
    return this.joinAs({ times }, cluster, ...needs);
  }

  joinAs(given: OperatorGiven, cluster: string, ...needs: readonly Need[]): SimOperator {
    const { times, drains, through = (dialer) => dialer } = given;
    const operator = new SimOperator({
      cluster,
      clock: systemClock,
      random: new Random(this.operators.size),
      dialer: through(grpcDialer(this.#listen)),
      drains,
      times: {
        ...{ rollupMs: ROLLUP_MS, blobMs: [1, 20], reconnect: { baseMs: 50, maxMs: 200 } },
        resyncMs: 1000,
        ...times,
      },
      onEvent: (event) => {
        if (event.kind === 'reclaim') this.reclaims.push({ cluster, instruction: event.instruction });
      },
    });
    this.operators.set(cluster, operator);
    operator.setDemand(needs);
    operator.start();
    return operator;
  }

  operator(cluster: string): SimOperator {
    const operator = this.operators.get(cluster);
    if (operator === undefined) throw new Error(`there is no cluster ${cluster}`);
    return operator;
  }

  /** Asks again while the shard is busy with the first copy of its fleet, as the documentation of the API says. */
  async get<T>(path: string): Promise<T> {
    const end = performance.now() + PATIENCE_MS;
    for (;;) {
      const response = await fetch(`${this.api}${path}`);
      if (response.ok) return (await response.json()) as T;
      const text = await response.text();
      if (response.status !== 503 || performance.now() > end)
        throw new Error(`${path}: ${response.status} ${text}`);
      await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
    }
  }

  /** Sends an order to the shard; returns its answer as text. */
  async post(path: string, body: object): Promise<string> {
    const init = { method: 'POST', body: JSON.stringify({ who: 'test', ...body }) };
    const headers = { 'content-type': 'application/json' };
    const response = await fetch(`${this.api}${path}`, { ...init, headers });
    const text = await response.text();
    if (!response.ok) throw new Error(`${path}: ${response.status} ${text}`);
    return (JSON.parse(text) as { message: string }).message;
  }

  get api(): string {
    return `http://${this.shard.addresses.api}`;
  }

  status(): Promise<StatusView> {
    return this.get('/v1/status');
  }

  async machines(query = ''): Promise<readonly MachineView[]> {
    return (await this.get<Page<MachineView>>(`/v1/machines${query}`)).items;
  }

  async needs(cluster?: string): Promise<readonly NeedView[]> {
    const query = cluster === undefined ? '' : `?cluster=${cluster}`;
    return (await this.get<Page<NeedView>>(`/v1/needs${query}`)).items;
  }

  async clusters(): Promise<readonly ClusterView[]> {
    return (await this.get<Page<ClusterView>>('/v1/clusters')).items;
  }

  async clusterOf(name: string): Promise<ClusterView | undefined> {
    return (await this.clusters()).find(({ cluster }) => cluster === name);
  }

  async actions(): Promise<{
    readonly begun: readonly ActionView[];
    readonly waiting: readonly WaitingActionView[];
  }> {
    const { actions, waiting } = await this.get<{
      actions: Page<ActionView>;
      waiting: Page<WaitingActionView>;
    }>('/v1/actions');
    return { begun: actions.items, waiting: waiting.items };
  }

  /** The explanation of the only Need of a cluster. */
  async explain(cluster: string): Promise<NeedExplanation> {
    const [row] = await this.needs(cluster);
    if (row === undefined) throw new Error(`${cluster} has no Need`);
    return await this.get(`/v1/needs/${row.id}`);
  }

  /** The value of a series, named as in the text of the metrics; 0 if absent. */
  async metric(series: string): Promise<number> {
    const text = await (await fetch(`${this.api}/metrics`)).text();
    const line = text.split('\n').find((each) => each.startsWith(`${series} `));
    return line === undefined ? 0 : Number(line.slice(series.length + 1));
  }

  /** Machines that serve a cluster, as its operator sees them. */
  nodesOf(cluster: string): readonly string[] {
    const nodes = [...this.operator(cluster).nodes.values()];
    return nodes.filter(({ state }) => state === MachineState.Configured).map(({ machine }) => machine);
  }

  /** Whether every row of the clusters is met by serving machines. */
  async isServed(...clusters: readonly string[]): Promise<boolean> {
    const names = clusters.length === 0 ? [...this.operators.keys()] : clusters;
    const rows = await this.needs();
    return names.every((cluster) => {
      const own = rows.filter((row) => row.cluster === cluster);
      const { demand, nodes } = this.operator(cluster);
      const isMet = own.length === demand.length && own.every((row) => row.isMet);
      return isMet && isEnough([...nodes.values()], demand);
    });
  }

  async served(...clusters: readonly string[]): Promise<void> {
    await this.until(`${clusters.join(', ') || 'every cluster'} is served`, () => this.isServed(...clusters));
  }

  /** Waits for a condition. An exception counts as not fulfilled yet. */
  async until(what: string, holds: () => boolean | Promise<boolean>, withinMs = PATIENCE_MS): Promise<void> {
    const end = performance.now() + withinMs;
    let trouble = '';
    for (;;) {
      try {
        if (await holds()) return;
        trouble = '';
      } catch (error) {
        trouble = `\nlast error: ${error instanceof Error ? error.message : String(error)}`;
      }
      if (performance.now() > end)
        throw new Error(`Not within ${withinMs} ms: ${what}${trouble}\n${await this.#scene()}`);
      await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
    }
  }

  /** Waits for `count` more cycles. */
  async cycles(count: number): Promise<void> {
    const numberNow = async (): Promise<number> => (await this.status()).cycle?.number ?? 0;
    const goal = (await numberNow()) + count;
    await this.until(`cycle ${goal}`, async () => (await numberNow()) >= goal);
  }

  logged(event: string, fields: Readonly<Record<string, unknown>> = {}): readonly LogLine[] {
    const isMeant = (line: LogLine): boolean =>
      line.event === event && Object.entries(fields).every(([key, value]) => line.fields[key] === value);
    return this.log.filter(isMeant);
  }

  #environment(): Readonly<Record<string, string>> {
    const own: Settings = {
      listen: this.#listen,
      api: '127.0.0.1:0',
      dataDir: this.dataDir,
      providers: [...this.clouds.values()].map(({ name, address }) => `${name}=${address}`).join(','),
    };
    const times = this.#given.hasDefaultTimes === true ? {} : QUICK;
    const settings = Object.entries({ ...times, ...this.#given.settings, ...own });
    return Object.fromEntries(settings.map(([key, value]) => [variableOf(key as SettingKey), value]));
  }

  async #close(): Promise<void> {
    for (const operator of this.operators.values()) operator.stop();
    if (this.#shard !== null) await this.stop();
  }

  /** The state of the fleet, for the message of an expired wait. */
  async #scene(): Promise<string> {
    const calls = this.calls
      .slice(-30)
      .map(({ command, machine, cluster }) => `  ${command} ${machine} ${cluster}`);
    const log = this.log
      .slice(-30)
      .map(({ event, fields }) => `  ${event} ${JSON.stringify(fields, plainly)}`);
    const state = await this.#state().catch((error: unknown) => [`  no answer: ${String(error)}`]);
    return ['shard', ...state, 'calls', ...calls, 'log', ...log].join('\n');
  }

  async #state(): Promise<readonly string[]> {
    const [{ phase, cycle, machinesByState }, machines, rows, clusters, { begun, waiting }] =
      await Promise.all([this.status(), this.machines(), this.needs(), this.clusters(), this.actions()]);
    return [
      `  ${phase} ${JSON.stringify({ cycle, machinesByState })}`,
      ...machines
        .filter(({ state, held }) => state !== 'SPECULATIVE' || held !== null)
        .map(
          ({ id, state, cluster, held, lastError }) =>
            `  ${id} ${state} ${cluster} ${lastError} ${held?.why ?? ''}`,
        ),
      ...rows.map(
        ({ id, isMet, claimed, reason }) => `  ${id} met ${isMet} claimed ${claimed} ${reason ?? ''}`,
      ),
      ...clusters.map((view) => `  ${JSON.stringify(view)}`),
      ...begun
        .slice(0, 10)
        .map(({ kind, machine, outcome, message }) => `  ${kind} ${machine} ${outcome} ${message}`),
      ...waiting.slice(0, 10).map(({ kind, machine, why }) => `  waiting: ${kind} ${machine} ${why}`),
    ];
  }
}

/** Whether serving nodes cover the demand, and no others are in flight. */
function isEnough(nodes: readonly SimNode[], demand: readonly Need[]): boolean {
  const wanted = demand.reduce((sum, { aggregate }) => sum + (aggregate.get('cpu') ?? 0), 0);
  const offered = nodes.reduce((sum, { resources }) => sum + cpuIn(resources), 0);
  return offered >= wanted && nodes.every(({ state }) => state === MachineState.Configured);
}

function cpuIn(resources: ReadonlyMap<string, string>): number {
  return parseQuantity(resources.get('cpu') ?? '0', 'cpu', 'down');
}

function configFrom(env: Readonly<Record<string, string>>): ShardConfig {
  const loaded = loadConfig({ env, flags: {} }, true);
  if (!loaded.ok) throw new Error(JSON.stringify(loaded.problems));
  return loaded.value.config;
}

function plainly(_key: string, value: unknown): unknown {
  if (typeof value === 'bigint') return String(value);
  return value instanceof Error ? value.message : value;
}
