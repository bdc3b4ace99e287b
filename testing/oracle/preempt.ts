// Phase 2: rows still short after Phase 1 pick victims of strictly lower priority, in the order they were served, and share
// what victims will leave over. Nothing moves now; a victim drains and may be acquired by its row once it is Idle. Called
// by oracle.ts.

import {
  compareText,
  dollarsOfBucket,
  drainGraceSeconds,
  isBound,
  MachineState,
  RECLAIM_GRACE_SECONDS,
  victimScore,
} from '../../src/model/index.ts';
import { isPurchase } from './budgets.ts';
import { adoptableBy } from './coming.ts';
import {
  ascending,
  domainValue,
  drainingFor,
  fits,
  inFlight,
  isProtected,
  isReported,
  isWithinReach,
  type OracleState,
  type Row,
  type Slot,
} from './ledger.ts';
import { borrow, enterRemainders } from './remainders.ts';
import { Shortage } from './shortage.ts';
import { SpreadAccount } from './spread.ts';

/** Fills in `picks` and `coveredByDrains` of every unmet row; rows are in the order they were served. */
export function preemptFor(oracleState: OracleState, rows: readonly Row[]): void {
  for (const row of rows) {
    if (row.kind === 'fold' || row.kind === 'set-aside') continue;
    const isUnmet = !Shortage.of(row, row.claims).covered;
    if (row.kind === 'plain') preemptForSum(oracleState, row, isUnmet);
    else if (isUnmet) preemptForGang(oracleState, row);
  }
}

/**
 * E4: "turns in rank order for every lender that is unmet or has machines draining for it: (a) unmet borrowers use the second
 * list of their cluster, as E1a; (b) fitting machines draining for the row; (c) unmet rows pick; (d) what (b) and (c) have
 * beyond the want enters the second list, by price, id." With sharing off only (b) and (c) of unmet rows remain.
 */
function preemptForSum(oracleState: OracleState, row: Row, isUnmet: boolean): void {
  const short = Shortage.of(row, row.claims);
  // What is missing, at least one min_unit if that is missing: otherwise nothing of the machine for it would be kept (R98).
  if (row.borrows) {
    for (const { amount } of borrow(oracleState.secondList, row, short.deficit())) short.borrow(amount);
  }
  const want = short.deficit();
  const arriving = [...drainingFor(oracleState, row)];
  for (const slot of arriving) short.take(slot);
  if (isUnmet) {
    // "Pass step 2's spread test (claims, its Draining machines and earlier picks counted)."
    const had = [...row.claims, ...arriving];
    const account = row.spread === undefined ? null : new SpreadAccount(oracleState, row, had);
    const takeAll = (candidates: readonly Slot[], accept: (slot: Slot) => void): void => {
      const isLeft = (slot: Slot): boolean => slot.pickedBy === null && !arriving.includes(slot);
      while (!short.covered) {
        const next = candidates.find(
          (slot) => isLeft(slot) && short.adds(slot) && (account === null || account.passes(slot, short)),
        );
        if (next === undefined) return;
        accept(next);
        arriving.push(next);
        short.take(next);
        account?.add(next);
      }
    };
    if (row.lends)
      takeAll(adoptableBy(oracleState, row), (slot) => oracleState.retargets.set(slot.id, row.key));
    if (row.canBind) takeAll(victimsFor(oracleState, row), (slot) => pick(row, slot));
    row.coveredByDrains = short.covered;
  }
  if (row.lends) enterRemainders(oracleState.secondList, row, arriving, want);
}

/**
 * "A gang tries the domains in the order of step 1's keys, then those with victims only, by name, and picks in
 * the first that it completes; if none can be completed it picks nothing." The order is the one of its turn (R58).
 */
function preemptForGang(oracleState: OracleState, row: Row): void {
  const victims = row.canBind ? victimsFor(oracleState, row) : [];
  const chosenFrom = row.domains.map((domain) => domain.name);
  const victimsOnly = victims
    .map((slot) => domainValue(slot, row.sameKey!)!)
    .filter((name) => !chosenFrom.includes(name));
  for (const name of [...chosenFrom, ...[...new Set(victimsOnly)].sort(compareText)]) {
    const all = oracleState.slots.filter(
      (slot) => countsFirst(row, slot) && domainValue(slot, row.sameKey!) === name,
    );
    // It would need all of them, or it would need no victim (R114).
    const purchases = all.filter((slot) => isPurchase(slot) && slot.claimedBy === null);
    const mayBuy = oracleState.budgets.hasLeftFor(row.key.cluster, purchases);
    const first = mayBuy ? all : all.filter((slot) => !purchases.includes(slot));
    const short = new Shortage(row, first);
    const picks: Slot[] = [];
    for (const slot of victims) {
      if (short.covered) break;
      if (first.includes(slot) || domainValue(slot, row.sameKey!) !== name || !short.adds(slot)) continue;
      short.take(slot);
      picks.push(slot);
    }
    if (!short.covered) continue;
    for (const slot of picks) pick(row, slot);
    if (mayBuy && picks.length > 0) oracleState.budgets.reserve(row.key.cluster, purchases);
    row.coveredByDrains = true;
    return;
  }
}

