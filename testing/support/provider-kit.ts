// Test support: a manual clock, a backend whose calls end on command, and requests with defaults. Imported by tests of
// src/provider.

import { type HostRef, MachineState } from '../../src/model/index.ts';
import type { Backend, Binding, Offering, Operation, Subject } from '../../src/provider/backend.ts';
import { MemoryStore } from '../../src/provider/kit/memory-store.ts';
import { Provider, type ProviderOptions } from '../../src/provider/kit/provider.ts';
import type { Store } from '../../src/provider/kit/store.ts';
import type { Clock } from '../../src/runtime/clock.ts';
import type {
  ConfigureRequest,
  CreateRequest,
  DeleteRequest,
  DrainRequest,
  ListFilter,
  Machine,
} from '../../src/wire/gen/bigfleet/v1alpha1/provider.ts';
import { statusOf } from '../../src/wire/index.ts';

export class ManualClock implements Clock {
  #now = 1_000_000;
  readonly #timers = new Set<{ readonly at: number; readonly run: () => void }>();

  now(): number {
    return this.#now;
  }

  after(ms: number, run: () => void): () => void {
    const timer = { at: this.#now + ms, run };
    this.#timers.add(timer);
    // A delay of 0 yields to the event loop; a test should not have to advance the clock for it.
    if (ms === 0) setImmediate(() => this.#fire(timer));
    return () => this.#timers.delete(timer);
  }

  /** Advances the clock and fires due timers in order; then waits for their consequences. */
  async advance(ms: number): Promise<void> {
    this.#now += ms;
    const due = [...this.#timers].filter(({ at }) => at <= this.#now).sort((a, b) => a.at - b.at);
    for (const timer of due) this.#fire(timer);
    await turns();
  }

  #fire(timer: { readonly run: () => void }): void {
    if (this.#timers.delete(timer as never)) timer.run();
  }
}

/** Some turns of the event loop: enough for promises, and for a store that writes at the end of one. */
export async function turns(count = 4): Promise<void> {
  for (let i = 0; i < count; i++) await new Promise((resolve) => setImmediate(resolve));
}

export function offering(id: string, changes: Partial<Offering> = {}): Offering {
  return {
    id,
    instanceType: 'm5.large',
    zone: 'zone-a',
    capacityType: 3,
    pricePerHour: 0.25,
    interruptionProbability: 0,
    resources: new Map([
      ['cpu', 2000],
      ['memory', 8 * 2 ** 30],
    ]),
    allocatable: new Map(),
    labels: new Map([['rack', 'r1']]),
    host: null,
    ...changes,
  };
}

export interface HeldCall {
  readonly kind: 'create' | 'configure' | 'drain' | 'delete';
  readonly machine: Subject;
  readonly operation: Operation;
  readonly binding?: Binding;
  readonly graceSeconds?: number;
  succeed(host?: HostRef): void;
  fail(reason: string): void;
}

/** A backend whose calls wait for the test to end them; with `isPrompt` they end at once. */
export class HeldBackend implements Backend {
  offerings: readonly Offering[];
  isPrompt = false;
  resumable = false;
  readonly calls: HeldCall[] = [];

  constructor(offerings: readonly Offering[] | number) {
    this.offerings =
      typeof offerings === 'number'
        ? Array.from({ length: offerings }, (_, i) => offering(`m-${i}`))
        : offerings;
  }

  get last(): HeldCall {
    return this.calls.at(-1)!;
  }

  describe(): Promise<readonly Offering[]> {
    return Promise.resolve(this.offerings);
  }

  async create(machine: Subject, operation: Operation): Promise<HostRef> {
    return (await this.#hold({ kind: 'create', machine, operation })) ?? hostOf(machine.id);
  }

  async configure(machine: Subject, binding: Binding, operation: Operation): Promise<void> {
    await this.#hold({ kind: 'configure', machine, operation, binding });
  }

  async drain(machine: Subject, graceSeconds: number, operation: Operation): Promise<void> {
    await this.#hold({ kind: 'drain', machine, operation, graceSeconds });
  }

  async delete(machine: Subject, operation: Operation): Promise<void> {
    await this.#hold({ kind: 'delete', machine, operation });
  }

  #hold(call: Omit<HeldCall, 'succeed' | 'fail'>): Promise<HostRef | undefined> {
    return new Promise((resolve, reject) => {
      const fail = (reason: string) => reject(new Error(reason));
      this.calls.push({ ...call, succeed: resolve, fail });
      if (this.isPrompt) resolve(undefined);
    });
  }
}

export function hostOf(id: string): HostRef {
  return { provider: 'test', ref: `host-of-${id}` };
}

export interface Scene {
  readonly backend: HeldBackend;
  readonly clock: ManualClock;
  readonly store: Store;
  readonly provider: Provider;
}

export async function scene(
  given: {
    readonly backend?: HeldBackend;
    readonly clock?: ManualClock;
    readonly store?: Store;
    readonly options?: ProviderOptions;
  } = {},
): Promise<Scene> {
  const parts = {
    backend: given.backend ?? new HeldBackend(4),
    clock: given.clock ?? new ManualClock(),
    store: given.store ?? new MemoryStore(),
    options: given.options ?? {},
  };
  return { ...parts, provider: await Provider.open(parts) };
}

/** The three token fields of a request; the defaults are those of a caller that does not fence. */
export function token(shardId = '', epoch = 0n, sequence = 0n) {
  return { shardId, shardEpoch: epoch, sequenceNumber: sequence };
}

export const createOf = (machineId: string, fence = token()): CreateRequest => ({ machineId, ...fence });
export const deleteOf = (machineId: string, fence = token()): DeleteRequest => ({ machineId, ...fence });
export const drainOf = (machineId: string, fence = token(), gracePeriodSeconds = 0n): DrainRequest => ({
  machineId,
  gracePeriodSeconds,
  ...fence,
});
export const configureOf = (
  machineId: string,
  fence = token(),
  changes: Partial<ConfigureRequest> = {},
): ConfigureRequest => ({
  machineId,
  clusterId: 'cluster-1',
  bootstrapBlob: Buffer.from('join'),
  shardMetadata: new Map([['why', 'need-7']]),
  ...fence,
  ...changes,
});

export function filter(changes: Partial<ListFilter> = {}): ListFilter {
  return { states: [], maxResults: 0, sinceRevision: new Uint8Array(), ...changes };
}

/** The gRPC status a call is rejected with; throws if the call succeeds. */
export async function refusedWith(call: Promise<unknown>): Promise<number | undefined> {
  try {
    await call;
  } catch (error) {
    return statusOf(error);
  }
  throw new Error('the call was accepted');
}

/** Brings a machine to Idle or Configured with a backend whose calls end at once. */
export async function walk(given: Scene, id: string, to: 'Idle' | 'Configured'): Promise<Machine> {
  const { backend, provider } = given;
  const wasPrompt = backend.isPrompt;
  backend.isPrompt = true;
  await provider.create(createOf(id));
  await turns();
  if (to === 'Configured') {
    await provider.configure(configureOf(id));
    await turns();
  }
  backend.isPrompt = wasPrompt;
  const machine = await provider.get({ id });
  if (machine.state !== MachineState[to]) throw new Error(`machine ${id} is not ${to}`);
  return machine;
}
