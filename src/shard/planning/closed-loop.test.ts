// Engine, actuation, reconcile and the provider client against slow providers of the real kit, in one process on a virtual
// clock. Requests and answers get lost. For every seed, demand is met by exactly the machines it takes, excess machines
// are released, and the ledger agrees with the providers.

import { describe, expect, it } from 'vitest';
import { NEED, OTHER_NEED, Scene } from '../../../testing/support/actuation-scene.ts';
import { resources } from '../../../testing/support/fleets.ts';
import { Engine } from '../../engine/index.ts';
import {
  CapacityType,
  DEFAULT_SCORE_WEIGHTS,
  type HostRef,
  MachineState,
  type Need,
  UNSHARED_OPTIONS,
  wholeRollup,
} from '../../model/index.ts';
import {
  type Backend,
  InventoryReader,
  inProcess,
  MemoryStore,
  type Offering,
  OutOfStockError,
  Provider,
  type ProviderTransport,
} from '../../provider/index.ts';
import type { Clock } from '../../runtime/clock.ts';
import { Random } from '../../runtime/random.ts';
import { RpcError, status } from '../../wire/index.ts';
import type { ActuationEvent, Effect, ListEvent } from '../events.ts';
import { ProviderCalls, type ProviderEnd, shardClient } from '../process/provider-calls.ts';
import { MemoryMachines } from '../storage/controller-store-memory.ts';

const { Speculative, Idle, Configured } = MachineState;

/** Virtual clock that fires one timer at a time and lets all its consequences settle before the next. */
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
  /** Chance that a request is lost before it reaches the provider, and that an answer is lost. */
  readonly loss: number;
  /** Chance that an operator answers without a blob. */
  readonly refusal: number;
  /** Chance that an operator does not answer. */
  readonly silence: number;
}

const CALM: Weather = { loss: 0, refusal: 0, silence: 0 };
const STORM: Weather = { loss: 0.15, refusal: 0.3, silence: 0.2 };

/** A cloud in which every transition takes a few seconds. */
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

/** A shard over two clouds. `restart` kills it at any point; its durable store and the clouds survive. */
class World {
  readonly clock = new StepClock();
  readonly random: Random;
  readonly weather: Weather;
  readonly clouds: readonly (Backend & { creates: number })[];
  readonly #store = new MemoryMachines();
  readonly #providers = new Map<string, Provider>();
  readonly #wanted = new Map<string, Need>();
  scene!: Scene;
  #starts = 0;

  constructor(seed: number, weather: Weather) {
    this.random = new Random(seed);
    this.weather = weather;
    this.clouds = NAMES.map((name) => slowCloud(name, this.clock, this.random, 12));
  }

  async open(): Promise<this> {
    const { clock } = this;
    for (const [i, name] of NAMES.entries()) {
      const provider = await Provider.open({ backend: this.clouds[i]!, store: new MemoryStore(), clock });
      this.#providers.set(name, provider);
    }
    this.restart();
    return this;
  }

