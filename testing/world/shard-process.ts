// One process of the shard in a world, started and killed by world.ts: controller, sessions and provider clients as in
// production, on a clock and stores that end with it. `kill` is a crash: nothing is completed, flushed or sent
// afterwards.

import { MachineState, SHARED_OPTIONS, UNSHARED_OPTIONS } from '../../src/model/index.ts';
import { InventoryReader, type ProviderTransport, type TransitionKind } from '../../src/provider/index.ts';
import type { Clock } from '../../src/runtime/clock.ts';
import { Random } from '../../src/runtime/random.ts';
import {
  ACTUATION_LIMITS,
  CALL_SCHEDULER_LIMITS,
  type ControllerEvent,
  type ControllerOptions,
  carryOut,
  DEFAULT_CONTROLLER,
  type Effect,
  InlineController,
  PacedController,
  ProviderCalls,
  type ProviderEnd,
  Sessions,
  type ShardEvent,
  ShardFacade,
  shardClient,
} from '../../src/shard/index.ts';
import type { WorldPlan } from './plan.ts';
import { ProcessClock } from './process-clock.ts';
import { HOLD_SECONDS } from './sim-provider.ts';
import { CrashingStore, type Disk, SlowStore } from './stores.ts';

export interface ProcessWatch {
  event(process: ShardProcess, event: ControllerEvent): void;
  effect(process: ShardProcess, effect: Effect): void;
  published(process: ShardProcess, event: ShardEvent): void;
  /** Called for every attempt sent to a provider. */
  sent(process: ShardProcess, command: TransitionKind, machine: string, sequence: bigint): void;
}

export interface ProcessParts {
  readonly epoch: bigint;
  readonly plan: WorldPlan;
  /** Whether the storm is over. */
  readonly isCalm: boolean;
  readonly clock: Clock;
  readonly random: Random;
  readonly disk: Disk;
  readonly transports: ReadonlyMap<string, ProviderTransport>;
  readonly watch: ProcessWatch;
}

const SHARD_ID = 'shard-0';
/** How long in-flight work may take to complete in a graceful stop. */
const STOP_MS = 5000;
const IDLE_POLL_MS = 10;
const CALL_LIMITS = {
  callMs: 9000,
  attemptMs: 2500,
  listMs: 6000,
  readAttempts: 3,
  backoff: { baseMs: 200, maxMs: 1000 },
};

export class ShardProcess {
  readonly epoch: bigint;
  readonly plan: WorldPlan;
  readonly startedMs: number;
  readonly controller: InlineController;
  readonly #clock: ProcessClock;
  readonly #parts: ProcessParts;
  readonly #store: CrashingStore;
  readonly #providers: ProviderCalls;
  #sessions: Sessions | null = null;
  #isIsolated = false;
  /** Non-null while the controller lags behind; resolves when it has caught up. */
  #room: PromiseWithResolvers<void> | null = null;

  constructor(parts: ProcessParts) {
    const { epoch, plan, disk, random } = parts;
    this.epoch = epoch;
    this.plan = plan;
    this.#parts = parts;
    this.#clock = new ProcessClock(parts.clock);
    this.startedMs = this.#clock.now();
    this.#store = new CrashingStore({ disk, random, clock: this.#clock, isAlive: () => this.#hasDisk });
    this.controller = new InlineController({
      clock: this.#clock,
      monotonicMs: () => this.#clock.now(),
      store: this.#store,
      options: optionsOf(plan, epoch, parts.isCalm),
      onEffect: (effect) => this.#carryOut(effect),
    });
    this.controller.listen((event) => {
      if (this.isAlive) parts.watch.published(this, event);
    });
    this.#providers = new ProviderCalls(this.#ends(), (event) => this.#post(event));
  }

  /** Whether it was started after the storm. */
  get isCalm(): boolean {
    return this.#parts.isCalm;
  }

  get isAlive(): boolean {
    return this.#clock.isAlive;
  }

