// The context that a behaviour gets as its argument: calls to the provider, unused machines, unique names, a seeded
// stream of random numbers, and bounded waits and watches. target-session.ts makes one for each behaviour.

import { setTimeout as sleep } from 'node:timers/promises';
import { MachineState } from '../../../model/index.ts';
import type { Random } from '../../../runtime/random.ts';
import type { Machine, MachineState as WireState } from '../../../wire/gen/bigfleet/v1alpha1/provider.ts';
import { ExcusedSkip, Skip, withoutDelete } from './behaviour.ts';
import { CallLog } from './call-log.ts';
import { type Binding, Calls, type ListOptions, type ProviderRpc, type Token, textOfState } from './calls.ts';
import type { DurableStage } from './durable-stage.ts';
import { accepted, fail, hasState, isUnimplemented } from './expect.ts';
import type { MachinePool } from './machine-pool.ts';
import type { Timings } from './timings.ts';

/** Command-line settings that behaviours read. */
export interface TrialSettings {
  readonly timings: Timings;
  /** Machines the scale target must find. */
  readonly scaleSeed: number;
  readonly soakMs: number;
  /** When the fault provider gives up a transition. */
  readonly transitionTimeoutMs: number;
}

/** What the trials of one target share; a `TargetSession`. */
export interface TrialEnvironment {
  readonly rpc: ProviderRpc;
  /** Another connection to the same provider. */
  readonly secondRpc: () => ProviderRpc;
  readonly pool: MachinePool;
  /** Names unique to this run, so that runs against the same provider do not collide. */
  readonly uniqueName: (kind: string) => string;
  readonly settings: TrialSettings;
  /** State before the kill and after it; only of the durable target. */
  readonly durable?: DurableStage;
}

export interface Watch {
  /** Ends the watch and returns each change that was seen. */
  stop(): Promise<readonly Machine[]>;
}

const TRANSITIONAL: ReadonlySet<number> = new Set([
  MachineState.Creating,
  MachineState.Configuring,
  MachineState.Draining,
  MachineState.Deleting,
]);

export function isTransitional(state: number): boolean {
  return TRANSITIONAL.has(state);
}

export class Trial {
  readonly calls: Calls;
  readonly random: Random;
  readonly settings: TrialSettings;
  readonly timings: Timings;
  readonly #environment: TrialEnvironment;
  readonly #callLog = new CallLog();
  readonly #used: string[] = [];