  restart(): void {
    const start = ++this.#starts;
    const isAlive = (): boolean => this.#starts === start;
    const handle = (event: ActuationEvent | ListEvent): void => {
      if (!isAlive() || !this.scene.requests.lets(event)) return;
      if (isListEvent(event)) this.scene.reconcile.handle(event);
      else this.scene.actuation.handle(event);
    };
    const sessions = new ProviderCalls(this.#ends(BigInt(start)), handle);
    const onEffect = (effect: Effect): void => {
      if (!isAlive()) return;
      if (effect.kind === 'call' || effect.kind === 'list') void sessions.carryOut(effect);
      const answer = this.#answerTo(effect);
      if (answer !== null && !this.random.chance(this.weather.silence))
        this.clock.after(200, () => handle(answer));
    };
    const { clock } = this;
    this.scene = new Scene({ clock, onEffect, providers: NAMES, store: this.#store }).open('c1', 'c2');
    for (const need of this.#wanted.values()) this.#report(need);
    const engine = new Engine(this.scene.ledger.fleet);
    const cycle = (): void => {
      if (!isAlive()) return;
      this.#cycle(engine);
      clock.after(1000, cycle);
    };
    clock.after(1000, cycle);
  }

  want(need: Need, machines: number): void {
    const amounts = { aggregate: resources({ cpu: machines * 4000 }), minUnit: resources({ cpu: 4000 }) };
    this.#wanted.set(need.cluster, { ...need, ...amounts });
    this.#report(this.#wanted.get(need.cluster)!);
  }

  /** Machines at the providers, with state and cluster. */
  async there(): Promise<readonly string[]> {
    const everything = { states: [], maxResults: 0, sinceRevision: new Uint8Array() };
    const lists = await Promise.all([...this.#providers.values()].map((it) => it.list(everything)));
    return lists.flatMap(({ machines }) => machines.map(textOf)).sort();
  }

  /** Machines in the ledger. */
  here(): readonly string[] {
    const { machines } = this.scene.ledger.fleet;
    return Array.from({ length: machines.size }, (_, slot) => textOf(machines.recordAt(slot))).sort();
  }

  #report(need: Need): void {
    this.scene.ledger.append({ kind: 'demand', delta: wholeRollup(need.cluster, [need]) });
  }

  #ends(epoch: bigint): ReadonlyMap<string, ProviderEnd> {
    const { clock, random, weather } = this;
    let sequence = 0n;
    const fence = { shardId: 'shard-0', epoch, nextSequence: () => ++sequence };
    const ends = new Map<string, ProviderEnd>();
    for (const [name, provider] of this.#providers) {
      const transport = lossy(inProcess(provider), clock, random, weather.loss);
      // One attempt per read as well, so that actuation has to handle every lost call.
      const client = shardClient({ transport, fence, clock, random, limits: { readAttempts: 1 } });
      const inventory = new InventoryReader({ listBytes: (query) => client.listBytes(query), seed: 1 });
      ends.set(name, { client, inventory });
    }
    return ends;
  }

  #answerTo(effect: Effect): ActuationEvent | null {
    if (effect.kind === 'instruct-reclaim') return { kind: 'reclaim-acked', instruction: effect.instruction };
    if (effect.kind !== 'ask-bootstrap') return null;
    const isRefused = this.random.chance(this.weather.refusal);
    const answer = { blob: isRefused ? null : Buffer.from('join'), error: isRefused ? 'cannot' : '' };
    return { kind: 'bootstrap-answered', request: effect.request, ttlSeconds: 600, ...answer };
  }

  #cycle(engine: Engine): void {
    const { ledger, machineFacts, actuation, reconcile } = this.scene;
    machineFacts.committed(ledger.commitMachines().writeRows());
    machineFacts.flush();
    // A decision on one provider's inventory would buy again what the other already has.
    if (!reconcile.isReady) return;
    const cannotBind = actuation.cannotBind(['c1', 'c2']);
    const releaseHoldSeconds = new Map([[CapacityType.OnDemand, 60]]);
    const weights = DEFAULT_SCORE_WEIGHTS;
    const always = { readyClusters: null, retiring: new Set<string>(), ...UNSHARED_OPTIONS };
    const options = { cannotBind, releaseHoldSeconds, weights, ...always };
    actuation.accept(engine.decide(this.clock.now(), options).actions());
  }
}

const NAMES = ['left', 'right'];

function isListEvent(event: ActuationEvent | ListEvent): event is ListEvent {
  return event.kind === 'list-changed' || event.kind === 'list-gone' || event.kind === 'list-ended';
}

function textOf({ id, state, cluster }: { id: string; state: number; cluster: string }): string {
  return `${id} ${state} ${cluster}`;
}

function count(machines: readonly string[], state: MachineState, cluster = ''): number {
  return machines.filter((text) => text.endsWith(` ${state} ${cluster}`)).length;
}

describe('a closed loop without faults', () => {
  it('given demand that grows and shrinks, then it buys exactly what is wanted, and returns exactly the rest', async () => {
    const world = await new World(1, CALM).open();
    const { clock, scene } = world;
    world.want(NEED, 5);
    world.want(OTHER_NEED, 3);
    await clock.advance(60_000);
    expect(count(await world.there(), Configured, 'c1')).toBe(5);
    expect(count(await world.there(), Configured, 'c2')).toBe(3);
    expect(world.clouds.reduce((sum, { creates }) => sum + creates, 0)).toBe(8);
    world.want(NEED, 2);
    await clock.advance(30_000);
    expect(count(await world.there(), Configured, 'c1')).toBe(2);
    expect(count(await world.there(), Idle)).toBe(3);
    await clock.advance(120_000);
    expect(count(await world.there(), Speculative)).toBe(19);
    expect(world.here()).toEqual(await world.there());
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

describe('a cloud that cannot create', () => {
  async function worldWhere(left: Error) {
    const world = await new World(1, CALM).open();
    world.clouds[0]!.create = () => Promise.reject(left);
    world.want(NEED, 4);
    await world.clock.advance(10_000);
    return { world, blocked: world.scene.actuation.blockedOfferings };
  }

  it.each(['none left', 'error 4711', 'quota exceeded'])(
    'given an OutOfStockError that says "%s", when the shard buys, then the offering is blocked as out of stock',
    async (message) => {
      const { world, blocked } = await worldWhere(new OutOfStockError(message));
      expect(blocked).toMatchObject([{ kind: 'out-of-stock', provider: 'left', why: message }]);
      expect(world.scene.ended[0]).toMatchObject({ outcome: 'stock_out' });
      await world.clock.advance(50_000);
      expect(count(await world.there(), Configured, 'c1')).toBe(4);
    },
  );

  it('given another error that mentions "no capacity", when the shard buys, then no offering is blocked', async () => {
    const { world, blocked } = await worldWhere(new Error('no capacity in the subnet for more addresses'));
    expect(blocked).toEqual([]);
    expect(world.scene.ended.map(({ outcome }) => outcome)).toContain('machine_failed');
    expect(world.scene.ended.map(({ outcome }) => outcome)).not.toContain('stock_out');
  });
});

describe('a closed loop with faults', () => {
  it.each([1, 2, 3, 4, 5, 6])(
    'given seed %i, then it ends in the expected state, and the ledger matches the clouds',
    async (seed) => {
      const world = await new World(seed, STORM).open();
      const { clock } = world;
      world.want(NEED, 5);
      world.want(OTHER_NEED, 3);
      await clock.advance(20 * 60_000);
      expect(count(await world.there(), Configured, 'c1')).toBe(5);
      expect(count(await world.there(), Configured, 'c2')).toBe(3);
      world.want(NEED, 1);
      await clock.advance(30 * 60_000);
      expect(count(await world.there(), Configured, 'c1')).toBe(1);
      expect(count(await world.there(), Speculative)).toBe(20);
      expect(world.here()).toEqual(await world.there());
      const { ids, withdrawn, needless } = world.scene.requests;
      expect(withdrawn).not.toEqual([]);
      expect([ids, needless]).toEqual([[], []]);
    },
  );
});

describe('a shard that is killed repeatedly', () => {
  it.each([1, 2, 3, 4, 5, 6])(
    'given seed %i, then it continues, and ends in the expected state',
    async (seed) => {
      const world = await new World(seed, { loss: 0.05, refusal: 0.1, silence: 0.1 }).open();
      const { clock, random } = world;
      world.want(NEED, 5);
      world.want(OTHER_NEED, 3);
      for (let i = 0; i < 8; i++) {
        await clock.advance(random.between(500, 9000));
        world.restart();
      }
      await clock.advance(10 * 60_000);
      expect(count(await world.there(), Configured, 'c1')).toBe(5);
      expect(count(await world.there(), Configured, 'c2')).toBe(3);
      expect(count(await world.there(), Speculative)).toBe(16);
      expect(world.here()).toEqual(await world.there());
      expect(world.scene.requests).toMatchObject({ ids: [], needless: [] });
    },
  );

  it('given no other faults, then nothing is bought twice', async () => {
    const world = await new World(3, CALM).open();
    world.want(NEED, 6);
    for (let i = 0; i < 10; i++) {
      await world.clock.advance(2500);
      world.restart();
    }
    await world.clock.advance(60_000);
    expect(count(await world.there(), Configured, 'c1')).toBe(6);
    expect(world.clouds.reduce((sum, { creates }) => sum + creates, 0)).toBe(6);
  });
});
