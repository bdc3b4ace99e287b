// Verdicts: the outcome of each original Need, and for an unmet one the reason, the row ahead of it, and the least
// extra supply that would have sufficed. Called by oracle.ts.

import {
  comparePrecedence,
  compareRank,
  compareText,
  type DomainCandidate,
  type FittingSupply,
  isBound,
  isZero,
  keyOf,
  keyText,
  type LedgerMachine,
  MachineState,
  type Need,
  type ResourceVector,
  subtract,
  type UnmetDetail,
  type UnmetReason,
  type Verdict,
} from '../../src/model/index.ts';
import { cappedParts, type Domain } from './domain.ts';
import {
  ascending,
  costFor,
  coversMinUnit,
  domainValue,
  fits,
  isFree,
  matches,
  type OracleState,
  type Row,
  type Slot,
} from './ledger.ts';
import { Shortage } from './shortage.ts';
import { unhostedMembers } from './solve.ts';
import { SpreadAccount } from './spread.ts';

/** One verdict per original Need, by rank. `rows` have been served, unhosted members included. */
export function verdictsOf(
  oracleState: OracleState,
  needs: readonly Need[],
  rows: readonly Row[],
): readonly Verdict[] {
  const servedBy = servingRows(rows);
  return [...needs]
    .sort(compareRank)
    .map((need) => verdictOf(oracleState, need, servedBy.get(keyText(keyOf(need)))!));
}

/** By the text of its key: the row that served each original Need. */
export function servingRows(rows: readonly Row[]): ReadonlyMap<string, Row> {
  const servedBy = new Map<string, Row>();
  for (const row of rows) {
    if (row.kind !== 'fold') servedBy.set(row.text, row);
    const hosted = row.members.length - unhostedMembers(row).length;
    for (const member of row.members.slice(0, hosted)) servedBy.set(keyText(keyOf(member)), row);
  }
  return servedBy;
}

function verdictOf(oracleState: OracleState, need: Need, row: Row): Verdict {
  const deficit = Shortage.of(row, row.claims).deficit();
  // The size of a row that is set aside is not known, so it has no deficit and is not satisfied.
  const satisfied = deficit.size === 0 && row.kind !== 'set-aside';
  const idsIn = (state: MachineState): readonly string[] =>
    row.canBind ? ids(row.claims.filter((slot) => slot.machine.state === state)) : [];
  return {
    key: keyOf(need),
    priority: need.profile.priority,
    foldedInto: row.kind === 'fold' ? row.key : null,
    satisfied,
    deficit,
    claimed: ids(row.claims),
    shares: row.shares.map(({ slot, amount }) => ({ machine: slot.id, amount })),
    bootstraps: idsIn(MachineState.Idle),
    provisions: idsIn(MachineState.Speculative),
    preempts: ids(row.picks),
    domain: row.domains[0]?.name ?? null,
    satisfiable: row.kind === 'gang' ? new Shortage(row, row.domains[0]?.counted ?? []).sumCovered : null,
    candidates: satisfied ? [] : bestDomains(row),
    unmet: satisfied ? null : unmetDetail(oracleState, row, deficit),
  };
}

const ids = (slots: readonly Slot[]): readonly string[] => slots.map((slot) => slot.id);

/** The best six domains a gang chose from: worstCoverage desc, name asc. */
function bestDomains(row: Row): readonly DomainCandidate[] {
  return row.domains
    .map((domain) => candidateOf(row, domain))
    .sort((a, b) => b.worstCoverage - a.worstCoverage || compareText(a.domain, b.domain))
    .slice(0, 6);
}

function candidateOf(row: Row, domain: Domain): DomainCandidate {
  const parts = cappedParts(row.aggregate, domain.counted).map(Number);
  return {
    domain: domain.name,
    coverage: parts.reduce((total, part) => total + part, 0),
    worstCoverage: Math.min(1_000_000, ...parts),
    satisfiable: domain.satisfiable,
  };
}

function unmetDetail(oracleState: OracleState, row: Row, deficit: ResourceVector): UnmetDetail {
  const matching = oracleState.slots.filter((slot) => matches(row, slot));
  const count = (state: MachineState): number =>
    matching.filter((slot) => slot.machine.state === state).length;
  return {
    reason: reasonOf(oracleState, row, matching),
    matching: {
      idle: count(MachineState.Idle),
      speculative: count(MachineState.Speculative),
      configured: count(MachineState.Configured),
    },
    fitting: fittingSupply(row, matching),
    blocker: row.kind === 'set-aside' ? null : (blockingRow(row, matching)?.key ?? null),
    extraSupply: row.kind === 'set-aside' || !row.canBind ? null : extraSupply(row, matching, deficit),
  };
}

function fittingSupply(row: Row, matching: readonly Slot[]): FittingSupply {
  const fitting = matching.filter((slot) => coversMinUnit(row, slot));
  const count = (is: (machine: LedgerMachine) => boolean): number =>
    fitting.filter(({ machine }) => is(machine)).length;
  return {
    total: fitting.length,
    failed: count(({ state }) => state === MachineState.Failed),
    blocked: fitting.filter(
      ({ machine: { state, blocked }, claimedBy }) =>
        blocked && claimedBy !== row && state !== MachineState.Failed && state !== MachineState.Deleting,
    ).length,
    deleting: count(({ state }) => state === MachineState.Deleting),
  };
}