/**
 * Creditable machines that no other row claims, machines Draining for the row, and Idle or Speculative machines **no
 * row claims** count first and are not victims. What an earlier row picked is in flight for that row.
 */
function countsFirst(row: Row, slot: Slot): boolean {
  const { state, cluster, blocked } = slot.machine;
  if (slot.pickedBy !== null || (slot.claimedBy !== null && slot.claimedBy !== row)) return false;
  if (slot.claimedBy === row) return true;
  const counts = isBound(state)
    ? cluster === row.key.cluster
    : !blocked &&
      (inFlight(row, slot, MachineState.Idle) ||
        inFlight(row, slot, MachineState.Creating) ||
        inFlight(row, slot, MachineState.Draining) ||
        (row.canBind &&
          isWithinReach(row, slot) &&
          (state === MachineState.Idle || state === MachineState.Speculative)));
  return counts && fits(row, slot);
}

function pick(row: Row, slot: Slot): void {
  slot.pickedBy = row;
  row.picks.push(slot);
}

/** "Unclaimed ones of reported clusters first (reason `phase2.excess`), then those that are not protected, then by score, id." */
function victimsFor(oracleState: OracleState, row: Row): readonly Slot[] {
  return oracleState.slots
    .filter((slot) => isVictim(oracleState, row, slot))
    .map((slot) => ({
      slot,
      claimed: isExcess(oracleState, slot) ? 0 : 1,
      guarded: isProtected(slot) ? 1 : 0,
      score: scoreOf(oracleState, row, slot),
    }))
    .sort(
      (a, b) =>
        a.claimed - b.claimed ||
        a.guarded - b.guarded ||
        ascending(b.score, a.score) ||
        compareText(a.slot.id, b.slot.id),
    )
    .map(({ slot }) => slot);
}

export function isExcess(oracleState: OracleState, slot: Slot): boolean {
  return slot.claimedBy === null && isReported(oracleState, slot.machine.cluster);
}

/** E5: a machine on hold "is a victim of any short row it fits, whatever its stamp". Without a hold there is none. */
function isHeldExcess(oracleState: OracleState, slot: Slot): boolean {
  return oracleState.options.reclaimHoldSeconds > 0 && isExcess(oracleState, slot);
}

/** "Grace by the same gap", from the priority that made it a victim; of a machine on hold the "grace of a reclaim". */
export function graceOf(oracleState: OracleState, row: Row, slot: Slot): number {
  if (isHeldExcess(oracleState, slot)) return RECLAIM_GRACE_SECONDS;
  return drainGraceSeconds(row.priority, victimPriority(slot)!);
}

function isVictim(oracleState: OracleState, row: Row, slot: Slot): boolean {
  const { state, blocked, cluster, stamp } = slot.machine;
  // Blocked machines could not be acquired once drained (R8). "No machine gets two actions in a cycle."
  if (state !== MachineState.Configured || blocked || slot.pickedBy !== null || slot.claimedBy === row)
    return false;
  // "A machine on hold is a victim of any row that it fits"; a protected one by its stamp only.
  if (isHeldExcess(oracleState, slot) && !isProtected(slot)) return fits(row, slot);
  // "Machines of a cluster that has not reported since start are victims only by a stamp" (R63).
  if (!isReported(oracleState, cluster)) {
    const stamped = stamp?.priority ?? null;
    if (stamped === null || stamped >= row.priority) return false;
  }
  const priority = victimPriority(slot);
  return priority !== null && priority < row.priority && fits(row, slot);
}

/**
 * The priority of the row that claims the machine this cycle, or of its stamp if no row does; null without a stamp: not
 * a victim.
 */
function victimPriority(slot: Slot): number | null {
  if (slot.claimedBy !== null) return slot.claimedBy.priority;
  return slot.machine.stamp?.priority ?? null;
}

/**
 * "The seed's formula; priority and penalties of the claimant, else the stamp's." With shares, "its two dollar figures are
 * each the largest of claimant and borrowers".
 */
function scoreOf(oracleState: OracleState, row: Row, slot: Slot): number {
  const { claimedBy, borrowers, machine } = slot;
  const users = claimedBy === null ? [] : [claimedBy, ...borrowers];
  const victim =
    claimedBy === null
      ? {
          interruptionDollars: machine.stamp?.interruptionPenaltyDollars ?? 0,
          reclamationDollars: machine.stamp?.reclamationPenaltyDollars ?? 0,
        }
      : {
          interruptionDollars: Math.max(
            ...users.map(({ profile }) => dollarsOfBucket(profile.interruptionBucket)),
          ),
          reclamationDollars: Math.max(
            ...users.map(({ profile }) => dollarsOfBucket(profile.reclamationBucket)),
          ),
        };
  return victimScore(
    row.priority,
    { ...victim, priority: victimPriority(slot) ?? row.priority, drainSeconds: machine.drainSeconds },
    oracleState.options.weights,
  );
}
