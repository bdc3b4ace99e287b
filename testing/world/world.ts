// A whole fleet in one process: clusters, a shard that crashes and restarts, providers with their clouds, and the
// network between them, on one virtual clock. First a storm with all faults of the plan, then calm, in which the fleet
// must come to rest, then a tail in which every action is counted. Run by soak.ts and world.test.ts.

import { CapacityType, MachineState, stateName } from '../../src/model/index.ts';
import { Random } from '../../src/runtime/random.ts';
import { VirtualClock } from '../../src/runtime/virtual-clock.ts';
import { type FreezeScope, freezeId, type MachineView } from '../../src/shard/index.ts';
import { SimCluster } from './cluster.ts';
import type { InvariantName } from './invariant-names.ts';
import { typeOf, type Violation, Watch } from './invariants.ts';
import { calm, Network } from './network.ts';
import type { WorldEvent, WorldPlan } from './plan.ts';
import { providerName, ShardProcess } from './shard-process.ts';
import { claimsInVain, riskierThan, rowsOf } from './shares.ts';
import { CALM_CLOUD, HOLD_SECONDS, offered, SimProvider } from './sim-provider.ts';
import { Disk } from './stores.ts';
import { Trace } from './trace.ts';

export interface WorldResult {
  readonly violations: readonly Violation[];
  readonly digest: string;
  /** Virtual time that passed. */
  readonly lastedMs: number;
  readonly renewals: Watch['renewals'];
}

export interface WorldOptions {
  /** Receives every line of the trace. */
  readonly onLine?: (line: string) => void;
}

const START_MS = 1_000_000;
/** Interval between checks of the world. */
const STEP_MS = 1000;
/** A world is at rest when nothing has started for this time, which is longer than any hold or back-off. */
const REST_MS = 32_000;
/** A hanging drain fails after its grace period of ten minutes. */
const LONGEST_UNREST_MS = 900_000;
/** How long the shard is down when it gets the waits of production at calm. */
const RENEWAL_DOWN_MS = 1000;
/** From calm to the end of the next full List, which repairs the effect of partial Lists. */
const CATCH_UP_MS = 15_000;
/** From the end of a hold to the release: covers the List, the cycle and the call. */
const RELEASE_MS = 10_000;
const QUIET_MS = 22_000;
/**
 * Number of reads of the ledger, one second apart. A new price reaches it after the next List and the next cycle, at
 * most 1.5 s each, plus the latency of the calls; a price is valid for 7 s.
 */
const LEDGER_READS = 7;
/** Of a blank restart: how long the shard is down, and when the operator goes silent. */
const BLANK_DOWN_MS = 300;
const BLANK_REPORT_MS = 3500;
const TAIL = '-tail-';
const TAIL_DOWN_MS = 3000;

export async function runWorld(plan: WorldPlan, options: WorldOptions = {}): Promise<WorldResult> {
  return await new World(plan, options).run();
}

class World {
  readonly #plan: WorldPlan;
  readonly #clock = new VirtualClock(START_MS);
  readonly #random: Random;
  readonly #trace: Trace;
  readonly #watch: Watch;
  readonly #network: Network;
  readonly #providers: readonly SimProvider[];
  readonly #clusters: readonly SimCluster[];
  readonly #disk = new Disk();
  #epoch = 0n;
  #shard: ShardProcess | null = null;
  /** Ends of temporary faults; those still active at calm are ended then. */
  readonly #spells = new Set<() => void>();
  #isCalm = false;
  /** Time of the last disturbance. */
  #calmMs = 0;

  constructor(plan: WorldPlan, { onLine }: WorldOptions) {
    this.#plan = plan;
    const { seed } = plan;
    this.#random = new Random(seed, 0x3072d);
    this.#trace = new Trace(this.#clock, onLine ?? null);
    this.#watch = new Watch(this.#clock, this.#trace);
    this.#network = new Network(this.#clock, new Random(seed, 0x3073d), plan.weather);
    this.#providers = plan.machines.map(
      (machines, i) =>
        new SimProvider({
          ...{ name: providerName(i), seed: seed + i, machines, hasTail: i === 0 },
          ...{ clock: this.#clock, weather: plan.clouds, watch: this.#watch },
        }),
    );
    this.#clusters = plan.clusters.map((cluster, i) => this.#newCluster(cluster, i));
  }

