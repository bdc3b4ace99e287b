// Engine, actuation, reconcile and the provider client against providers of the real kit, in one process on a virtual
// clock: slow, and with calls that get lost on either way. Whatever the seed, demand is met by exactly what it takes,
// what is not needed is given back, and the ledger says what the providers say.

import { describe, expect, it } from 'vitest';
import { resources } from '../../../test/fleets.ts';
import { Engine } from '../../engine/index.ts';
import {
  CapacityType,
  type Clock,
  DEFAULT_SCORE_WEIGHTS,
  type HostRef,
  MachineState,
  type Need,
  Random,
} from '../../model/index.ts';
import {
  type Backend,
  InventoryReader,
  inProcess,
  MemoryStore,
  type Offering,
  Provider,
  ProviderClient,
  type ProviderTransport,
} from '../../provider/index.ts';
import { RpcError, status } from '../../wire/index.ts';
import type { BrainEvent, Effect } from '../events.ts';
import { ProviderHands } from '../hands/provider-hands.ts';
import { NEED, OTHER_NEED, Scene } from './testkit.ts';

const { Speculative, Idle, Configured } = MachineState;

/** Time that moves when told, one timer at a time, with everything that follows from each before the next. */
class StepClock implements Clock {
  #now = 1_000_000;
  #number = 0;
  readonly #timers = new Map<number, { readonly at: number; readonly run: () => void }>();

  now(): number {
    return this.#now;
  }

  after(ms: number, run: () => void): () => void {
    const number = ++this.#number;
    this.#timers.set(number, { at: this.#now + Math.max(0, ms), run });
    return () => this.#timers.delete(number);
  }

