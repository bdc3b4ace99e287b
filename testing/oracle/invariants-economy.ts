// Invariants of shares, of machines on hold and of drains that change their row: E1, E2, E4 and E5 of
// docs/internals/engine.md. Part of `brokenProperties` (invariants.ts); written against the definition, not the oracle.

import {
  compareText,
  covers,
  effectiveAllocatable,
  isBound,
  isPurchased,
  isZero,
  keyText,
  type LedgerMachine,
  MachineState,
  meetsAll,
  microsOf,
  type Need,
  type Plan,
  type ResourceVector,
  sameTermOf,
  strictSpreadOf,
  subtract,
  type Verdict,
} from '../../src/model/index.ts';
import { type Check, ownersOf, type Scene } from './invariants-scene.ts';

/** A clock runs for machines on hold in clusters that are not silent, and only those leave whose hold has run out. */
export function checkClock(
  scene: Scene,
  plan: Plan,
  machine: LedgerMachine,
  isReclaimed: boolean,
  check: Check,
): void {
  const { nowMs, options } = scene.input;
  const isSilent =
    options.cannotBind.has(machine.cluster) && options.connected?.has(machine.cluster) !== true;
  const runs = scene.isOnHold(machine, plan) && !isSilent;
  const since = plan.onHold.get(machine.id);
  check(
    since === (runs ? (machine.unclaimedSinceMs ?? nowMs) : undefined),
    `E5: the clock of ${machine.id} says ${since}`,
  );
  if (!isReclaimed || options.reclaimHoldSeconds === 0) return;
  check(
    since !== undefined && nowMs - since >= options.reclaimHoldSeconds * 1000,
    `E5: ${machine.id} is reclaimed within its hold`,
  );
}

/** Shares are of machines that a better-ranked row of the cluster claims; no machine is used for more than it offers (E1, E2). */
export function checkShares(scene: Scene, plan: Plan, check: Check): void {
  const rank = new Map(plan.verdicts.map((verdict, i) => [keyText(verdict.key), i]));
  const used = new Map<string, ResourceVector[]>();
  const use = (machine: string, amount: ResourceVector): void => {
    used.set(machine, [...(used.get(machine) ?? []), amount]);
  };
  for (const verdict of plan.verdicts) {
    const need = scene.needs.get(keyText(verdict.key))!;
    const name = `${verdict.key.cluster}/${verdict.key.group}`;
    for (const { machine: id, amount } of verdict.shares) {
      const machine = scene.machine(id);
      const lender = plan.claims.get(id);
      const lenderRank = lender === undefined ? undefined : rank.get(keyText(lender));
      check(scene.input.options.sharing === 'on' && mayBorrow(need), `E1: ${name} may not borrow`);
      check(
        lenderRank !== undefined && lenderRank < rank.get(keyText(verdict.key))!,
        `E1: ${name} borrows ${id}, which no better-ranked row claims`,
      );
      check(lender?.cluster === need.cluster, `E1: ${name} borrows ${id} of another cluster`);
      check(lender === undefined || mayLend(scene.needs.get(keyText(lender))), `E1: ${id} may not be lent`);
      check(meetsAll(machine, need.profile.requirements), `E1: ${id} does not match ${name}`);
      check(covers(effectiveAllocatable(machine), need.minUnit), `E1: ${id} is too small for ${name}`);
      check(!isZero(amount), `E2: an empty share of ${id}`);
      use(id, amount);
    }
    if (mayLend(need)) {
      const claimed = verdict.claimed.map((id) => scene.machine(id));
      for (const { id, amount } of takenByLender(need, verdict, claimed)) use(id, amount);
    } else {
      for (const id of verdict.claimed) check((used.get(id)?.length ?? 0) === 0, `E1: ${id} is lent`);
    }
  }
  for (const [id, amounts] of used) {
    for (const [dimension, units] of effectiveAllocatable(scene.machine(id))) {
      const sum = amounts.reduce((total, amount) => total + BigInt(amount.get(dimension) ?? 0), 0n);
      check(sum <= BigInt(units), `E1: rows take ${sum} ${dimension} of ${id}, which has ${units}`);
    }
  }
}