  get #hasDisk(): boolean {
    return this.isAlive && !this.#isIsolated;
  }

  /** null until the process listens, and after its death. */
  get sessions(): Sessions | null {
    return this.isAlive ? this.#sessions : null;
  }

  /** The API for people; null until the process listens, and after its death. */
  get facade(): ShardFacade | null {
    const { sessions } = this;
    return sessions === null ? null : new ShardFacade(this.controller, sessions);
  }

  async start(): Promise<void> {
    const { disk, random, clock } = this.#parts;
    const isAlive = () => this.#hasDisk;
    const sessions = await Sessions.open({
      clock: this.#clock,
      controller: this.#pacedController(),
      // On the clock of the world: an in-flight write may complete after its process has died.
      store: new SlowStore({ disk, random, clock, isAlive }),
      shardEpoch: this.epoch,
    });
    if (!this.isAlive) return;
    this.#sessions = sessions;
    this.controller.start();
  }

  kill(): void {
    if (!this.isAlive) return;
    this.#clock.kill();
    this.controller.kill();
    // The operating system closes the sockets of a dead process.
    this.#sessions?.close();
  }

  /** Graceful stop: starts no new action, completes what a provider may have started, and persists its state. */
  stop(ended: () => void): void {
    const lastMs = this.#clock.now() + STOP_MS;
    const poll = (): void => {
      if (!this.isAlive) return;
      if (!this.controller.controller.isIdle && this.#clock.now() < lastMs) {
        this.#clock.after(IDLE_POLL_MS, poll);
        return;
      }
      void this.controller.controller.close();
      // The process may have died during that last write.
      if (!this.isAlive) return;
      this.kill();
      ended();
    };
    this.controller.controller.stop();
    poll();
  }

  /** The controller lags behind for `ms`; demand waits meanwhile. */
  fallBehind(ms: number): void {
    const room = Promise.withResolvers<void>();
    this.#room = room;
    this.#clock.after(ms, () => {
      if (this.#room === room) this.#room = null;
      room.resolve();
    });
  }

  /** Keeps running without its disk, which its successor now owns; unless `keepsSessions`, also without its clusters. */
  isolate(keepsSessions: boolean): void {
    this.#isIsolated = true;
    if (!keepsSessions) this.#sessions?.close();
  }

  /** Kills the process during a write. */
  killAtWrite(number: number, isWritten: boolean, onDeath: () => void): void {
    this.#store.crashAt(number, isWritten, () => {
      this.kill();
      onDeath();
    });
  }

  #pacedController(): PacedController {
    const isBehind = () => this.#room !== null;
    return new PacedController({
      post: (event) => this.#post(event),
      get isBehind() {
        return isBehind();
      },
      room: () => this.#room?.promise ?? Promise.resolve(),
    });
  }

  #post(event: ControllerEvent): void {
    if (!this.isAlive) return;
    this.#parts.watch.event(this, event);
    this.controller.post(event);
  }

  #carryOut(effect: Effect): void {
    this.#parts.watch.effect(this, effect);
    if (this.#sessions === null) return;
    carryOut(effect, { sessions: this.#sessions, providers: this.#providers, onStop: () => this.kill() });
  }

  #ends(): ReadonlyMap<string, ProviderEnd> {
    const { plan, transports, epoch } = this.#parts;
    const random = new Random(plan.seed, Number(epoch), 0xc11);
    let sequence = 0n;
    const fence = { shardId: SHARD_ID, epoch, nextSequence: () => ++sequence };
    const ends = new Map<string, ProviderEnd>();
    for (const [name, transport] of transports) {
      const client = shardClient({
        ...{ fence, random, clock: this.#clock, limits: CALL_LIMITS },
        transport: this.#watched(transport),
      });
      const inventory = new InventoryReader({
        listBytes: (query) => client.listBytes(query),
        seed: plan.seed,
      });
      ends.set(name, { client, inventory });
    }
    return ends;
  }

  /** Reports every attempt to the watch. A dead process sends nothing. */
  #watched(transport: ProviderTransport): ProviderTransport {
    const { watch } = this.#parts;
    const sent = (
      command: TransitionKind,
      request: { machineId: string; sequenceNumber: bigint },
    ): boolean => {
      if (this.isAlive) watch.sent(this, command, request.machineId, request.sequenceNumber);
      return this.isAlive;
    };
    const never = (): Promise<never> => new Promise(() => {});
    return {
      create: (request, limits) => (sent('create', request) ? transport.create(request, limits) : never()),
      configure: (request, limits) =>
        sent('configure', request) ? transport.configure(request, limits) : never(),
      drain: (request, limits) => (sent('drain', request) ? transport.drain(request, limits) : never()),
      delete: (request, limits) => (sent('delete', request) ? transport.delete(request, limits) : never()),
      get: (request, limits) => (this.isAlive ? transport.get(request, limits) : never()),
      list: (request, limits) => (this.isAlive ? transport.list(request, limits) : never()),
      close: () => {},
    };
  }
}

/** Production's rules, with the delays of clouds and people at a tenth. */
function optionsOf(plan: WorldPlan, epoch: bigint, isCalm: boolean): ControllerOptions {
  const { Creating, Configuring, Draining, Deleting } = MachineState;
  return {
    ...DEFAULT_CONTROLLER,
    ...{ shard: SHARD_ID, epoch, seed: plan.seed, providers: plan.machines.map((_, i) => providerName(i)) },
    cycle: { intervalMs: 1500, spacingMs: 200, readyWaitMs: 10_000 },
    engine: { ...DEFAULT_CONTROLLER.engine, checkEvery: 25 },
    guardrails: {
      ...DEFAULT_CONTROLLER.guardrails,
      reclaimFraction: plan.reclaimFraction,
      maxActionsPerCycle: plan.maxActionsPerCycle,
    },
    releaseHoldSeconds: HOLD_SECONDS,
    economy: plan.shared === null ? UNSHARED_OPTIONS : { ...SHARED_OPTIONS, ...plan.shared },
    renewal: { ...DEFAULT_CONTROLLER.renewal, ...(isCalm ? {} : plan.renewal) },
    actuation: {
      ...ACTUATION_LIMITS,
      bootstrapMs: 6000,
      retry: { baseMs: 300, maxMs: 3000 },
      machine: { baseMs: 1000, maxMs: 10_000 },
      offering: { baseMs: 3000, maxMs: 12_000 },
      cluster: { baseMs: 1000, maxMs: 8000 },
      deadlineMs: { [Creating]: 35_000, [Configuring]: 35_000, [Draining]: 35_000, [Deleting]: 35_000 },
      protectedMs: 20_000,
      records: 1000,
    },
    scheduler: { ...CALL_SCHEDULER_LIMITS, breaker: { baseMs: 2000, maxMs: 8000 } },
    reconcile: { changesMs: 1500, fullMs: plan.fullListMs, retry: { baseMs: 500, maxMs: 4000 } },
  };
}

export function providerName(number: number): string {
  return `p${number + 1}`;
}