/** The first that applies, in the order of the definition of UnmetReason. */
function reasonOf(oracleState: OracleState, row: Row, matching: readonly Slot[]): UnmetReason {
  const fitting = matching.filter((slot) => coversMinUnit(row, slot));
  if (row.kind === 'set-aside') return 'set-aside';
  if (row.coveredByDrains) return 'preempting';
  if (row.kind === 'gang' && !couldCover(row, fitting)) return 'topology-unsatisfiable';
  if (matching.length === 0) return 'no-matching-supply';
  if (fitting.length === 0) return 'no-fitting-supply';
  if (!row.canBind) return 'cluster-disconnected';
  if (row.isStopped) return 'spend-limit';
  if (row.picks.length > 0) return 'preemption-exhausted';
  if (row.spread !== undefined && skewForbidsAll(oracleState, row)) return 'spread-unsatisfiable';
  if (!couldCover(row, fitting)) return 'insufficient-supply';
  return largestObstacle(row, matching);
}

/** "The largest of the three groups; the first group counts only if it would be enough" (R86). */
function largestObstacle(row: Row, matching: readonly Slot[]): UnmetReason {
  const usable = usableFor(row, matching).filter((slot) => !slot.machine.blocked || slot.claimedBy === row);
  const { failed, blocked, deleting } = fittingSupply(row, matching);
  const unavailable = blocked + deleting;
  const claimedByOthers = usable.filter((slot) => slot.claimedBy !== row).length;
  if (couldCover(row, usable) && claimedByOthers >= failed && claimedByOthers >= unavailable) {
    const blocker = blockingRow(row, matching);
    if (blocker === null) return 'claimed-elsewhere';
    return comparePrecedence(blocker.profile, row.profile) > 0 ? 'priority-starved' : 'claimed-by-equals';
  }
  return failed >= unavailable ? 'supply-failed' : 'supply-blocked';
}

/** Whether all these machines would cover the row, whichever row claims them; a gang those of one domain. */
function couldCover(row: Row, slots: readonly Slot[]): boolean {
  if (row.kind !== 'gang') return new Shortage(row, slots).sumCovered;
  const names = new Set(slots.map((slot) => domainValue(slot, row.sameKey!)));
  return [...names].some((name) => {
    return new Shortage(
      row,
      slots.filter((slot) => domainValue(slot, row.sameKey!) === name),
    ).sumCovered;
  });
}

/** Machines that fit, but for those that are Failed or Deleting. */
function usableFor(row: Row, matching: readonly Slot[]): readonly Slot[] {
  return matching.filter(
    (slot) =>
      slot.machine.state !== MachineState.Failed &&
      slot.machine.state !== MachineState.Deleting &&
      coversMinUnit(row, slot),
  );
}

/** "Free fitting machines exist, all in domains that the skew forbids" (R80). */
function skewForbidsAll(oracleState: OracleState, row: Row): boolean {
  const account = new SpreadAccount(oracleState, row, row.claims);
  const short = new Shortage(row, row.claims);
  const free = oracleState.slots.filter(
    (slot) =>
      (slot.machine.state === MachineState.Idle || slot.machine.state === MachineState.Speculative) &&
      slot.claimedBy !== row &&
      isFree(row, slot) &&
      fits(row, slot) &&
      domainValue(slot, row.spread!.topologyKey) !== undefined,
  );
  return free.length > 0 && !free.some((slot) => account.passes(slot, short));
}

/**
 * The worst-ranked row ahead of this one that claims a machine this one could have used: fitting, not blocked, and either
 * bound to its cluster, Idle or Speculative.
 */
function blockingRow(row: Row, matching: readonly Slot[]): Row | null {
  let blocker: Row | null = null;
  for (const slot of matching) {
    const { state, cluster, blocked } = slot.machine;
    const holder = slot.claimedBy;
    if (holder === null || holder.turn >= row.turn || blocked || !coversMinUnit(row, slot)) continue;
    const usable = isBound(state)
      ? cluster === row.key.cluster
      : state === MachineState.Idle || state === MachineState.Speculative;
    if (usable && (blocker === null || holder.turn > blocker.turn)) blocker = holder;
  }
  return blocker;
}

/**
 * The number of machines like a known one that would suffice (fewest, then lowest effective cost, then id). A gang
 * needs them in its domain, if it has one.
 */
function extraSupply(
  row: Row,
  matching: readonly Slot[],
  deficit: ResourceVector,
): UnmetDetail['extraSupply'] {
  const domain = row.domains[0]?.name;
  const rest = restIn(row, deficit);
  const choices = matching
    .filter((slot) => coversMinUnit(row, slot))
    .filter((slot) => domain === undefined || domainValue(slot, row.sameKey!) === domain)
    .map((slot) => ({ slot, count: machinesToCover(rest, slot.offer) }))
    .filter(({ count }) => count < Number.POSITIVE_INFINITY)
    .sort(
      (a, b) =>
        a.count - b.count ||
        ascending(costFor(row, a.slot), costFor(row, b.slot)) ||
        compareText(a.slot.id, b.slot.id),
    );
  const best = choices[0];
  return best === undefined ? null : { count: best.count, like: best.slot.id };
}

/** What is missing; for a gang, beyond everything available in its domain (R77). */
function restIn(row: Row, deficit: ResourceVector): ResourceVector {
  const domain = row.domains[0];
  if (domain === undefined) return deficit;
  const rest = domain.counted.reduce((left, slot) => subtract(left, slot.offer), row.aggregate);
  return isZero(rest) ? deficit : rest;
}

/** ⌈deficit ÷ offer⌉ in the dimension that needs most; infinite where one is not offered at all. */
function machinesToCover(deficit: ResourceVector, offer: ResourceVector): number {
  let count = 0;
  for (const [name, units] of deficit) {
    if (units === 0) continue;
    const each = offer.get(name) ?? 0;
    if (each === 0) return Number.POSITIVE_INFINITY;
    const whole = (units - (units % each)) / each;
    count = Math.max(count, units % each === 0 ? whole : whole + 1);
  }
  return count;
}
