// The demo environment, started by cli/up/up.ts: two clouds on loopback ports, and clusters whose operators connect to
// a shard over gRPC. The shard itself is not part of it. Order of a start: open the clouds, start a shard on them,
// connect the operators.

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { BigFleetError, type Need } from '../model/index.ts';
import type { CloudEvent } from '../provider/index.ts';
import { directoryError, makeDirectory, replaceFile } from '../runtime/directories.ts';
import { Random } from '../runtime/random.ts';
import { systemClock } from '../runtime/system-clock.ts';
import type { RollupReport } from '../wire/gen/bigfleet/v1alpha1/shard.ts';
import { type CloudStatus, Clouds, isCloudFile } from './clouds/clouds.ts';
import { supplyOf } from './clouds/offerings.ts';
import { type DemandPlan, planDemand } from './demand/average-demand.ts';
import { LivingDemand } from './demand/living-demand.ts';
import { grpcDialer, type OperatorEvent, SimOperator } from './operator/index.ts';

export interface DemoEnvironmentSize {
  readonly clusters: number;
  /** Of both clouds together; approximate, since every kind is offered in every zone. */
  readonly machines: number;
  readonly seed: number;
}

export interface DemoEnvironmentOptions extends DemoEnvironmentSize {
  /** Directory for the state of the clouds, created if missing. A restart resumes from it and must use the same size. */
  readonly dir: string;
  /** Time-lapse factor relative to a real fleet. */
  readonly speed: number;
  readonly onEvent?: (event: DemoEnvironmentEvent) => void;
  /** A cloud can no longer persist its state and refuses every call; the caller should stop. May be called twice. */
  readonly onFailure?: (error: BigFleetError) => void;
}

/** An event of the environment, as text for people. */
export interface DemoEnvironmentEvent {
  /** Name of a cloud or a cluster. */
  readonly source: string;
  readonly text: string;
}

export const DEMO_SCENARIO_NAMES = ['deployBurst', 'gpuGang', 'spotWave', 'zoneOutage'] as const;
export type DemoScenarioName = (typeof DEMO_SCENARIO_NAMES)[number];

export interface DemoEnvironmentStatus {
  readonly clouds: readonly CloudStatus[];
  readonly clusters: readonly ClusterStatus[];
  /** Temporary demand of clusters on top of the usual, as text. */
  readonly scenarios: readonly string[];
}

interface ClusterStatus {
  readonly name: string;
  readonly isConnected: boolean;
  /** Rows of its demand. */
  readonly needs: number;
  /** Machines that its shard has reported to it. */
  readonly nodes: number;
}

const MAX_CLUSTERS = 1000;
const OPERATOR_STREAM = 0x0b5;
const SIZE_FILE = 'size.json';
const NOT_THERE: readonly unknown[] = ['ENOENT', 'ENOTDIR'];

/** Whether this version or an earlier one writes a file of this name into its directory. */
export function isDemoFile(name: string): boolean {
  return name === SIZE_FILE || name === `${SIZE_FILE}.new` || isCloudFile(name);
}

/** The size recorded in a directory; null if it holds no state. */
export async function demoSizeIn(dir: string): Promise<DemoEnvironmentSize | null> {
  try {
    return JSON.parse(await readFile(join(dir, SIZE_FILE), 'utf8')) as DemoEnvironmentSize;
  } catch (error) {
    // A missing directory is created later, and errors surface then.
    if (error instanceof Error && 'code' in error && NOT_THERE.includes(error.code)) return null;
    throw new BigFleetError('BF_INPUT_UNREADABLE', 'It says how large the saved fleet is.', {
      path: join(dir, SIZE_FILE),
      cause: error,
    });
  }
}

/** Opens the clouds. Throws if the options are invalid, or a state file is in use or damaged; nothing is left open then. */
export async function startDemoEnvironment(options: DemoEnvironmentOptions): Promise<DemoEnvironment> {
  const { dir, clusters, machines, seed, speed, onEvent, onFailure } = options;
  checkRange('clusters', clusters, 1, MAX_CLUSTERS);
  checkRange('speed', speed, 0.01, 1000, false);
  const supply = supplyOf(machines);
  const plan = planDemand(supply, clusters, seed);
  open(dir);
  await checkSize(options);
  // Written first, so that an interrupted start is resumed and not mistaken for an empty directory.
  replaceFile(join(dir, SIZE_FILE), `${JSON.stringify({ clusters, machines, seed })}\n`);
  const clouds = await Clouds.open({
    dir,
    supply,
    seed,
    speed,
    clock: systemClock,
    onEvent: (source, event) => onEvent?.({ source, text: cloudText(event) }),
    onFailure: (error) => onFailure?.(error),
  });
  return new DemoEnvironment(options, plan, clouds);
}

function open(dir: string): void {
  try {
    makeDirectory(dir);
  } catch (cause) {
    throw directoryError(dir, cause);
  }
}