  constructor(environment: TrialEnvironment, random: Random) {
    this.#environment = environment;
    this.settings = environment.settings;
    this.timings = environment.settings.timings;
    this.calls = new Calls(environment.rpc, this.#callLog, this.timings);
    this.random = random;
  }

  /** What was called so far, for a failure. */
  get callLogText(): string {
    return this.#callLog.text;
  }

  /** Stops tasks that a failed check left running from calling the provider. */
  end(): void {
    this.#callLog.close();
  }

  /** The machines this behaviour took. */
  get used(): readonly string[] {
    return this.#used;
  }

  get durable(): DurableStage {
    const { durable } = this.#environment;
    if (durable === undefined) throw new Skip('only in the durable target');
    return durable;
  }

  /** The same calls over another connection. */
  otherConnection(): Calls {
    return new Calls(this.#environment.secondRpc(), this.#callLog, this.timings);
  }

  // Names

  shard(): string {
    return this.#environment.uniqueName('shard');
  }

  cluster(): string {
    return this.#environment.uniqueName('cluster');
  }

  /** An id that no machine has. */
  ghost(): string {
    return this.#environment.uniqueName('no-such-machine');
  }

  // Machines

  async speculative(): Promise<string> {
    const id = await this.#environment.pool.take(this.calls);
    this.#used.push(id);
    return id;
  }

  /** A machine whose Create fails on purpose. */
  async speculativeThatFails(): Promise<string> {
    const id = await this.#environment.pool.takeFaulty(this.calls);
    if (id === undefined)
      throw new Skip('no Speculative machine labelled conformance.fault/create=error is left');
    this.#used.push(id);
    return id;
  }

  async idle(): Promise<string> {
    const id = await this.speculative();
    accepted(`Create(${id})`, await this.calls.create(id));
    await this.settles(id, MachineState.Idle);
    return id;
  }

  async configured(
    binding: Partial<Binding> = {},
  ): Promise<{ readonly id: string; readonly binding: Binding }> {
    const id = await this.idle();
    const full = this.binding(binding);
    await this.configure(id, full);
    return { id, binding: full };
  }

  /** Runs `one` `count` times concurrently. */
  several<T>(count: number, one: () => Promise<T>): Promise<T[]> {
    return Promise.all(Array.from({ length: count }, one));
  }

  binding({ cluster = this.cluster(), metadata = new Map(), ...rest }: Partial<Binding> = {}): Binding {
    return { cluster, metadata, ...rest };
  }

  async configure(id: string, binding: Binding, token?: Token): Promise<Machine> {
    accepted(`Configure(${id})`, await this.calls.configure(id, binding, token));
    return await this.settles(id, MachineState.Configured);
  }

  async drain(id: string, graceSeconds = 5, token?: Token): Promise<Machine> {
    accepted(`Drain(${id})`, await this.calls.drain(id, graceSeconds, token));
    return await this.settles(id, MachineState.Idle, this.timings.drainMs);
  }

  /** Deletes and waits; skips the behaviour if the provider cannot delete. */
  async deleteOrSkip(id: string): Promise<Machine> {
    const reply = await this.calls.delete(id);
    if (isUnimplemented(reply)) throw withoutDelete();
    accepted(`Delete(${id})`, reply);
    return await this.settles(id, MachineState.Speculative);
  }

  // Reads

  async read(id: string): Promise<Machine> {
    const reply = await this.calls.get(id);
    if (!reply.ok) fail(`Get(${id}) to work`, reply.details);
    if (reply.value.id !== id) fail(`Get(${id}) to return that machine`, `machine ${reply.value.id}`);
    return reply.value;
  }

  async list(options: ListOptions = {}): Promise<{ machines: readonly Machine[]; revision: Uint8Array }> {
    const reply = await this.calls.list(options);
    if (!reply.ok) fail('List to work', reply.details);
    return reply.value;
  }

  /** A machine as List shows it among those of its state. */
  async listed(id: string, state: MachineState): Promise<Machine> {
    const { machines } = await this.list({ states: [state] });
    const found = machines.find((machine) => machine.id === id);
    if (found === undefined) fail(`List(${textOfState(state)}) to hold ${id}`, `${machines.length} others`);
    return found;
  }

  /** The head cursor; skips the behaviour if the provider has none. */
  async cursor(): Promise<Uint8Array> {
    const { revision } = await this.list({ max: 1 });
    if (revision.length === 0) throw new ExcusedSkip('the provider has no revisions');
    return revision;
  }

  // Waiting and watching

  async pause(ms: number): Promise<void> {
    await sleep(ms);
  }

  /** Waits until the machine is in state `goal`. Fails at once if the machine becomes Failed. */
  async settles(id: string, goal: MachineState, withinMs = this.#settleMs(goal)): Promise<Machine> {
    return (await this.traces(id, goal, withinMs)).at(-1)!;
  }

  /** The first record in none of these states, or the record of a read that began after the timeout. */
  async leaves(id: string, states: readonly WireState[], withinMs: number): Promise<Machine> {
    const until = performance.now() + withinMs;
    for (;;) {
      const isLast = performance.now() > until;
      const machine = await this.read(id);
      if (isLast || !states.includes(machine.state)) return machine;
      await this.pause(this.timings.pollMs);
    }
  }

  /**
   * As `settles`; returns every record seen meanwhile, one per change of state. The last read begins after the timeout: if
   * this process was suspended meanwhile, an earlier read proves nothing about the provider.
   */
  async traces(id: string, goal: MachineState, withinMs = this.#settleMs(goal)): Promise<readonly Machine[]> {
    const started = performance.now();
    const seen: Machine[] = [];
    for (;;) {
      const waitedMs = performance.now() - started;
      const machine = await this.read(id);
      if (machine.state !== seen.at(-1)?.state) seen.push(machine);
      if (machine.state === goal) return seen;
      if (machine.state === MachineState.Failed) {
        fail(`${id} to become ${textOfState(goal)}`, `Failed: ${machine.lastError}`);
      }
      if (waitedMs > withinMs) {
        fail(`${id} to become ${textOfState(goal)} within ${withinMs} ms`, textOfState(machine.state));
      }
      await this.pause(this.#pollMs(waitedMs));
    }
  }

  /** Polls a machine that must not change state; `check` receives every record, the last one read after `forMs`. */
  async stays(
    id: string,
    state: WireState,
    check: (machine: Machine) => void = () => {},
    forMs = this.timings.staysMs,
  ): Promise<void> {
    const until = performance.now() + forMs;
    for (let isOver = false; ; ) {
      const machine = await this.read(id);
      hasState(`${id}, with nothing asked of it,`, machine, state);
      check(machine);
      if (isOver) return;
      // Evaluated before the pause: if this process was suspended for the whole time, the machine is read once more.
      isOver = performance.now() >= until;
      await this.pause(this.timings.pollMs);
    }
  }

  /** Polls a machine every `pollMs` in the background until `stop`. */
  watch(id: string, pollMs = 1): Watch {
    const seen: Machine[] = [];
    let isOver = false;
    const look = async () => {
      for (;;) {
        const machine = await this.read(id);
        if (machine.state !== seen.at(-1)?.state) seen.push(machine);
        if (isOver) return;
        await this.pause(pollMs);
      }
    };
    const looking = look();
    // The caller of `stop` receives a failure; until then it must not be reported as unhandled.
    looking.catch(() => {});
    return {
      stop: async () => {
        isOver = true;
        await looking;
        return seen;
      },
    };
  }

  #settleMs(goal: MachineState): number {
    const { createMs, configureMs, deleteMs } = this.timings;
    if (goal === MachineState.Speculative) return deleteMs;
    return goal === MachineState.Configured ? configureMs : createMs;
  }

  /** Short intervals at first, to observe transient states; then longer ones, to spare a slow provider. */
  #pollMs(waitedMs: number): number {
    return waitedMs < 500 ? this.timings.pollMs : Math.max(this.timings.pollMs, 50);
  }
}
