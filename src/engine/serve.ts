// Serving one row: credit what it has, then take what it lacks from the pools. This file holds what all kinds of rows
// share and the walk of plain rows and folds; strict spread and gangs have their own files.

import type { BoundRuns, Run } from '../fleet/index.ts';
import { MachineState } from '../model/index.ts';
import type { Cycle, GangView, Served, SpreadView } from './cycle.ts';
import type { ClassFilter } from './pool.ts';
import type { Turn } from './turns.ts';
import { Want } from './want.ts';

/** Claims of the turn being served. */
export class Serving {
  readonly cycle: Cycle;
  readonly turn: Turn;
  /** Number of the turn. */
  readonly number: number;
  readonly canBind: boolean;
  readonly claims: number[] = [];
  readonly acquired: number[] = [];
  #blocker = -1;

  constructor(cycle: Cycle, turn: Turn) {
    this.cycle = cycle;
    this.turn = turn;
    this.number = cycle.served.length;
    this.canBind = cycle.canBind(turn.cluster);
  }

  /** Counts a machine for the row. Idle and Speculative ones become actions where the cluster can take them. */
  claim(slot: number): void {
    const { cycle } = this;
    const { machines, patterns } = cycle.fleet;
    const classNumber = machines.classOf[slot]!;
    cycle.want.take(classNumber, patterns.patternOf(this.turn.pattern).fits(classNumber));
    this.claims.push(slot);
    const state = machines.state[slot]!;
    if ((state === MachineState.Idle || state === MachineState.Speculative) && this.canBind)
      this.acquired.push(slot);
    cycle.claimedBy[slot] = this.number + 1;
    cycle.pools.take(slot);
  }

  /** Remembers who was here first, for the verdict. Looked up before the row claims anything. */
  findBlocker(): void {
    const { cycle, turn } = this;
    const { classes, machines, patterns } = cycle.fleet;
    const pattern = patterns.patternOf(turn.pattern);
    let blocker = -1;
    for (let c = 0; c < classes.size; c++) {
      if (cycle.lastTakenBy[c]! > blocker && pattern.fits(c)) blocker = cycle.lastTakenBy[c]!;
    }
    for (const slot of boundSlots(cycle, turn.cluster)) {
      const by = cycle.claimedBy[slot]! - 1;
      if (
        by > blocker &&
        by < this.number &&
        machines.held[slot] === 0 &&
        pattern.fits(machines.classOf[slot]!)
      )
        blocker = by;
    }
    this.#blocker = blocker;
  }

  finish(parts: { readonly gang?: GangView; readonly spread?: SpreadView } = {}): Served {
    const { cycle, turn } = this;
    const { machines } = cycle.fleet;
    const covered = turn.kind === 'fold' || cycle.want.covered;
    if (!covered) this.findBlocker();
    for (const slot of this.claims) {
      const state = machines.state[slot]!;
      if (state === MachineState.Idle || state === MachineState.Speculative) {
        cycle.lastTakenBy[machines.classOf[slot]!] = this.number;
      }
    }
    const served: Served = {
      turn,
      claims: this.claims,
      acquired: this.acquired,
      covered,
      shortage: covered ? null : cycle.want.save(),
      deficit: covered ? null : cycle.want.deficit(),
      gang: parts.gang ?? null,
      spread: parts.spread ?? null,
      hosted: turn.members.length - (turn.kind === 'fold' ? cycle.want.gangsLeft : 0),
      blocker: this.#blocker,
    };
    cycle.served.push(served);
    return served;
  }
}

/** Every bound machine of a cluster, Configured ones first. */
export function* boundSlots(cycle: Cycle, cluster: number): Generator<number> {
  const { machines } = cycle.fleet;
  const bound = machines.boundOf(cluster);
  if (bound === undefined) return;
  for (const run of [bound.configured, bound.configuring]) {
    for (let i = run.offset; i < run.offset + run.length; i++) yield machines.arena.data[i]!;
  }
}

/** Whether a machine with another row's target may be taken: only for what is not already draining towards this row. */
export function beyondDrains(
  serving: Serving,
  drains: readonly number[],
): ((classNumber: number) => boolean) | null {
  if (drains.length === 0) return null;
  const { cycle, turn } = serving;
  const { machines } = cycle.fleet;
  return (classNumber) => {
    const rest = new Want(cycle.fleet);
    if (turn.kind === 'fold') rest.beginFold(turn.row, cycle.want.gangsLeft);
    else rest.restore(turn.row, cycle.want.save());
    for (const slot of drains) rest.take(machines.classOf[slot]!, true);
    return rest.adds(classNumber, true);
  };
}

