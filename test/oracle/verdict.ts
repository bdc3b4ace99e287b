// Verdicts: what became of each original Need, and for an unmet one why, who stands in front of it, and how
// little more would have been enough.

import {
  compareRank,
  compareText,
  type DomainCandidate,
  isBound,
  isZero,
  keyOf,
  keyText,
  MachineState,
  type Need,
  type NeedKey,
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
  type Row,
  type Slot,
  type World,
} from './ledger.ts';
import { Shortage } from './shortage.ts';
import { unhostedMembers } from './solve.ts';
import { SpreadAccount } from './spread.ts';

/** One verdict per original Need, by rank. `rows` had their turns, unhosted members included. */
export function verdictsOf(world: World, needs: readonly Need[], rows: readonly Row[]): readonly Verdict[] {
  const servedBy = new Map<string, Row>();
  for (const row of rows) {
    if (row.kind !== 'fold') servedBy.set(row.text, row);
    const hosted = row.members.length - unhostedMembers(row).length;
    for (const member of row.members.slice(0, hosted)) servedBy.set(keyText(keyOf(member)), row);
  }
  return [...needs]
    .sort(compareRank)
    .map((need) => verdictOf(world, need, servedBy.get(keyText(keyOf(need)))!));
}

function verdictOf(world: World, need: Need, row: Row): Verdict {
  const deficit = new Shortage(row, row.claims).deficit();
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
    bootstraps: idsIn(MachineState.Idle),
    provisions: idsIn(MachineState.Speculative),
    preempts: ids(row.picks),
    domain: row.domains[0]?.name ?? null,
    satisfiable: row.kind === 'gang' ? new Shortage(row, row.domains[0]?.counted ?? []).sumCovered : null,
    candidates: satisfied ? [] : bestDomains(row),
    unmet: satisfied ? null : unmetDetail(world, row, deficit),
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

function unmetDetail(world: World, row: Row, deficit: ResourceVector): UnmetDetail {
  const matching = world.slots.filter((slot) => matches(row, slot));
  const count = (state: MachineState): number =>
    matching.filter((slot) => slot.machine.state === state).length;
  return {
    reason: reasonOf(world, row, matching),
    matching: {
      idle: count(MachineState.Idle),
      speculative: count(MachineState.Speculative),
      configured: count(MachineState.Configured),
    },
    blocker: row.kind === 'set-aside' ? null : blockerOf(row, matching),
    extraSupply: row.kind === 'set-aside' ? null : extraSupply(row, matching, deficit),
  };
}

/** The first that applies, in the order of the definition of UnmetReason. */
function reasonOf(world: World, row: Row, matching: readonly Slot[]): UnmetReason {
  if (row.kind === 'set-aside') return 'set-aside';
  if (row.coveredByDrains) return 'preempting';
  if (row.kind === 'gang' && !someDomainCouldComplete(row, matching)) return 'topology-unsatisfiable';
  if (matching.length === 0) return 'no-matching-supply';
  if (!matching.some((slot) => coversMinUnit(row, slot))) return 'no-fitting-supply';
  if (!row.canBind) return 'cluster-disconnected';
  if (row.picks.length > 0) return 'preemption-exhausted';
  if (row.spread !== undefined && skewForbidsAll(world, row)) return 'spread-unsatisfiable';
  const isBlocked = blockerOf(row, matching) !== null;
  return isBlocked && wouldSuffice(row, matching) ? 'priority-starved' : 'insufficient-supply';
}

/**
 * Whether the row would be covered by all fitting machines that are not held, Failed or Deleting, claimed or not and bound
 * to any cluster; a gang by those of one domain, a strict-spread row whatever the skew (R86).
 */
function wouldSuffice(row: Row, matching: readonly Slot[]): boolean {
  const taken = matching.filter((slot) => !slot.machine.held);
  if (row.kind === 'gang') return someDomainCouldComplete(row, taken);
  return new Shortage(row, usableFor(row, taken)).sumCovered;
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

/** Whether a gang would be complete somewhere if it had everything that fits, whichever row holds it now (R78). */
function someDomainCouldComplete(row: Row, matching: readonly Slot[]): boolean {
  const usable = usableFor(row, matching);
  const names = new Set(usable.map((slot) => domainValue(slot, row.sameKey!)));
  return [...names].some((name) => {
    return new Shortage(
      row,
      usable.filter((slot) => domainValue(slot, row.sameKey!) === name),
    ).sumCovered;
  });
}

/** "Free fitting machines exist, all in domains that the skew forbids" (R80). */
function skewForbidsAll(world: World, row: Row): boolean {
  const account = new SpreadAccount(world, row, row.claims);
  const short = new Shortage(row, row.claims);
  const free = world.slots.filter(
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
 * "The worst-ranked row ahead of this one that claims a machine this one could have used (fitting, not held; its
 * cluster's bound or anybody's Idle or Speculative)."
 */
function blockerOf(row: Row, matching: readonly Slot[]): NeedKey | null {
  let blocker: Row | null = null;
  for (const slot of matching) {
    const { state, cluster, held } = slot.machine;
    const holder = slot.claimedBy;
    if (holder === null || holder.turn >= row.turn || held || !coversMinUnit(row, slot)) continue;
    const usable = isBound(state)
      ? cluster === row.key.cluster
      : state === MachineState.Idle || state === MachineState.Speculative;
    if (usable && (blocker === null || holder.turn > blocker.turn)) blocker = holder;
  }
  return blocker?.key ?? null;
}

/** "So many machines like this known one (fewest, then lowest effective cost, then id). A gang wants them in its domain, if it has one." */
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

/** What is missing: of a gang, beyond everything its domain could give it (R77). */
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
