// The demand that the demo's operators report (demo.ts), as it changes over time: services grow and shrink, jobs come
// and go, and on request a cluster deploys in a burst or wants a gang of accelerators. A row's demand is a function of
// the seed and the time alone; no state is kept, so a restart does not change it.

import type { Need } from '../../model/index.ts';
import type { Clock } from '../../runtime/clock.ts';
import { Random } from '../../runtime/random.ts';
import type { Row } from '../workload/rows.ts';
import type { DemandPlan, PlannedRow } from './average-demand.ts';

export interface LivingDemandParts {
  readonly plan: DemandPlan;
  readonly clock: Clock;
  readonly seed: number;
  /** Time-lapse factor relative to a real fleet. */
  readonly speed: number;
  /** Receives the complete demand of a cluster on every change. */
  readonly onChange: (cluster: string, needs: readonly Need[]) => void;
}

/** Temporary demand on top of the usual. */
interface DemoScenario {
  readonly cluster: string;
  readonly rows: readonly Row[];
  readonly text: string;
}

const MINUTE_MS = 60_000;
/** Interval at which a service changes its size; below, the interval at which a job ends or starts. */
const SERVICE_STEP_MS = 30 * MINUTE_MS;
const JOB_STEP_MS = 120 * MINUTE_MS;
/** Largest deviation of a service from its average, as a fraction of it. */
const SWING = 0.35;
/** A size is the mean of this number of steps, so that it drifts rather than jumps. */
const SMOOTHED_STEPS = 3;
/** Fraction of time during which a job's slot is occupied. */
const JOB_TAKEN = 0.92;
const STREAM = { offset: 0xd11, level: 0xd12, scenarios: 0xd13 } as const;

const SCENARIO_MS = 15 * MINUTE_MS;
/** Lower bound at any speed, so that a scenario remains visible. */
const SHORTEST_SCENARIO_MS = 45_000;
/** Above all services, below critical workloads. */
const SCENARIO_PRIORITY = 5000;
/** A deploy burst wants this multiple of the usual demand. */
const BURST_FACTOR = 3;

export class LivingDemand {
  readonly #parts: LivingDemandParts;
  readonly #random: Random;
  readonly #scenarios = new Map<DemoScenario, () => void>();
  /** By cluster: the last demand reported. */
  readonly #reported = new Map<string, string>();
  #cancelTick = () => {};
  #gangs = 0;

  constructor(parts: LivingDemandParts) {
    this.#parts = parts;
    this.#random = new Random(parts.seed, STREAM.scenarios);
  }

