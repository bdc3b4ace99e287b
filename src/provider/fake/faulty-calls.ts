// Injects transport faults between a caller and a provider. fake-provider.ts wraps the six calls of the kit with it, so
// a shard in the same process sees the same faults as one behind a port. As on a real network, UNAVAILABLE does not
// tell the caller whether the call ran.

import { status } from '@grpc/grpc-js';
import type { Clock } from '../../runtime/clock.ts';
import type { Random } from '../../runtime/random.ts';
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
import { RpcError } from '../../wire/index.ts';
import type { ProviderCalls } from '../kit/provider.ts';
import { type Draws, logNormal, uniform } from './draws.ts';
import type { FakeSettings } from './settings.ts';
import { sleep } from './sleep.ts';

const METHODS = ['create', 'configure', 'drain', 'delete', 'get', 'list'] as const;
type Method = (typeof METHODS)[number];

/** The faults that a fake provider injects between caller and provider. */
export const TRANSPORT_FAULTS = [
  'unavailable',
  'lostReply',
  'duplicate',
  'reorder',
  'slow',
  'hang',
  'throttle',
  'partialList',
] as const;
/** One of `TRANSPORT_FAULTS`. */
export type TransportFault = (typeof TRANSPORT_FAULTS)[number];

const DELAY_SPREAD = 0.6;

export interface FaultyCallsParts {
  readonly calls: ProviderCalls;
  readonly clock: Clock;
  readonly draws: Draws;
  readonly settings: () => FakeSettings['transport'];
}

export class FaultyCalls implements ProviderCalls {
  readonly #calls: ProviderCalls;
  readonly #clock: Clock;
  readonly #draws: Draws;
  readonly #settings: () => FakeSettings['transport'];
  readonly #end = new AbortController();
  readonly #made = new Map<Method, number>();
  readonly #faults = new Map<TransportFault, number>();
  /** Token bucket for `callsPerSecond`, refilled on each call. */
  #allowance = Number.POSITIVE_INFINITY;
  #allowedAtMs = 0;

  constructor({ calls, clock, draws, settings }: FaultyCallsParts) {
    this.#calls = calls;
    this.#clock = clock;
    this.#draws = draws;
    this.#settings = settings;
  }