export function mayLend(need: Need | undefined): boolean {
  return need !== undefined && need.setAside !== true && sameTermOf(need.profile) === undefined;
}

function mayBorrow(need: Need): boolean {
  return mayLend(need) && need.group === '' && strictSpreadOf(need.profile) === undefined;
}

/** What a lender takes of its claims: first of the one for its largest piece, unless it borrowed, then by price and id. */
export function takenByLender(
  need: Need,
  verdict: Verdict,
  machines: readonly LedgerMachine[],
): readonly { readonly id: string; readonly amount: ResourceVector }[] {
  let want = verdict.shares.reduce((left, { amount }) => subtract(left, amount), need.aggregate);
  const claimed = machines.toSorted((a, b) => a.pricePerHour - b.pricePerHour || compareText(a.id, b.id));
  const first = claimed.findIndex((machine) => covers(effectiveAllocatable(machine), need.minUnit));
  if (verdict.shares.length === 0 && first > 0) claimed.unshift(...claimed.splice(first, 1));
  return claimed.map((machine) => {
    const offer = effectiveAllocatable(machine);
    const rest = subtract(want, offer);
    const amount = subtract(want, rest);
    want = rest;
    return { id: machine.id, amount };
  });
}

/** Only draining machines whose row is gone change their target, to a row of the cluster that they fit (E4). */
export function checkRetargets(scene: Scene, plan: Plan, check: Check): void {
  for (const [id, key] of plan.retargets) {
    const machine = scene.machine(id);
    const need = scene.needs.get(keyText(key));
    const isGone = machine.target !== null && !scene.needs.has(keyText(machine.target));
    check(machine.state === MachineState.Draining && isGone, `E4: ${id} has a target`);
    check(machine.target?.cluster === key.cluster, `E4: ${id} goes to another cluster`);
    check(
      need !== undefined &&
        meetsAll(machine, need.profile.requirements) &&
        covers(effectiveAllocatable(machine), need.minUnit),
      `E4: ${id} does not fit its new row`,
    );
  }
}

/** Purchases stay within the budgets of the shard and of each cluster, as whole micro-dollars per hour. */
export function checkPurchases(scene: Scene, plan: Plan, check: Check): void {
  const { purchaseBudget } = scene.input.options;
  if (purchaseBudget === undefined) return;
  const bought = plan.actions
    .filter(({ kind }) => kind === 'Provision')
    .map(({ machine, cluster }) => ({ machine: scene.machine(machine), cluster }))
    .filter(({ machine }) => isPurchased(machine.capacityType));
  const isWithin = (left: number, purchases: typeof bought): boolean =>
    purchases.length === 0 ||
    purchases.reduce((sum, { machine }) => sum + microsOf(machine.pricePerHour), 0) <= left;
  check(isWithin(purchaseBudget.shard, bought), 'ceiling: the shard spends more than its budget');
  for (const [name, left] of purchaseBudget.clusters) {
    const own = bought.filter(({ cluster }) => cluster === name);
    check(isWithin(left, own), `ceiling: ${name} spends more than its budget`);
  }
}

/** With sharing a plain row re-stamps what it claims of another Need; without, plain rows re-stamp nothing. */
export function checkRestamps(scene: Scene, plan: Plan, check: Check): void {
  for (const verdict of plan.verdicts) {
    const need = scene.needs.get(keyText(verdict.key))!;
    if (!mayLend(need)) continue;
    for (const id of verdict.claimed) {
      const machine = scene.machine(id);
      const owners = isBound(machine.state) ? ownersOf(machine) : [];
      const isAnothers =
        !owners.includes(keyText(verdict.key)) && owners.some((owner) => scene.needs.has(owner));
      const restamp = plan.restamps.get(id);
      const isShared = scene.input.options.sharing === 'on';
      check(!isAnothers || !isShared || restamp !== undefined, `restamp: ${id} keeps the stamp of another`);
      check(restamp === undefined || isShared, `restamp: ${id} without sharing`);
    }
  }
  for (const [id, key] of plan.restamps) {
    const claimant = plan.claims.get(id);
    check(claimant !== undefined && keyText(claimant) === keyText(key), `restamp: ${id} serves another row`);
  }
}