  async advance(ms: number): Promise<void> {
    const until = this.#now + ms;
    for (;;) {
      await turn();
      const [next] = [...this.#timers].sort(([a, x], [b, y]) => x.at - y.at || a - b);
      if (next === undefined || next[1].at > until) break;
      this.#timers.delete(next[0]);
      this.#now = next[1].at;
      next[1].run();
    }
    this.#now = until;
  }
}

async function turn(): Promise<void> {
  for (let i = 0; i < 2; i++) await new Promise((resolve) => setImmediate(resolve));
}

interface Weather {
  /** Chance that a call is lost before the provider hears of it, and that an answer is lost. */
  readonly loss: number;
  /** Chance that an operator renders no blob. */
  readonly refusal: number;
}

const CALM: Weather = { loss: 0, refusal: 0 };
const STORM: Weather = { loss: 0.15, refusal: 0.3 };

/** A cloud in which everything takes a few seconds. */
function slowCloud(name: string, clock: Clock, random: Random, count: number): Backend & { creates: number } {
  const wait = (leastMs: number, mostMs: number): Promise<void> =>
    new Promise((resolve) => clock.after(random.between(leastMs, mostMs), resolve));
  const offer = (id: string): Offering => ({
    ...{ id, instanceType: 'standard', zone: 'za', capacityType: CapacityType.OnDemand, pricePerHour: 1 },
    ...{ interruptionProbability: 0, labels: new Map(), host: null },
    resources: resources({ cpu: 4000 }),
    allocatable: resources({ cpu: 4000 }),
  });
  const cloud = {
    creates: 0,
    describe: () => Promise.resolve(Array.from({ length: count }, (_, i) => offer(`${name}-${i}`))),
    create: async ({ id }: { readonly id: string }): Promise<HostRef> => {
      cloud.creates++;
      await wait(1000, 6000);
      return { provider: name, ref: `host-of-${id}` };
    },
    configure: () => wait(500, 4000),
    drain: () => wait(1000, 8000),
    delete: () => wait(500, 2000),
  };
  return cloud;
}

function lossy(transport: ProviderTransport, clock: Clock, random: Random, loss: number): ProviderTransport {
  const lost = (): never => {
    throw new RpcError(status.UNAVAILABLE, 'lost on the way');
  };
  const through = async <T>(call: () => Promise<T>): Promise<T> => {
    await new Promise<void>((resolve) => clock.after(random.between(1, 800), resolve));
    if (random.chance(loss)) lost();
    const answer = await call();
    return random.chance(loss) ? lost() : answer;
  };
  return {
    create: (request, limits) => through(() => transport.create(request, limits)),
    configure: (request, limits) => through(() => transport.configure(request, limits)),
    drain: (request, limits) => through(() => transport.drain(request, limits)),
    delete: (request, limits) => through(() => transport.delete(request, limits)),
    get: (request, limits) => through(() => transport.get(request, limits)),
    list: (request, limits) => through(() => transport.list(request, limits)),
    close: () => {},
  };
}

async function world(seed: number, weather: Weather) {
  const clock = new StepClock();
  const random = new Random(seed);
  const clouds = ['left', 'right'].map((name) => ({ name, cloud: slowCloud(name, clock, random, 12) }));
  const ends = new Map();
  const providers: Provider[] = [];
  let sequence = 0n;
  for (const { name, cloud } of clouds) {
    const provider = await Provider.open({ backend: cloud, store: new MemoryStore(), clock });
    providers.push(provider);
    const transport = lossy(inProcess(provider), clock, random, weather.loss);
    const fence = { shardId: 'shard-0', epoch: 1n, nextSequence: () => ++sequence };
    // One attempt per call: what is lost is for actuation to find out.
    const client = new ProviderClient({ transport, fence, clock, random, limits: { attempts: 1 } });
    const listBytes: ConstructorParameters<typeof InventoryReader>[0]['listBytes'] = (query) =>
      client.listBytes(query);
    ends.set(name, { client, inventory: new InventoryReader({ listBytes, seed }) });
  }
  let handle: (event: BrainEvent) => void = () => {};
  const hands = new ProviderHands(ends, (event) => handle(event));
  const onEffect = (effect: Effect): void => {
    if (effect.kind === 'call' || effect.kind === 'list') void hands.carryOut(effect);
    if (effect.kind !== 'ask-bootstrap') return;
    const isRefused = random.chance(weather.refusal);
    const answer = { blob: isRefused ? null : Buffer.from('join'), error: isRefused ? 'cannot' : '' };
    clock.after(200, () =>
      handle({ kind: 'bootstrap-answered', request: effect.request, ttlSeconds: 600, ...answer }),
    );
  };
  const scene = new Scene({ clock, onEffect, providers: ['left', 'right'] }).open('c1', 'c2');
  handle = (event) =>
    event.kind === 'list-changed' || event.kind === 'list-gone' || event.kind === 'list-ended'
      ? scene.reconcile.handle(event)
      : scene.actuation.handle(event);
  const engine = new Engine(scene.book.fleet);
  const cycle = (): void => {
    scene.memory.frozen(scene.book.freeze());
    scene.memory.flush();
    const { actuation } = scene;
    const cannotBind = actuation.cannotBind(['c1', 'c2']);
    const releaseHoldSeconds = new Map([[CapacityType.OnDemand, 60]]);
    const options = { readyClusters: null, cannotBind, releaseHoldSeconds, weights: DEFAULT_SCORE_WEIGHTS };
    actuation.accept(engine.decide(clock.now(), options).actions());
    clock.after(1000, cycle);
  };
  clock.after(1000, cycle);
  const want = (need: Need, machines: number): void => {
    const amounts = { aggregate: resources({ cpu: machines * 4000 }), minUnit: resources({ cpu: 4000 }) };
    scene.book.append({ kind: 'demand', cluster: need.cluster, needs: [{ ...need, ...amounts }] });
  };
  /** Machines at the providers by state and cluster. */
  const there = async (): Promise<readonly string[]> => {
    const lists = await Promise.all(
      providers.map((it) => it.list({ states: [], maxResults: 0, sinceRevision: new Uint8Array() })),
    );
    const machines = lists.flatMap((list) => list.machines);
    return machines.map(({ id, state, cluster }) => `${id} ${state} ${cluster}`).sort();
  };
  const here = (): readonly string[] => {
    const { machines } = scene.book.fleet;
    const slots = Array.from({ length: machines.size }, (_, slot) => machines.recordAt(slot));
    return slots.map(({ id, state, cluster }) => `${id} ${state} ${cluster}`).sort();
  };
  return { clock, scene, want, there, here, clouds };
}

function count(machines: readonly string[], state: MachineState, cluster = ''): number {
  return machines.filter((text) => text.endsWith(` ${state} ${cluster}`)).length;
}

describe('on a calm day', () => {
  it('buys exactly what is wanted, gives exactly the rest back, and buys nothing in between', async () => {
    const { clock, want, there, here, clouds, scene } = await world(1, CALM);
    want(NEED, 5);
    want(OTHER_NEED, 3);
    await clock.advance(60_000);
    expect(count(await there(), Configured, 'c1')).toBe(5);
    expect(count(await there(), Configured, 'c2')).toBe(3);
    expect(clouds.reduce((sum, { cloud }) => sum + cloud.creates, 0)).toBe(8);
    want(NEED, 2);
    await clock.advance(30_000);
    expect(count(await there(), Configured, 'c1')).toBe(2);
    expect(count(await there(), Idle)).toBe(3);
    await clock.advance(120_000);
    expect(count(await there(), Speculative)).toBe(19);
    expect(here()).toEqual(await there());
    expect(scene.ended.every(({ outcome }) => outcome === 'success')).toBe(true);
    const kinds = Object.groupBy(scene.ended, ({ kind }) => kind);
    expect(Object.entries(kinds).map(([kind, all]) => [kind, all.length])).toEqual([
      ['Provision', 8],
      ['Bootstrap', 8],
      ['Reclaim', 3],
      ['Delete', 3],
    ]);
  });
});

describe('in a storm', () => {
  it.each([1, 2, 3, 4, 5, 6])('seed %i: ends where it should, and the ledger is true', async (seed) => {
    const { clock, want, there, here } = await world(seed, STORM);
    want(NEED, 5);
    want(OTHER_NEED, 3);
    await clock.advance(20 * 60_000);
    expect(count(await there(), Configured, 'c1')).toBe(5);
    expect(count(await there(), Configured, 'c2')).toBe(3);
    want(NEED, 1);
    await clock.advance(30 * 60_000);
    expect(count(await there(), Configured, 'c1')).toBe(1);
    expect(count(await there(), Speculative)).toBe(20);
    expect(here()).toEqual(await there());
  });
});