  async run(): Promise<WorldResult> {
    try {
      await this.#live();
    } catch (error) {
      this.#watch.fail(
        'no-exception',
        error instanceof Error ? (error.stack ?? error.message) : String(error),
      );
    }
    const { renewals, violations } = this.#watch;
    const lastedMs = this.#clock.now() - START_MS;
    return { violations, digest: this.#trace.digest(), lastedMs, renewals };
  }

  async #live(): Promise<void> {
    for (const simProvider of this.#providers) await this.#clock.until(simProvider.open());
    this.#startShard();
    for (const cluster of this.#clusters) cluster.start();
    for (const event of this.#plan.events) this.#clock.after(event.atMs, () => this.#inject(event));
    if (!(await this.#pass(this.#plan.stormMs))) return;
    this.#calmDown();
    const { weather, fullListMs } = this.#plan;
    const catchUpMs = weather.partialLists > 0 ? fullListMs + CATCH_UP_MS : 0;
    if (!(await this.#pass(catchUpMs)) || !(await this.#rest())) return;
    await this.#checkRest();
    const before = { ...this.#watch.begun };
    const shared = this.#sharedMachines();
    if (!(await this.#pass(QUIET_MS))) return;
    // A row gives up its share of a machine whose risk has become worse than its price, and may buy in its place.
    const isRiskier = riskierThan(shared, this.#sharedMachines());
    if (!isRiskier) this.#check('quiet-when-constant', before, this.#watch.begun);
    await this.#countTail();
  }

  /** Advances the clock; returns false as soon as an invariant is violated. */
  async #pass(ms: number): Promise<boolean> {
    for (let left = ms; left > 0 && this.#isFine; left -= STEP_MS)
      await this.#clock.advance(Math.min(STEP_MS, left));
    return this.#isFine;
  }

  get #isFine(): boolean {
    return this.#watch.violations.length === 0;
  }

  /** Waits until the world is at rest. */
  async #rest(): Promise<boolean> {
    const sinceMs = this.#clock.now();
    for (;;) {
      if (!(await this.#pass(STEP_MS))) return false;
      const nowMs = this.#clock.now();
      if (nowMs - Math.max(this.#watch.lastActionMs, this.#calmMs) >= REST_MS && this.#isStill) return true;
      if (nowMs - sinceMs < LONGEST_UNREST_MS) continue;
      const moving = [...this.#watch.machines.values()].filter(({ state }) => !isStable(state));
      const texts = moving.map(({ id, state }) => `${id} ${stateName(state)}`);
      this.#watch.fail('settles', `still at work after ${LONGEST_UNREST_MS / 1000} s: ${texts.join(', ')}`);
      return false;
    }
  }

  /** Interruption probability ÷ price of the machines that rows share, by row and machine. */
  #sharedMachines(): ReadonlyMap<string, number> {
    const { controller } = this.#shard!.controller;
    const risks = new Map(
      controller
        .ask('machines', { where: {}, limit: 100_000 })
        .items.map(({ id, interruptionProbability, pricePerHour }) => [
          id,
          interruptionProbability / pricePerHour,
        ]),
    );
    const found = new Map<string, number>();
    for (const { name } of this.#clusters)
      for (const { id, shares } of rowsOf(this.#shard!.controller, name))
        for (const { machine } of shares) found.set(`${id} ${machine}`, risks.get(machine) ?? 0);
    // Machines that are no longer shared keep their place, with their risk now.
    for (const [machine, risk] of risks) found.set(machine, risk);
    return found;
  }

  /** No transition is in flight, no release is due, and no machine is about to be given back. */
  get #isStill(): boolean {
    const nowMs = this.#clock.now();
    if (this.#isHolding || this.#isDraining) return false;
    return [...this.#watch.machines.values()].every(({ id, state, idleSinceMs }) => {
      const holdMs = (HOLD_SECONDS.get(typeOf(id)) ?? 0) * 1000;
      const isDue = idleSinceMs !== null && holdMs > 0 && nowMs - idleSinceMs < holdMs + RELEASE_MS;
      return isStable(state) && !isDue;
    });
  }

  /** Whether a machine is on hold and leaves its cluster once the hold and the guardrails allow it. */
  get #isHolding(): boolean {
    if (this.#plan.shared === null) return false;
    const ask = { where: { state: 'CONFIGURED' }, limit: 100_000 };
    const { items } = this.#shard!.controller.controller.ask('machines', ask);
    return items.some(({ unclaimed }) => unclaimed !== null && unclaimed.waitsFor !== 'needs');
  }

  /** Whether a drain waits for its cluster, or was withdrawn a short while ago and comes again. */
  get #isDraining(): boolean {
    const ask = { where: {}, limit: 100_000 };
    const { items } = this.#shard!.controller.controller.ask('machines', ask);
    return items.some(({ drain, protectedUntilMs }) => drain !== null || protectedUntilMs !== null);
  }

  // ---- faults

  #inject(event: WorldEvent): void {
    if (this.#isCalm) return;
    const { forMs, target } = event;
    const simProvider = this.#providers[target % this.#providers.length]!;
    const cluster = this.#clusters[target % this.#clusters.length]!;
    this.#trace.note(`EVENT ${JSON.stringify(event)}`);
    switch (event.kind) {
      case 'crash':
        this.#crash(event.atWrite, event.isWritten, forMs);
        break;
      case 'twin':
        this.#twin(event.keepsSessions, forMs);
        break;
      case 'provider-restart':
        this.#restartProvider(simProvider, forMs);
        break;
      case 'provider-outage':
        this.#network.cutOff.add(simProvider.name);
        this.#spell(forMs, () => this.#network.cutOff.delete(simProvider.name));
        break;
      case 'stream-break':
        cluster.operator.drop();
        break;
      case 'operator-restart':
        cluster.restart();
        break;
      case 'operator-silence':
        cluster.stop();
        this.#spell(forMs, () => cluster.start());
        break;
      case 'no-blobs':
        cluster.setBootstrap(
          event.habit === 'ignore' ? { kind: 'ignore' } : { kind: 'refuse', error: 'not now' },
        );
        this.#spell(forMs, () => cluster.setBootstrap({ kind: 'answer' }));
        break;
      case 'demand':
        if (cluster.rows.length > 0) cluster.want(event.row, event.machines);
        break;
      case 'collapse':
        this.#collapse(cluster, forMs);
        break;
      case 'blank-restart':
        this.#crash(0, false, BLANK_DOWN_MS);
        this.#collapse(cluster, forMs);
        this.#clock.after(BLANK_REPORT_MS, () => {
          if (!this.#isCalm) cluster.stop();
        });
        this.#spell(forMs, () => cluster.start());
        break;
      case 'malformed':
        cluster.breakNext(event.how);
        break;
      case 'freeze':
        void this.#freeze({ cluster: event.isCluster ? cluster.name : null, action: event.action }, forMs);
        break;
      case 'interruption': {
        const which = { count: event.count, ...(event.isSpot ? { offering: 'spot' } : {}) };
        if (event.isSpot) simProvider.provider?.cloud.interrupt(which);
        else simProvider.provider?.cloud.kill(which);
        break;
      }
      case 'stock-out':
        for (const name of ['std', 'spot']) simProvider.provider?.cloud.stockOut(name, forMs);
        break;
      case 'stop':
        this.#stop(forMs);
        break;
      case 'controller-behind':
        this.#shard?.fallBehind(forMs);
        break;
      case 'squall': {
        const { weather } = this.#network;
        this.#network.weather = { ...weather, lostCalls: 0.3, lostAnswers: 0.3, doubled: 0.2, blocked: 0.3 };
        this.#spell(forMs, () => {
          this.#network.weather = this.#isCalm ? calm(this.#plan.weather) : this.#plan.weather;
        });
        break;
      }
    }
  }

  /** A fault that ends after `ms`, or at calm. */
  #spell(ms: number, end: () => void): void {
    const once = (): void => {
      if (this.#spells.delete(once)) end();
    };
    this.#spells.add(once);
    this.#clock.after(ms, once);
  }

  #collapse(cluster: SimCluster, forMs: number): void {
    this.#watch.collapses(
      cluster.name,
      cluster.rows.filter(({ machines }) => machines > 0).length,
      () => cluster.rollupsSent,
    );
    cluster.collapse(true);
    this.#spell(forMs, () => {
      cluster.collapse(false);
      this.#watch.recovers(cluster.name);
    });
  }

  async #freeze(scope: FreezeScope, forMs: number): Promise<void> {
    const shard = this.#shard;
    const facade = shard?.facade ?? null;
    if (shard === null || facade === null) return;
    const { isDone } = await facade.order({ kind: 'freeze', scope, who: 'sim', why: 'drawn' });
    if (!isDone) return;
    // A shard that died during this write has acknowledged nothing, but the write may be durable.
    if (shard.isAlive) this.#watch.frozen(scope);
    this.#spell(forMs, () => this.#unfreeze(freezeId(scope)));
  }

  /** Retries every second until a live shard has received the order. */
  #unfreeze(id: string): void {
    this.#watch.unfreezing(id);
    const shard = this.#shard;
    if (shard !== null && shard.facade !== null) {
      void shard.facade.order({ kind: 'unfreeze', id, who: 'sim' });
      if (shard.isAlive) return;
    }
    this.#clock.after(1000, () => this.#unfreeze(id));
  }

  #crash(atWrite: number, isWritten: boolean, downMs: number): void {
    const shard = this.#shard;
    if (shard === null || !shard.isAlive) return;
    const died = (): void => {
      this.#trace.note('shard dies');
      this.#clock.after(downMs, () => this.#startShard());
    };
    if (atWrite > 0) {
      shard.killAtWrite(atWrite, isWritten, died);
      return;
    }
    shard.kill();
    died();
  }

  #stop(downMs: number): void {
    const shard = this.#shard;
    if (shard === null || shard.sessions === null) return;
    shard.stop(() => {
      this.#trace.note('shard has stopped');
      // Unless another process has replaced it in the meantime.
      if (this.#shard === shard) this.#clock.after(downMs, () => this.#startShard());
    });
  }

  #twin(keepsSessions: boolean, forMs: number): void {
    const old = this.#shard;
    if (old === null || !old.isAlive) return;
    old.isolate(keepsSessions);
    this.#startShard();
    this.#spell(forMs, () => old.kill());
  }

  #startShard(): void {
    const { plan, clock, random, disk } = {
      plan: this.#plan,
      clock: this.#clock,
      random: this.#random,
      disk: this.#disk,
    };
    const transports = new Map(
      this.#providers.map((simProvider) => [
        simProvider.name,
        this.#network.transport(simProvider.name, () => simProvider.calls),
      ]),
    );
    const epoch = ++this.#epoch;
    const shard = new ShardProcess({
      ...{ epoch, plan, clock, random, disk, transports, watch: this.#watch },
      isCalm: this.#isCalm,
    });
    this.#shard = shard;
    const stored = [...disk.controller.machines.load()];
    this.#watch.started(
      shard,
      stored.flatMap(({ drain }) => drain ?? []),
      disk.controller.drainReporters.drainReporters(),
    );
    shard.start().catch((error: unknown) => this.#watch.fail('no-exception', String(error)));
  }