/** Takes free machines in pool order until the row is covered or the pools have nothing more for it. */
export function acquire(serving: Serving, allowed: ClassFilter | null, drains: readonly number[]): void {
  const { cycle, turn } = serving;
  const { pools, want } = cycle;
  const mayTakeTargeted = beyondDrains(serving, drains);
  const dollars = cycle.fleet.demand.profiles.entryOf(turn.profile).interruptionDollars;
  while (!want.covered) {
    const slot = pools.nextIdle(turn.pattern, want, turn.key, allowed, mayTakeTargeted);
    if (slot === -1) break;
    serving.claim(slot);
  }
  while (!want.covered) {
    const slot = pools.nextSpeculative(turn.pattern, want, dollars, allowed);
    if (slot === -1) break;
    serving.claim(slot);
  }
}

/** Serves a plain row without strict spread, or a fold. */
export function servePlain(cycle: Cycle, turn: Turn): Served {
  const serving = new Serving(cycle, turn);
  const { want } = cycle;
  if (turn.kind === 'fold') want.beginFold(turn.row, turn.members.length);
  else want.beginRow(turn.row);
  const bound = cycle.fleet.machines.boundOf(turn.cluster);

  if (bound !== undefined) creditBound(serving, bound, 'mine');
  creditInFlight(serving);
  if (bound !== undefined) creditBound(serving, bound, 'others');
  if (serving.canBind && !want.covered) acquire(serving, null, cycle.drainingFor(turn, true));
  return serving.finish();
}

/** Bound machines of the row and of nobody, or of other live rows; a machine for the largest pod before all others. */
function creditBound(
  serving: Serving,
  { configured, configuring }: BoundRuns,
  whose: 'mine' | 'others',
): void {
  if (serving.cycle.want.unitMissing && !walk(serving, configured, whose, true)) {
    walk(serving, configuring, whose, true);
  }
  walk(serving, configured, whose, false);
  walk(serving, configuring, whose, false);
}

function creditInFlight(serving: Serving): void {
  const { cycle, turn } = serving;
  const { machines } = cycle.fleet;
  const { idle, creating } = cycle.inFlight(turn, true);
  for (const slot of [...idle, ...creating]) {
    if (cycle.want.covered) return;
    if (cycle.want.adds(machines.classOf[slot]!, true)) serving.claim(slot);
  }
}

/**
 * Walks one bound run in keep order: machines of the row and of nobody ("mine", its own first at equal price), or of
 * other live rows. Claims what adds until the sum is covered; with `firstUnit` only the first machine that holds the
 * largest pod. Says whether it claimed anything.
 */
function walk(serving: Serving, run: Run, whose: 'mine' | 'others', firstUnit: boolean): boolean {
  const { cycle, turn } = serving;
  const { want } = cycle;
  const { classes, machines, patterns } = cycle.fleet;
  const pattern = patterns.patternOf(turn.pattern);
  const slots = machines.arena.data;
  const end = run.offset + run.length;
  let claimed = false;
  let from = run.offset;
  while (from < end && (firstUnit || !want.sumCovered)) {
    // One price at a time: within it the row's own machines come before those of nobody.
    const price = classes.price[machines.classOf[slots[from]!]!]!;
    let to = from + 1;
    while (to < end && classes.price[machines.classOf[slots[to]!]!] === price) to++;
    for (const own of whose === 'mine' ? [true, false] : [false]) {
      for (let i = from; i < to && (firstUnit || !want.sumCovered); i++) {
        const slot = slots[i]!;
        if (cycle.claimedBy[slot] !== 0) continue;
        const classNumber = machines.classOf[slot]!;
        if (!pattern.matches(classNumber)) continue;
        const fits = pattern.fits(classNumber);
        if (!fits && (firstUnit || turn.kind === 'fold')) continue;
        if (whose === 'mine') {
          if (cycle.isOwn(slot, turn.key) !== own || cycle.isAnothers(slot, turn.key)) continue;
        } else if (!cycle.isAnothers(slot, turn.key)) continue;
        if (!want.adds(classNumber, fits)) continue;
        serving.claim(slot);
        claimed = true;
        if (firstUnit) return true;
      }
    }
    from = to;
  }
  return claimed;
}