/** Machines no longer on offer, and clusters that never return, would look like faults. */
async function checkSize({ dir, clusters, machines, seed }: DemoEnvironmentOptions): Promise<void> {
  const saved = await demoSizeIn(dir);
  if (saved === null) return;
  if (saved.clusters === clusters && saved.machines === machines && saved.seed === seed) return;
  const text = (size: DemoEnvironmentSize) =>
    `${size.clusters} clusters, ${size.machines} machines and seed ${size.seed}`;
  const detail = `${dir} has the state of ${text(saved)}, not of ${text({ clusters, machines, seed })}.`;
  throw new BigFleetError('BF_USAGE', `${detail} Ask for what it has, or start over with --fresh.`);
}

export class DemoEnvironment {
  readonly scenarios: Readonly<Record<DemoScenarioName, () => Promise<string>>>;
  readonly #options: DemoEnvironmentOptions;
  readonly #clouds: Clouds;
  readonly #demand: LivingDemand;
  readonly #plan: DemandPlan;
  readonly #operators = new Map<string, SimOperator>();
  #stopped: Promise<void> | null = null;

  constructor(options: DemoEnvironmentOptions, plan: DemandPlan, clouds: Clouds) {
    this.#options = options;
    this.#plan = plan;
    this.#clouds = clouds;
    const { seed, speed } = options;
    const demand = new LivingDemand({
      plan,
      clock: systemClock,
      seed,
      speed,
      onChange: (cluster: string, needs: readonly Need[]) => this.#operators.get(cluster)?.setDemand(needs),
    });
    this.#demand = demand;
    this.scenarios = {
      deployBurst: async () => demand.deployBurst(),
      gpuGang: async () => demand.gpuGang(),
      spotWave: async () => clouds.spotWave(),
      zoneOutage: () => clouds.zoneOutage(),
    };
  }

  /** Name and address of each cloud, for the shard. Names are stable across restarts, ports are not. */
  get providers(): readonly { readonly name: string; readonly address: string }[] {
    return this.#clouds.status.map(({ name, address }) => ({ name, address }));
  }

  /** Connects all operators to a shard. They retry until it is reachable. */
  connect(shardAddress: string): void {
    if (this.#operators.size > 0 || this.#stopped !== null) throw new Error('connected already, or stopped');
    const dialer = grpcDialer(shardAddress);
    for (const [i, cluster] of this.#plan.clusters.entries()) {
      const operator = new SimOperator({
        cluster,
        clock: systemClock,
        random: new Random(this.#options.seed, OPERATOR_STREAM, i),
        dialer,
        onEvent: (event) => this.#emit(cluster, event),
      });
      this.#operators.set(cluster, operator);
    }
    // Before the first hello, so that no operator reports an empty demand.
    this.#demand.start();
    for (const operator of this.#operators.values()) operator.start();
  }

  status(): DemoEnvironmentStatus {
    return {
      clouds: this.#clouds.status,
      clusters: this.#plan.clusters.map((name) => {
        const operator = this.#operators.get(name);
        const isConnected = operator?.isConnected ?? false;
        const needs = operator?.demand.length ?? 0;
        return { name, isConnected, needs, nodes: operator?.nodes.size ?? 0 };
      }),
      scenarios: this.#demand.scenarios,
    };
  }

  /** Disconnects the operators, then closes the clouds. Call it after the shard has stopped, which calls the clouds. */
  stop(): Promise<void> {
    this.#stopped ??= this.#stop();
    return this.#stopped;
  }

  async #stop(): Promise<void> {
    this.#demand.stop();
    for (const operator of this.#operators.values()) operator.stop();
    await this.#clouds.stop();
  }

  #emit(source: string, event: OperatorEvent): void {
    const text = operatorText(event);
    if (text !== '') this.#options.onEvent?.({ source, text });
  }
}

function cloudText({ what, whom, detail }: CloudEvent): string {
  return `${whom} ${what}${detail === '' ? '' : `: ${detail}`}`;
}

/** '' for routine events. */
function operatorText(event: OperatorEvent): string {
  switch (event.kind) {
    case 'connected':
      return 'connected to its shard';
    case 'disconnected':
      return `lost its shard: ${event.why}`;
    case 'reclaim':
      return `empties ${event.instruction.nodes.join(', ')}`;
    case 'rollup-reported':
      return reportText(event.report);
    case 'rollup-acked':
      return '';
  }
}

/** '' for a roll-up without problems. */
function reportText({ total, problems: [first] }: RollupReport): string {
  if (first === undefined) return '';
  const more = total > 1 ? ` (and ${total - 1} more)` : '';
  return `hears of its roll-up: ${first.path}: ${first.message}${more}`;
}

function checkRange(name: string, value: number, least: number, most: number, isWhole = true): void {
  if (value >= least && value <= most && (!isWhole || Number.isInteger(value))) return;
  const kind = isWhole ? 'a whole number' : 'a number';
  throw new BigFleetError('BF_USAGE', `${name} must be ${kind} from ${least} to ${most}, not ${value}.`);
}