  /** Calls received, and faults injected by kind. */
  get counts(): Readonly<Record<'calls' | TransportFault, number>> {
    const faults = TRANSPORT_FAULTS.map((fault) => [fault, this.#faults.get(fault) ?? 0] as const);
    const calls = [...this.#made.values()].reduce((sum, count) => sum + count, 0);
    return { calls, ...(Object.fromEntries(faults) as Record<TransportFault, number>) };
  }

  /** Ends every wait: delayed and hanging calls reject with UNAVAILABLE. */
  cutOff(): void {
    this.#end.abort();
  }

  create(request: CreateRequest): Promise<TransitionAck> {
    return this.#pass('create', () => this.#calls.create(request));
  }

  configure(request: ConfigureRequest): Promise<TransitionAck> {
    return this.#pass('configure', () => this.#calls.configure(request));
  }

  drain(request: DrainRequest): Promise<TransitionAck> {
    return this.#pass('drain', () => this.#calls.drain(request));
  }

  delete(request: DeleteRequest): Promise<TransitionAck> {
    return this.#pass('delete', () => this.#calls.delete(request));
  }

  get(request: MachineRef): Promise<Machine> {
    return this.#pass('get', () => this.#calls.get(request));
  }

  list(filter: ListFilter): Promise<MachineList> {
    return this.#pass('list', (random) => this.#maybePartial(random, this.#calls.list(filter)));
  }

  listBytes(filter: ListFilter): Promise<Buffer> {
    return this.#pass('list', async (random) => {
      const whole = this.#calls.listBytes(filter);
      if (!random.chance(this.#settings().partialList)) return await whole;
      const part = this.#partial(random, MachineList.decode(await whole));
      return Buffer.from(MachineList.encode(part).finish());
    });
  }

  async #pass<T>(method: Method, call: (random: Random) => Promise<T>): Promise<T> {
    const settings = this.#settings();
    const number = this.#made.get(method) ?? 0;
    this.#made.set(method, number + 1);
    const random = this.#draws.stream('call', METHODS.indexOf(method), number);
    const faults = drawFaults(random, settings);
    if (settings.delayMs > 0) await this.#wait(faults.delayMs);
    if (faults.isReordered) await this.#delay('reorder', faults.reorderDelayMs);
    if (faults.isThrottled || !this.#isAllowed(settings.callsPerSecond)) {
      this.#count('throttle');
      throw new RpcError(status.RESOURCE_EXHAUSTED, 'too many calls; try again later');
    }
    if (faults.isUnavailable) {
      this.#count('unavailable');
      throw new RpcError(status.UNAVAILABLE, 'connection refused');
    }
    if (faults.hangs) {
      if (faults.isMadeBeforeHang) call(random).catch(ignore);
      await this.#delay('hang', settings.hangMs);
      throw new RpcError(status.UNAVAILABLE, 'connection timed out');
    }
    return await this.#answer(faults, () => call(random));
  }

  /** Runs the call and applies the faults drawn for its answer. */
  async #answer<T>(faults: CallFaults, call: () => Promise<T>): Promise<T> {
    const answer = call();
    if (faults.isDuplicated) {
      this.#count('duplicate');
      void answer.catch(ignore).then(() => call().catch(ignore));
    }
    if (faults.isSlow) {
      await answer.catch(ignore);
      await this.#delay('slow', faults.slowMs);
    }
    if (!faults.isLost) return await answer;
    this.#count('lostReply');
    await answer.catch(ignore);
    throw new RpcError(status.UNAVAILABLE, 'connection reset');
  }

  async #maybePartial(random: Random, answer: Promise<MachineList>): Promise<MachineList> {
    const list = await answer;
    return random.chance(this.#settings().partialList) ? this.#partial(random, list) : list;
  }

  /** A random subset of the records, possibly empty, under the revision of the complete list. */
  #partial(random: Random, list: MachineList): MachineList {
    this.#count('partialList');
    const share = uniform(random);
    return { ...list, machines: list.machines.filter(() => random.chance(share)) };
  }

  #isAllowed(perSecond: number): boolean {
    if (perSecond === 0) return true;
    const now = this.#clock.now();
    const earned = ((now - this.#allowedAtMs) / 1000) * perSecond;
    this.#allowance = Math.min(Math.max(1, perSecond), this.#allowance + earned);
    this.#allowedAtMs = now;
    if (this.#allowance < 1) return false;
    this.#allowance--;
    return true;
  }

  #count(fault: TransportFault): void {
    this.#faults.set(fault, (this.#faults.get(fault) ?? 0) + 1);
  }

  async #delay(fault: TransportFault, ms: number): Promise<void> {
    this.#count(fault);
    await this.#wait(ms);
  }

  async #wait(ms: number): Promise<void> {
    try {
      await sleep(this.#clock, ms, this.#end.signal);
    } catch {
      throw new RpcError(status.UNAVAILABLE, 'the provider went away');
    }
  }
}

/** All draws are always made, so that changing one rate does not shift the random stream of the others. */
function drawFaults(random: Random, settings: FakeSettings['transport']) {
  return {
    delayMs: logNormal(random, settings.delayMs, DELAY_SPREAD),
    reorderDelayMs: uniform(random) * settings.reorderMs,
    slowMs: logNormal(random, settings.slowMs, DELAY_SPREAD),
    isMadeBeforeHang: random.chance(0.5),
    isThrottled: random.chance(settings.throttle),
    isUnavailable: random.chance(settings.unavailable),
    isReordered: random.chance(settings.reorder),
    hangs: random.chance(settings.hang),
    isDuplicated: random.chance(settings.duplicate),
    isSlow: random.chance(settings.slow),
    isLost: random.chance(settings.lostReply),
  };
}
type CallFaults = ReturnType<typeof drawFaults>;

function ignore(): void {}