  #restartProvider(simProvider: SimProvider, downMs: number): void {
    if (simProvider.provider === null) return;
    const open = (): void => {
      simProvider.open().then(
        () => {
          if (this.#isCalm) simProvider.set(CALM_CLOUD);
        },
        (error: unknown) => this.#watch.fail('no-exception', String(error)),
      );
    };
    void simProvider.close().then(() => this.#clock.after(downMs, open));
  }

  #newCluster(plan: WorldPlan['clusters'][number], number: number): SimCluster {
    return new SimCluster({
      plan,
      clock: this.#clock,
      random: new Random(this.#plan.seed, 0x3074d, number),
      frameMs: () => this.#network.frameMs(),
      sessions: () => this.#shard?.sessions ?? null,
      connected: (epoch) => this.#watch.connected(plan.name, epoch),
    });
  }

  // ---- calm

  #calmDown(): void {
    this.#trace.note('calm');
    this.#isCalm = true;
    this.#calmMs = this.#clock.now();
    this.#shard?.killAtWrite(0, false, () => {});
    this.#network.weather = calm(this.#plan.weather);
    for (const end of [...this.#spells]) end();
    for (const simProvider of this.#providers) simProvider.set(CALM_CLOUD);
    for (const cluster of this.#clusters) cluster.wantAsPlanned();
    // As prices change for ever, a process that replaces machines within seconds would never rest.
    if (this.#plan.renewal !== null) this.#crash(0, false, RENEWAL_DOWN_MS);
  }

  async #checkRest(): Promise<void> {
    const controller = this.#shard!.controller.controller;
    const ledger = controller.ask('machines', { where: { withForgotten: true }, limit: 100_000 }).items;
    const known = new Map(ledger.map((machine) => [machine.id, machine]));
    for (const simProvider of this.#providers) this.#checkHosts(simProvider, known);
    // Before the ledger is compared, which takes time: a price that changes meanwhile may begin another hold.
    this.#checkIdle();
    this.#checkKept();
    await this.#checkLedger();
    for (const id of known.keys())
      if (!this.#watch.machines.has(id)) this.#watch.fail('known-machines', `${id} is no provider's`);
    this.#checkClusters();
    const unmet = controller.ask('needs', { onlyUnmet: true, limit: 100 }).items;
    const plain = unmet.filter((need) => this.#isPlain(need.cluster, need.group));
    for (const { id, reason } of plain) this.#watch.fail('demand-is-met', `${id} is unmet: ${reason}`);
    const requests = this.#watch.openRequestsOf(this.#shard!);
    if (requests.length > 0)
      this.#watch.fail('no-open-requests', `${requests.length} are open: ${requests.join(', ')}`);
    const busy = ledger.filter(({ action }) => action !== null);
    if (busy.length > 0) this.#watch.fail('no-open-requests', `${busy[0]!.id} still has an action`);
  }

  /**
   * Prices keep changing, at each provider at its own times, so there may be no moment at which the whole ledger is
   * current. Every machine has to match in at least one of the reads.
   */
  async #checkLedger(): Promise<void> {
    let late = await this.#differences();
    for (let read = 1; late.size > 0; read++) {
      if (read === LEDGER_READS) {
        this.#watch.fail('ledger-equals-provider', [...late.values()].join('; '));
        return;
      }
      if (!(await this.#pass(STEP_MS))) return;
      const now = await this.#differences();
      late = new Map([...now].filter(([id]) => late.has(id)));
    }
  }

  /** By machine: the provider's record and the ledger's, where they differ. */
  async #differences(): Promise<ReadonlyMap<string, string>> {
    const ask = { where: { withForgotten: true }, limit: 100_000 };
    const { items } = this.#shard!.controller.controller.ask('machines', ask);
    const known = new Map(items.map((machine) => [machine.id, machine]));
    const filter = { states: [], maxResults: 0, sinceRevision: new Uint8Array() };
    const differences = new Map<string, string>();
    for (const { provider } of this.#providers) {
      const { machines } = await this.#clock.until(provider!.kit.list(filter));
      for (const { id, state, cluster, pricePerHour } of machines) {
        const here = known.get(id);
        const there = `${stateName(state as MachineState).toUpperCase()} ${cluster} at ${pricePerHour}`;
        const text = here === undefined ? 'nothing' : `${here.state} ${here.cluster} at ${here.pricePerHour}`;
        if (text !== there) differences.set(id, `${id} is ${there}, the ledger says ${text}`);
      }
    }
    return differences;
  }

  #checkHosts(simProvider: SimProvider, known: ReadonlyMap<string, MachineView>): void {
    for (const id of simProvider.provider!.cloud.machinesWithHost) {
      const state = known.get(id)?.state;
      if (state === undefined || state === 'SPECULATIVE')
        this.#watch.fail('hosts-on-record', `${id} has a host; the ledger says ${state}`);
    }
  }

  #checkIdle(): void {
    for (const { id, idleSinceMs } of this.#watch.machines.values()) {
      const hold = HOLD_SECONDS.get(typeOf(id));
      if (hold === undefined || idleSinceMs === null) continue;
      this.#watch.fail('nothing-idle', `${id} has been Idle for ${this.#clock.now() - idleSinceMs} ms`);
    }
  }

  /** A row that is unmet keeps all machines of its cluster that it matches. */
  #checkKept(): void {
    for (const { name } of this.#clusters) {
      const rows = rowsOf(this.#shard!.controller, name);
      const claimed = new Set(rows.flatMap((row) => row.claimed));
      const kept = [...this.#watch.machines.values()].find(
        ({ id, state, cluster }) => state === MachineState.Configured && cluster === name && !claimed.has(id),
      );
      if (kept !== undefined && rows.every(({ isMet }) => isMet))
        this.#watch.fail('nothing-beyond-hold', `${kept.id} is kept in ${name}, and no row claims it`);
      const isGeneral = (id: string): boolean => typeOf(id) !== CapacityType.Spot && !id.includes(TAIL);
      const inVain = this.#plan.shared === null ? null : claimsInVain(rows, offered, isGeneral);
      if (inVain !== null) this.#watch.fail('nothing-beyond-hold', `${name}: ${inVain}`);
    }
  }

  #checkClusters(): void {
    for (const { name, operator } of this.#clusters) {
      const truths = [...this.#watch.machines.values()];
      const serving = truths.filter(
        ({ state, cluster }) => state === MachineState.Configured && cluster === name,
      );
      const nodes = [...operator.nodes.values()].filter(({ state }) => state === MachineState.Configured);
      const has = serving.map(({ id }) => id).sort();
      const known = nodes.map(({ machine }) => machine).sort();
      if (nodes.length !== operator.nodes.size || has.join() !== known.join())
        this.#watch.fail(
          'clusters-know',
          `${name} has ${has.join(' ')} and knows ${[...operator.nodes.keys()].join(' ')}`,
        );
    }
  }

  #isPlain(cluster: string, group: string): boolean {
    const rows = this.#clusters.find(({ name }) => name === cluster)?.rows ?? [];
    return group === '' || rows.some((row) => row.group === group && row.kind === 'plain');
  }

  // ---- the tail

  /** Demand for machines of the tail pool: rises once, then a second cluster of higher priority wants all of them. */
  async #countTail(): Promise<void> {
    const [first, second] = this.#clusters;
    const all = [...this.#watch.machines.keys()].filter((id) => id.includes(TAIL)).length;
    const rise = Math.min(this.#plan.rise, all);
    const none = { create: 0, configure: 0, drain: 0, delete: 0 };
    this.#check('quiet-when-constant', none, this.#watch.acceptedOn(TAIL));
    this.#calmMs = this.#clock.now();
    first!.wantTail(100, rise);
    if (!(await this.#rest())) return;
    let bought = rise;
    this.#check(
      'exact-acquisition',
      { ...none, create: bought, configure: bought },
      this.#watch.acceptedOn(TAIL),
    );
    if (this.#plan.hasTailLoss && rise < all) {
      this.#calmMs = this.#clock.now();
      this.#providers[0]!.provider!.cloud.kill({ offering: 'tail', cluster: first!.name, count: 1 });
      if (!(await this.#rest())) return;
      bought++;
      this.#check(
        'exact-replacement',
        { ...none, create: bought, configure: bought },
        this.#watch.acceptedOn(TAIL),
      );
    }
    this.#calmMs = this.#clock.now();
    second!.wantTail(900_000, all);
    const { tailCrashMs } = this.#plan;
    if (tailCrashMs !== null) this.#clock.after(tailCrashMs, () => this.#crash(0, false, TAIL_DOWN_MS));
    if (!(await this.#rest())) return;
    this.#check(
      'exact-preemption',
      { create: bought + all - rise, configure: bought + all, drain: rise, delete: 0 },
      this.#watch.acceptedOn(TAIL),
    );
  }

  #check(name: InvariantName, expected: object, found: object): void {
    const [wanted, got] = [JSON.stringify(expected), JSON.stringify(found)];
    if (wanted !== got) this.#watch.fail(name, `expected ${wanted}, found ${got}`);
  }
}

function isStable(state: MachineState): boolean {
  const { Speculative, Idle, Configured } = MachineState;
  return state === Speculative || state === Idle || state === Configured;
}
