// A capacity provider: the six calls of the contract over a backend and a store. Plain methods that take and return
// messages and throw `RpcError`; server.ts serves them over gRPC. Every decision is made synchronously, so calls for
// the same machine never interleave; then the call waits until the decision is durable in the store. Opened by the main
// program of a provider, and by the fake one (fake/fake-provider.ts).

import { excerpt, type HostRef, MachineState, stateName } from '../../model/index.ts';
import type { Clock } from '../../runtime/clock.ts';
import {
  type ConfigureRequest,
  type CreateRequest,
  type DeleteRequest,
  type DrainRequest,
  type ListFilter,
  type Machine,
  MachineList,
  type MachineRef,
  type TransitionAck,
} from '../../wire/gen/bigfleet/v1alpha1/provider.ts';
import { type FencingToken, type RpcError, status } from '../../wire/index.ts';
import type { Backend, Subject } from '../backend.ts';
import { QUOTA_SLOT } from './body.ts';
import { type Draft, Inventory, newDraft, unbound } from './inventory.ts';
import type { InventoryColumns } from './inventory-columns.ts';
import { MAX_ERROR_CHARACTERS } from './limits.ts';
import { Listing } from './listing.ts';
import { isHost, OfferingCheck, OfferingsError } from './offering-check.ts';
import { checkBinding, checkMachineId, readGrace, readToken, refusal } from './requests.ts';
import { type Ending, type RunningTransition, RunningTransitions } from './running-transitions.ts';
import type { Counters, Store, StoredState } from './store.ts';
import type { StoreWriter } from './store-writer.ts';
import {
  DEFAULT_TIMEOUTS_MS,
  TRANSITIONS,
  type TransitionKind,
  type TransitionTimeouts,
  transitionThrough,
} from './transitions.ts';

/** Settings of a provider, all with defaults. */
export interface ProviderOptions {
  readonly timeoutsMs?: Partial<TransitionTimeouts>;
  /** How long `describe` may take. Default 30 s. */
  readonly describeTimeoutMs?: number;
  /** Requires a zone on every offering even if only one zone is in use. Default false. */
  readonly requireZone?: boolean;
  /**
   * Prefix of operation ids; default `op-`. Set it if several providers share one account and pass ids on as client
   * tokens, and do not change it during the life of the store.
   */
  readonly operationPrefix?: string;
  /** Called when the store has failed: every further call is rejected, so the process should exit. */
  readonly onStoreFailure?: (error: unknown) => void;
}

/** What a provider is made of. */
export interface ProviderParts {
  readonly backend: Backend;
  readonly store: Store;
  readonly clock: Clock;
  readonly options?: ProviderOptions;
}

/** What is known of the host of a lost machine. */
export interface Loss {
  /** The host no longer exists. Default false: it may still exist and be billed. */
  readonly hostIsGone?: boolean | undefined;
}

/** Counts of one refresh. */
export interface Refreshed {
  readonly added: number;
  readonly changed: number;
  readonly unchanged: number;
}

/** Offerings processed before yielding to other calls; takes some milliseconds. */
const REFRESH_LOT = 2000;
const DEFAULT_DESCRIBE_TIMEOUT_MS = 30_000;

/** Arguments of a transition beyond the machine. */
interface TransitionArguments {
  readonly cluster: string;
  readonly metadata: ReadonlyMap<string, string>;
  readonly bootstrapBlob: Uint8Array;
  readonly graceSeconds: number;
}

const NO_ARGUMENTS: TransitionArguments = {
  cluster: '',
  metadata: new Map(),
  bootstrapBlob: new Uint8Array(),
  graceSeconds: 0,
};

interface Accepted {
  readonly ack: TransitionAck;
  /** null for a repetition of an accepted call. */
  readonly transition: RunningTransition | null;
}

type FencedRequest = Parameters<typeof readToken>[0] & { readonly machineId: string };

/** The six calls of a provider, List also as bytes. */
export type ProviderCalls = Pick<
  Provider,
  'create' | 'configure' | 'drain' | 'delete' | 'get' | 'list' | 'listBytes'
>;

/** A provider over a backend and a store: it fences, repeats, times out and recovers as the contract demands. */
export class Provider {
  readonly #backend: Backend;
  readonly #store: Store;
  readonly #clock: Clock;
  readonly #options: ProviderOptions;
  readonly #timeoutsMs: TransitionTimeouts;
  readonly #inventory: Inventory;
  readonly #records: InventoryColumns;
  readonly #writer: StoreWriter;
  readonly #running: RunningTransitions;
  readonly #listing: Listing;
  #refreshing: Promise<Refreshed> | null = null;
  #isClosed = false;

