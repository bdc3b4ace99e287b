// The network between the processes of a world. Calls and frames have latency; a request or its response may be lost,
// duplicated or delayed, and a provider may be unreachable. Messages sent by a process before it died still arrive.
// Made by world.ts.

import type { ProviderCalls, ProviderTransport } from '../../src/provider/index.ts';
import type { Clock } from '../../src/runtime/clock.ts';
import type { Random } from '../../src/runtime/random.ts';
import { MachineList } from '../../src/wire/gen/bigfleet/v1alpha1/provider.ts';
import { RpcError, status } from '../../src/wire/index.ts';
import type { Weather } from './plan.ts';

/** The same latencies and reordering, without loss or duplicates. */
export function calm(weather: Weather): Weather {
  return {
    ...weather,
    lostCalls: 0,
    lostAnswers: 0,
    doubled: 0,
    blocked: weather.blocked,
    heldMs: 800,
    partialLists: 0,
    stalls: 0,
  };
}

export class Network {
  weather: Weather;
  /** Providers that are unreachable. */
  readonly cutOff = new Set<string>();
  readonly #clock: Clock;
  readonly #random: Random;

  constructor(clock: Clock, random: Random, weather: Weather) {
    this.#clock = clock;
    this.#random = random;
    this.weather = weather;
  }

  /** Transit time of the next frame of a session. */
  frameMs(): number {
    const stall = this.#random.chance(this.weather.stalls) ? this.#random.below(5000) : 0;
    return this.#delayMs() + stall;
  }

  /** The transport to a provider; `callee` returns null while the provider's process is down. */
  transport(name: string, callee: () => ProviderCalls | null): ProviderTransport {
    const send = <T>(call: (calls: ProviderCalls) => Promise<T>): Promise<T> =>
      this.#send(name, () => {
        const calls = callee();
        return calls === null ? Promise.reject(unavailable('connection refused')) : call(calls);
      });
    return {
      create: (request) => send((calls) => calls.create(request)),
      configure: (request) => send((calls) => calls.configure(request)),
      drain: (request) => send((calls) => calls.drain(request)),
      delete: (request) => send((calls) => calls.delete(request)),
      get: (request) => send((calls) => calls.get(request)),
      list: (request) =>
        send(async (calls) => {
          const bytes = await calls.listBytes(request);
          return this.#random.chance(this.weather.partialLists) ? this.#part(bytes) : bytes;
        }),
      close: () => {},
    };
  }

  async #send<T>(name: string, arrive: () => Promise<T>): Promise<T> {
    const { weather } = this;
    const random = this.#random;
    const isBlocked = random.chance(weather.blocked);
    await this.#wait(this.#delayMs() + (isBlocked ? random.below(weather.heldMs) : 0));
    if (this.cutOff.has(name) || random.chance(weather.lostCalls)) await this.#lose();
    const answer = arrive();
    if (random.chance(weather.doubled)) {
      this.#clock.after(random.below(weather.heldMs), () => {
        if (!this.cutOff.has(name)) arrive().catch(() => {});
      });
    }
    const isLost = random.chance(weather.lostAnswers);
    await answer.catch(() => {});
    await this.#wait(this.#delayMs());
    if (isLost || this.cutOff.has(name)) await this.#lose();
    return await answer;
  }

  /** With probability `weather.silent` the caller receives no error and waits for its own timeout. */
  async #lose(): Promise<never> {
    if (this.#random.chance(this.weather.silent)) return await new Promise<never>(() => {});
    throw unavailable('connection reset');
  }

  /** A random subset of the records, possibly empty. */
  #part(bytes: Uint8Array): Uint8Array {
    const list = MachineList.decode(bytes);
    const machines = list.machines.filter(() => this.#random.chance(0.5));
    return MachineList.encode({ ...list, machines }).finish();
  }

  #delayMs(): number {
    return this.#random.below(this.weather.delayMs * 2);
  }

  #wait(ms: number): Promise<void> {
    return new Promise((resolve) => this.#clock.after(ms, resolve));
  }
}

function unavailable(why: string): RpcError {
  return new RpcError(status.UNAVAILABLE, why);
}