  /** Texts of the active scenarios. */
  get scenarios(): readonly string[] {
    return Array.from(this.#scenarios.keys(), ({ text }) => text);
  }

  /** Reports every cluster once, and every change from then on. */
  start(): void {
    for (const cluster of this.#parts.plan.clusters) this.#report(cluster);
    this.#tickLater();
  }

  stop(): void {
    this.#cancelTick();
    for (const cancel of this.#scenarios.values()) cancel();
    this.#scenarios.clear();
  }

  needsOf(cluster: string): readonly Need[] {
    const { rowObjects } = this.#parts.plan;
    return this.#rowsOf(cluster).map((row) => ({ ...rowObjects.needOf(row, cluster), firstSeenMs: 0 }));
  }

  /** One cluster wants three times its services for a while, with priority for the new ones. Returns a description. */
  deployBurst(cluster = this.#random.pick(this.#parts.plan.clusters)): string {
    const nowMs = this.#parts.clock.now();
    const rows = this.#plannedOf(cluster)
      .filter(({ habit }) => habit === 'service')
      .map((planned) => ({
        ...planned.row,
        priority: Math.max(planned.row.priority, SCENARIO_PRIORITY),
        pods: this.#podsOf(planned, nowMs) * (BURST_FACTOR - 1),
      }));
    const seconds = Math.round(this.#scenarioMs / 1000);
    const text = `Deploy burst: ${cluster} wants ${BURST_FACTOR} times its services for ${seconds} s, the new ones at priority ${SCENARIO_PRIORITY}.`;
    return this.#begin({ cluster, rows, text });
  }

  /**
   * One cluster, preferably one without jobs there yet, wants a gang of GPU machines in one rack for a while. Returns a
   * description.
   */
  gpuGang(cluster = this.#random.pick(this.#newToGpus())): string {
    const { gpuGang } = this.#parts.plan;
    const row = { ...gpuGang, group: `${gpuGang.group}-${++this.#gangs}`, priority: SCENARIO_PRIORITY };
    const seconds = Math.round(this.#scenarioMs / 1000);
    const text = `GPU gang: ${cluster} wants ${row.pods} machines of 8 GPUs in one rack for ${seconds} s, at priority ${SCENARIO_PRIORITY}.`;
    return this.#begin({ cluster, rows: [row], text });
  }

  #newToGpus(): readonly string[] {
    const { clusters, rows } = this.#parts.plan;
    const busy = new Set(rows.filter(({ habit }) => habit === 'job').map(({ cluster }) => cluster));
    for (const { cluster } of this.#scenarios.keys()) busy.add(cluster);
    const free = clusters.filter((cluster) => !busy.has(cluster));
    return free.length > 0 ? free : clusters;
  }

  get #scenarioMs(): number {
    return Math.max(SHORTEST_SCENARIO_MS, SCENARIO_MS / this.#parts.speed);
  }

  #begin(scenario: DemoScenario): string {
    const cancel = this.#parts.clock.after(this.#scenarioMs, () => {
      this.#scenarios.delete(scenario);
      this.#report(scenario.cluster);
    });
    this.#scenarios.set(scenario, cancel);
    this.#report(scenario.cluster);
    return scenario.text;
  }

  #report(cluster: string): void {
    const rows = this.#rowsOf(cluster);
    const text = JSON.stringify(rows);
    if (this.#reported.get(cluster) === text) return;
    this.#reported.set(cluster, text);
    this.#parts.onChange(cluster, this.needsOf(cluster));
  }

  #tickLater(): void {
    const { plan, clock } = this.#parts;
    const nowMs = clock.now();
    const next = Math.min(...plan.rows.map((planned) => this.#untilNextMs(planned, nowMs)));
    if (next === Number.POSITIVE_INFINITY) return;
    this.#cancelTick = clock.after(next, () => {
      for (const cluster of plan.clusters) this.#report(cluster);
      this.#tickLater();
    });
  }

  #plannedOf(cluster: string): readonly PlannedRow[] {
    return this.#parts.plan.rows.filter((planned) => planned.cluster === cluster);
  }

  #rowsOf(cluster: string): readonly Row[] {
    const nowMs = this.#parts.clock.now();
    const usual = this.#plannedOf(cluster).map((planned) => {
      return { ...planned.row, pods: this.#podsOf(planned, nowMs) };
    });
    const extra = Array.from(this.#scenarios.keys()).filter((scenario) => scenario.cluster === cluster);
    return [...usual, ...extra.flatMap(({ rows }) => rows)].filter(({ pods }) => pods > 0);
  }

  #podsOf(planned: PlannedRow, atMs: number): number {
    const { row, number, habit } = planned;
    const { seed } = this.#parts;
    if (habit === 'store') return row.pods;
    const step = Math.floor(this.#stepsOf(planned, atMs));
    if (habit === 'job') return new Random(seed, STREAM.level, number, step).chance(JOB_TAKEN) ? row.pods : 0;
    let level = 0;
    for (let i = 0; i < SMOOTHED_STEPS; i++)
      level += new Random(seed, STREAM.level, number, step - i).between(-1000, 1000) / 1000 / SMOOTHED_STEPS;
    return Math.max(1, Math.round(row.pods * (1 + SWING * level)));
  }

  /** Steps since the epoch, with their fraction. Rows are offset, so that they do not all change at the same moment. */
  #stepsOf(planned: PlannedRow, atMs: number): number {
    const offset = new Random(this.#parts.seed, STREAM.offset, planned.number).below(1000) / 1000;
    return atMs / this.#stepMs(planned) + offset;
  }

  #stepMs({ habit }: PlannedRow): number {
    return (habit === 'job' ? JOB_STEP_MS : SERVICE_STEP_MS) / this.#parts.speed;
  }

  #untilNextMs(planned: PlannedRow, atMs: number): number {
    if (planned.habit === 'store') return Number.POSITIVE_INFINITY;
    const steps = this.#stepsOf(planned, atMs);
    // One extra millisecond, so that rounding does not end before the step.
    return (Math.floor(steps) + 1 - steps) * this.#stepMs(planned) + 1;
  }
}