  private constructor(parts: ProviderParts, counters: Counters) {
    this.#backend = parts.backend;
    this.#store = parts.store;
    this.#clock = parts.clock;
    this.#options = parts.options ?? {};
    this.#timeoutsMs = { ...DEFAULT_TIMEOUTS_MS, ...this.#options.timeoutsMs };
    this.#inventory = new Inventory(parts.store, counters, (error) => this.#options.onStoreFailure?.(error));
    this.#records = this.#inventory.records;
    this.#writer = this.#inventory.writer;
    this.#running = new RunningTransitions(parts.clock, (transition, ending) =>
      this.#end(transition, ending),
    );
    this.#listing = new Listing(this.#records, counters.born);
  }

  /**
   * Loads the store, resumes or fails transitions that a crash interrupted, and loads the backend's description. If any of
   * that fails, the store is closed.
   */
  static async open(parts: ProviderParts): Promise<Provider> {
    try {
      const stored = await parts.store.load();
      const counters = stored.counters ?? { born: parts.clock.now(), revision: 0, operations: 0 };
      const provider = new Provider(parts, counters);
      const resumed = provider.#restore(stored);
      await provider.refresh();
      for (const transition of resumed) provider.#running.start(transition);
      return provider;
    } catch (error) {
      await parts.store.close();
      throw error;
    }
  }

  get machineCount(): number {
    return this.#records.count;
  }

  /** In-flight transitions. */
  get runningCount(): number {
    return this.#running.count;
  }

  create(request: CreateRequest): Promise<TransitionAck> {
    return this.#transition('create', request, () => NO_ARGUMENTS);
  }

  configure(request: ConfigureRequest): Promise<TransitionAck> {
    return this.#transition('configure', request, () => {
      checkBinding(request);
      const { clusterId: cluster, shardMetadata: metadata, bootstrapBlob } = request;
      return { ...NO_ARGUMENTS, cluster, metadata, bootstrapBlob };
    });
  }

  drain(request: DrainRequest): Promise<TransitionAck> {
    return this.#transition('drain', request, () => ({
      ...NO_ARGUMENTS,
      graceSeconds: readGrace(request.gracePeriodSeconds),
    }));
  }

  delete(request: DeleteRequest): Promise<TransitionAck> {
    return this.#transition('delete', request, () => NO_ARGUMENTS);
  }

  async get({ id }: MachineRef): Promise<Machine> {
    this.#check();
    checkMachineId(id, 'id');
    const slot = this.#records.slotOf(id);
    if (slot === undefined) throw unknownMachine(id);
    const machine = this.#records.machineOf(slot);
    await this.#writer.settled();
    return machine;
  }

  async list(filter: ListFilter): Promise<MachineList> {
    return MachineList.decode(await this.listBytes(filter));
  }

  /** `list` as the bytes of a `MachineList`, which costs a copy instead of an encoding. */
  async listBytes(filter: ListFilter): Promise<Buffer> {
    this.#check();
    const selection = this.#listing.select(filter, this.#inventory.revision);
    const list = await this.#listing.encode(selection, () => this.#giveWay());
    // A crash must not revert state that a reader has seen.
    await this.#writer.settled();
    return list;
  }

  /**
   * Calls `describe` again: adds new machines and updates prices, probabilities, sizes and labels; machines that are no
   * longer described stay. Rejects a description with any problem as a whole. A concurrent call joins the one in flight.
   */
  refresh(): Promise<Refreshed> {
    this.#refreshing ??= this.#refresh().finally(() => {
      this.#refreshing = null;
    });
    return this.#refreshing;
  }

  /**
   * Marks a machine that the backend found dead as Failed. False if it is unknown or Failed already. The record keeps its
   * host unless the host is gone: a shard counts a named host as billed.
   */
  async lose(machineId: string, reason: string, { hostIsGone = false }: Loss = {}): Promise<boolean> {
    this.#check();
    const slot = this.#records.slotOf(machineId);
    if (slot === undefined || this.#records.stateOf(slot) === MachineState.Failed) return false;
    const draft = newDraft();
    this.#running.drop(slot);
    this.#fail(slot, reason, draft, hostIsGone);
    this.#inventory.write(draft);
    await this.#writer.settled();
    return true;
  }

  /**
   * Recovers a Failed machine after a clean-up: Idle on this host, or a quota slot again (null). No call of the contract
   * leads out of Failed. False if the machine is unknown or not Failed.
   */
  async recover(machineId: string, host: HostRef | null): Promise<boolean> {
    this.#check();
    const slot = this.#records.slotOf(machineId);
    if (slot === undefined || this.#records.stateOf(slot) !== MachineState.Failed) return false;
    if (host !== null && !isHost(host)) throw new TypeError('a host needs a provider and a ref');
    const draft = newDraft();
    this.#inventory.move(slot, unbound(host), draft);
    this.#inventory.write(draft);
    await this.#writer.settled();
    return true;
  }

  /**
   * Rejects further calls, waits up to `waitMs` for in-flight transitions, and closes the store. Transitions that still
   * run are aborted, and count as interrupted at the next start.
   */
  async close(waitMs = 0): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    if (waitMs > 0) await this.#running.idle(waitMs);
    this.#running.dropAll();
    await this.#refreshing?.catch(() => {});
    await this.#writer.settled().catch(() => {});
    await this.#store.close();
  }

  #check(): void {
    if (this.#isClosed) throw refusal(status.UNAVAILABLE, 'BF_PROVIDER_STOPPED', 'It is going down.');
    this.#writer.check();
  }

  /** Checks run in the order of the contract. Only the fence changes state, and its mark stays if a later check fails. */
  async #transition(
    kind: TransitionKind,
    request: FencedRequest,
    readArguments: () => TransitionArguments,
  ): Promise<TransitionAck> {
    this.#check();
    checkMachineId(request.machineId, 'machine_id');
    if (kind === 'delete' && this.#backend.delete === undefined) {
      throw refusal(status.UNIMPLEMENTED, 'BF_PROVIDER_NO_DELETE', 'Hosts cannot be given back here.');
    }
    const token = readToken(request);
    const args = readArguments();
    const draft = newDraft();
    const slot = this.#records.slotOf(request.machineId);
    this.#fence(request.machineId, slot !== undefined, token, draft);
    const outcome =
      slot === undefined ? unknownMachine(request.machineId) : this.#decide(kind, slot, args, draft);
    this.#inventory.write(draft);
    await this.#writer.settled();
    if (outcome instanceof Error) throw outcome;
    if (outcome.transition !== null) this.#running.start(outcome.transition);
    return outcome.ack;
  }

  #fence(machine: string, isKnown: boolean, token: FencingToken | null, draft: Draft): void {
    if (token === null) return;
    const advance = this.#inventory.fences.pass(machine, isKnown, token);
    if ('heldBy' in advance) {
      const { epoch, sequence } = advance.heldBy;
      const detail = `Token (${token.epoch}, ${token.sequence}) is not newer than (${epoch}, ${sequence}).`;
      throw refusal(status.FAILED_PRECONDITION, 'BF_TOKEN_STALE', detail);
    }
    draft.marks.push(advance.mark);
    draft.forgottenMarks.push(...advance.forgotten);
  }

  #decide(kind: TransitionKind, slot: number, args: TransitionArguments, draft: Draft): Accepted | RpcError {
    const { from, via, to } = TRANSITIONS[kind];
    const state = this.#records.stateOf(slot);
    const known = this.#records.operationOf(slot, kind);
    if (known > 0 && (state === via || state === to))
      return { ack: this.#ack(known, slot), transition: null };
    if (state !== from) {
      const detail = `Cannot ${kind} a ${stateName(state)} machine; it must be ${stateName(from)}.`;
      return refusal(status.INTERNAL, 'BF_MOVE_ILLEGAL', detail, excerpt(this.#records.idOf(slot)));
    }
    const operation = this.#inventory.nextOperation();
    this.#records.setOperation(slot, kind, operation);
    const life = this.#records.lifeOf(slot);
    const { cluster, metadata, bootstrapBlob, graceSeconds } = args;
    this.#inventory.move(
      slot,
      kind === 'configure' ? { ...life, state: via, cluster, metadata } : { ...life, state: via },
      draft,
    );
    if (this.#backend.resumable === true) draft.flights.push({ slot, kind, graceSeconds, bootstrapBlob });
    return {
      ack: this.#ack(operation, slot),
      transition: this.#prepare(slot, kind, bootstrapBlob, graceSeconds),
    };
  }

  #ack(operation: number, slot: number): TransitionAck {
    return { operationId: this.#operationId(operation), machine: this.#records.machineOf(slot) };
  }

  #operationId(operation: number): string {
    return `${this.#options.operationPrefix ?? 'op-'}${operation}`;
  }

  #prepare(
    slot: number,
    kind: TransitionKind,
    bootstrapBlob: Uint8Array,
    graceSeconds: number,
  ): RunningTransition {
    const backend = this.#backend;
    const machine = this.#subject(slot);
    const transition: RunningTransition = this.#running.prepare({
      slot,
      kind,
      operationId: this.#operationId(this.#records.operationOf(slot, kind)),
      timeoutMs: this.#timeoutsMs[kind] + graceSeconds * 1000,
      work: async () => {
        const { operation } = transition;
        switch (kind) {
          case 'create':
            return backend.create(machine, operation);
          case 'configure':
            await backend.configure(machine, { cluster: machine.cluster, bootstrapBlob }, operation);
            return undefined;
          case 'drain':
            await backend.drain(machine, graceSeconds, operation);
            return undefined;
          case 'delete':
            await backend.delete!(machine, operation);
            return undefined;
        }
      },
    });
    return transition;
  }

  #subject(slot: number): Subject {
    const { id, instanceType, zone, capacityType, labels, host, cluster } = this.#records.machineOf(slot);
    return { id, instanceType, zone, capacityType, labels, host: host ?? null, cluster };
  }

  /** Applies the end of a transition: the machine reaches its target state, or is Failed. */
  #end({ slot, kind }: RunningTransition, ending: Ending): void {
    const draft = newDraft();
    if (!ending.ok) this.#fail(slot, ending.reason, draft);
    else if (kind === 'create' && (ending.host === undefined || !isHost(ending.host))) {
      this.#fail(slot, 'the backend created no host that can be named', draft);
    } else this.#settle(slot, kind, ending.host, draft);
    this.#inventory.write(draft);
  }

  #settle(slot: number, kind: TransitionKind, created: HostRef | undefined, draft: Draft): void {
    const life = this.#records.lifeOf(slot);
    const state = TRANSITIONS[kind].to;
    const bound = kind === 'configure' ? life : QUOTA_SLOT;
    const host = kind === 'delete' ? null : (created ?? life.host);
    this.#inventory.move(
      slot,
      { state, host, cluster: bound.cluster, metadata: bound.metadata, lastError: '' },
      draft,
    );
    if (this.#backend.resumable === true) draft.landed.push(slot);
  }

  #fail(slot: number, reason: string, draft: Draft, hostIsGone = false): void {
    const life = this.#records.lifeOf(slot);
    const host = hostIsGone ? null : life.host;
    const lastError = reason.slice(0, MAX_ERROR_CHARACTERS) || 'failed without a reason';
    this.#inventory.move(slot, { ...life, host, state: MachineState.Failed, lastError }, draft);
    if (this.#backend.resumable === true) draft.landed.push(slot);
  }

  /** Loads the state of the last process; repeats its in-flight transitions if the backend can resume, else fails them. */
  #restore(stored: StoredState): readonly RunningTransition[] {
    const draft = newDraft();
    this.#inventory.restore(stored, draft);
    const flights = new Map(Array.from(stored.flights, (flight) => [flight.slot, flight]));
    const resumed: RunningTransition[] = [];
    for (let slot = 0; slot < this.#records.count; slot++) {
      const kind = transitionThrough(this.#records.stateOf(slot));
      if (kind === undefined) continue;
      const flight = flights.get(slot);
      if (this.#backend.resumable === true && flight?.kind === kind) {
        resumed.push(this.#prepare(slot, kind, flight.bootstrapBlob, flight.graceSeconds));
      } else this.#fail(slot, `the provider was restarted in the middle of ${kind}`, draft);
    }
    this.#inventory.write(draft);
    return resumed;
  }

  async #refresh(): Promise<Refreshed> {
    const offerings = await this.#describe();
    const check = new OfferingCheck(offerings, this.#options.requireZone ?? false);
    await this.#inLots(offerings.length, (from, to) => check.check(from, to));
    if (check.problems.length > 0) throw new OfferingsError(check.problems);
    const outcomes = { added: 0, changed: 0, unchanged: 0 };
    await this.#inLots(offerings.length, (from, to) => {
      const draft = newDraft();
      for (const offering of offerings.slice(from, to)) outcomes[this.#inventory.upsert(offering, draft)]++;
      this.#inventory.write(draft);
      return this.#writer.settled();
    });
    return outcomes;
  }

  /** Processes `count` items in lots of `REFRESH_LOT` and yields to other calls in between. */
  async #inLots(count: number, handle: (from: number, to: number) => void | Promise<void>): Promise<void> {
    for (let from = 0; from < count && !this.#isClosed; from += REFRESH_LOT) {
      if (from > 0) await this.#giveWay();
      await handle(from, from + REFRESH_LOT);
    }
  }

  #giveWay(): Promise<void> {
    return new Promise((resolve) => this.#clock.after(0, resolve));
  }

  async #describe() {
    const timeoutMs = this.#options.describeTimeoutMs ?? DEFAULT_DESCRIBE_TIMEOUT_MS;
    const controller = new AbortController();
    const { promise: timeout, reject } = Promise.withResolvers<never>();
    const cancel = this.#clock.after(timeoutMs, () => {
      reject(new Error(`the backend did not describe itself within ${timeoutMs / 1000} s`));
      controller.abort();
    });
    try {
      return await Promise.race([this.#backend.describe(controller.signal), timeout]);
    } finally {
      cancel();
    }
  }
}

function unknownMachine(id: string): RpcError {
  return refusal(status.NOT_FOUND, 'BF_MACHINE_UNKNOWN', `There is no machine "${excerpt(id)}".`);
}
