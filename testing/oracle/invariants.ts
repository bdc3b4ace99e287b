// Invariants of any plan, whichever solver produced it: written against the definition's properties, not against the
// oracle, so that they check the oracle and the engine alike. Used by the tests of both and by `npm run verify:oracle`.

import {
  type Action,
  attributeOf,
  covers,
  type DecisionInput,
  drainGraceSeconds,
  effectiveAllocatable,
  isBound,
  isZero,
  keyText,
  type LedgerMachine,
  MachineState,
  meetsAll,
  type Need,
  type NeedKey,
  type Plan,
  RECLAIM_GRACE_SECONDS,
  type ResourceVector,
  sameTermOf,
  type Verdict,
} from '../../src/model/index.ts';
import {
  checkClock,
  checkPurchases,
  checkRestamps,
  checkRetargets,
  checkShares,
} from './invariants-economy.ts';
import { type Check, ownersOf, Scene } from './invariants-scene.ts';

/** A plan as one text: equal texts are equal plans, order and all. */
export function planText(plan: Plan): string {
  return JSON.stringify(
    plan,
    (_, value: unknown) => (value instanceof Map ? [...value] : sortedFields(value)),
    1,
  );
}

/** The order of a record's fields is irrelevant; the order of lists and maps is not. */
function sortedFields(value: unknown): unknown {
  if (value === null || typeof value !== 'object' || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** Every property the plan violates, as text; empty if none. */
export function brokenProperties(input: DecisionInput, plan: Plan): readonly string[] {
  const broken: string[] = [];
  const check = (holds: boolean, text: string): void => {
    if (!holds) broken.push(text);
  };
  const scene = new Scene(input);
  checkActions(scene, plan, check);
  checkPhase3(scene, plan, check);
  check(plan.verdicts.length === input.needs.length, 'one verdict per need');
  const holders = new Map<string, string>();
  for (const verdict of plan.verdicts) {
    checkVerdict(scene, verdict, plan, check);
    const holder = keyText(verdict.foldedInto ?? verdict.key);
    for (const id of verdict.claimed) {
      const other = holders.get(id) ?? holder;
      check(other === holder, `P1: ${id} is claimed by two rows`);
      holders.set(id, holder);
      check(keyText(plan.claims.get(id)!) === holder, `claims names the holder of ${id}`);
    }
  }
  checkFolds(scene, plan, check);
  checkShares(scene, plan, check);
  checkRetargets(scene, plan, check);
  checkPurchases(scene, plan, check);
  checkRestamps(scene, plan, check);
  return broken;
}

const START_STATE: Readonly<Record<Action['kind'], MachineState>> = {
  Bootstrap: MachineState.Idle,
  Provision: MachineState.Speculative,
  Preempt: MachineState.Configured,
  Reclaim: MachineState.Configured,
  Delete: MachineState.Idle,
};
const PHASES: readonly Action['kind'][] = ['Bootstrap', 'Provision', 'Preempt', 'Reclaim', 'Delete'];

function checkActions(scene: Scene, plan: Plan, check: Check): void {
  const acted = new Set<string>();
  let phase = 0;
  for (const action of plan.actions) {
    const machine = scene.machine(action.machine);
    check(!acted.has(action.machine), `P1: two actions on ${action.machine}`);
    acted.add(action.machine);
    check(machine.state === START_STATE[action.kind], `P2: ${action.kind} of ${action.machine}`);
    const here = Math.max(1, PHASES.indexOf(action.kind));
    check(here >= phase, `plan order: ${action.kind} of ${action.machine} comes late`);
    phase = here;
    if (action.kind === 'Bootstrap' || action.kind === 'Provision') {
      const holder = plan.claims.get(action.machine);
      check(holder !== undefined && keyText(holder) === keyText(action.need!), `claimed: ${action.machine}`);
      check(!machine.blocked, `blocked: ${action.machine} is acquired`);
      check(!scene.input.options.cannotBind.has(action.cluster), `bound to a cluster that cannot bind`);
    }
    if (action.kind === 'Preempt') checkPreempt(scene, plan, action, check);
  }
}

/** P9 and P10, with the claimant's priority before the stamp's. */
function checkPreempt(scene: Scene, plan: Plan, action: Action, check: Check): void {
  const machine = scene.machine(action.machine);
  const need = scene.needs.get(keyText(action.need!));
  check(need !== undefined, 'P9: the preemptor is a row, never a fold');
  if (need === undefined) return;
  const offer = effectiveAllocatable(machine);
  check(meetsAll(machine, need.profile.requirements) && covers(offer, need.minUnit), 'P9: the victim fits');
  const claimant = plan.claims.get(machine.id);
  const excess = claimant === undefined && scene.isReported(machine.cluster);
  check(action.preemptorPriority === need.profile.priority, 'P9: the preemptor priority is the row’s');
  if (excess && scene.input.options.reclaimHoldSeconds > 0) {
    check(action.graceSeconds === RECLAIM_GRACE_SECONDS, 'P10: grace of a machine on hold');
    const isLower = (machine.stamp?.priority ?? Number.POSITIVE_INFINITY) < need.profile.priority;
    check(isLower || machine.use !== 'protected', `P9: ${machine.id} is protected and not lower`);
  } else {
    const priority =
      claimant === undefined ? machine.stamp?.priority : scene.priorities.get(keyText(claimant));
    check(typeof priority === 'number' && priority < need.profile.priority, `P9: ${machine.id} is not lower`);
    const grace = drainGraceSeconds(need.profile.priority, priority ?? 0);
    check(action.graceSeconds === grace, 'P10: grace by the gap');
  }
  check(action.reason === (excess ? 'phase2.excess' : 'phase2.inversion'), `P9: reason of ${machine.id}`);
  if (!scene.isReported(machine.cluster)) {
    check((machine.stamp?.priority ?? null) !== null, 'P9: of an unreported cluster only by a stamp');
  }
  check(!scene.input.options.cannotBind.has(need.cluster), 'P9: a cluster that cannot bind preempts nothing');
}

/** P7 and P8, with the clocks of machines on hold. */
function checkPhase3(scene: Scene, plan: Plan, check: Check): void {
  const kinds = new Map(plan.actions.map((action) => [action.machine, action]));
  for (const machine of scene.input.machines) {
    const action = kinds.get(machine.id);
    const claimed = plan.claims.has(machine.id);
    if (action?.kind === 'Reclaim') {
      check(!claimed && scene.isReported(machine.cluster), `P7: reclaim of ${machine.id}`);
      check(action.graceSeconds === RECLAIM_GRACE_SECONDS && action.preemptorPriority === 0, 'P10: reclaim');
    }
    if (machine.state === MachineState.Configured && scene.isReported(machine.cluster)) {
      const leaves = action?.kind === 'Reclaim' || action?.kind === 'Preempt';
      const isHeld = scene.isOnHold(machine, plan);
      check(claimed || leaves || isHeld, `P7: ${machine.id} is neither claimed nor leaving nor on hold`);
    }
    checkClock(scene, plan, machine, action?.kind === 'Reclaim', check);
    const holdMs = (scene.input.options.releaseHoldSeconds.get(machine.capacityType) ?? 0) * 1000;
    const ageMs = machine.idleSinceMs === null ? -1 : scene.input.nowMs - machine.idleSinceMs;
    const released = machine.state === MachineState.Idle && !claimed && holdMs > 0 && ageMs >= holdMs;
    check(released === (action?.kind === 'Delete'), `P8: release of ${machine.id}`);
  }
}

function checkVerdict(scene: Scene, verdict: Verdict, plan: Plan, check: Check): void {
  const need = scene.needs.get(keyText(verdict.key))!;
  const claimed = verdict.claimed.map((id) => scene.machine(id));
  const name = `${verdict.key.cluster}/${verdict.key.group}`;
  const canBind = !scene.input.options.cannotBind.has(need.cluster);
  const inState = (state: MachineState): readonly string[] =>
    canBind ? claimed.filter((machine) => machine.state === state).map((machine) => machine.id) : [];
  check(verdict.bootstraps.join() === inState(MachineState.Idle).join(), `P11: bootstraps of ${name}`);
  check(verdict.provisions.join() === inState(MachineState.Speculative).join(), `P11: provisions of ${name}`);
  check(verdict.satisfied === (verdict.unmet === null), `P11: detail iff unmet, ${name}`);
  for (const machine of claimed) {
    if (isBound(machine.state)) check(machine.cluster === need.cluster, `P3: ${machine.id} is elsewhere`);
  }
  if (need.setAside === true) {
    checkSetAside(scene, verdict, plan, check);
    return;
  }
  check(verdict.satisfied === isZero(verdict.deficit), `P11: satisfied iff no deficit, ${name}`);
  if (verdict.foldedInto !== null) {
    check(verdict.satisfied && verdict.domain === null, `a hosted member is served, ${name}`);
    return;
  }
  check(sameVector(verdict.deficit, deficitOf(need, claimed, verdict.shares)), `P11: deficit of ${name}`);
  const gang = sameTermOf(need.profile);
  for (const machine of claimed) {
    check(meetsAll(machine, need.profile.requirements), `P3: ${machine.id} does not match ${name}`);
    const fits = covers(effectiveAllocatable(machine), need.minUnit);
    check(
      fits || (isBound(machine.state) && gang === undefined),
      `P3: ${machine.id} is too small for ${name}`,
    );
    if (gang !== undefined) check(attributeOf(machine, gang.key) === verdict.domain, `P4: domain of ${name}`);
  }
  if (gang === undefined) return;
  checkGang(scene, verdict, need, plan, check);
}

/** A row that is set aside keeps exactly what serves it; of two that own a machine one has it. */
function checkSetAside(scene: Scene, verdict: Verdict, plan: Plan, check: Check): void {
  const name = `${verdict.key.cluster}/${verdict.key.group}`;
  check(verdict.unmet?.reason === 'set-aside' && verdict.deficit.size === 0, `set aside: ${name}`);
  check(verdict.preempts.length === 0 && verdict.foldedInto === null, `set aside, yet served: ${name}`);
  const text = keyText(verdict.key);
  for (const machine of scene.input.machines) {
    const owners = ownersOf(machine).filter((owner) => scene.needs.get(owner)?.setAside === true);
    const isOwn = isBound(machine.state) && machine.cluster === verdict.key.cluster && owners.includes(text);
    const claimant = plan.claims.get(machine.id);
    const hasIt = claimant !== undefined && keyText(claimant) === text;
    check(!hasIt || isOwn, `set aside: ${name} claims ${machine.id}, which is not its own`);
    if (!isOwn || hasIt) continue;
    check(
      claimant !== undefined && owners.includes(keyText(claimant)),
      `set aside: ${name} lost ${machine.id}`,
    );
  }
  check(!plan.actions.some(({ need }) => need !== null && keyText(need) === text), `set aside: ${name} acts`);
}

/** Gangs acquire and pick whole or not at all, and all their bound machines are re-stamped. */
function checkGang(scene: Scene, verdict: Verdict, need: Need, plan: Plan, check: Check): void {
  const key = sameTermOf(need.profile)!.key;
  const draining = scene.input.machines.filter(
    (machine) =>
      machine.state === MachineState.Draining &&
      machine.target !== null &&
      keyText(machine.target) === keyText(verdict.key) &&
      attributeOf(machine, key) === verdict.domain,
  );
  const claimed = verdict.claimed.map((id) => scene.machine(id));
  if (verdict.bootstraps.length + verdict.provisions.length > 0) {
    check(isZero(deficitOf(need, [...claimed, ...draining], [])), 'a gang acquires only what completes it');
  }
  if (verdict.preempts.length > 0)
    check(verdict.unmet?.reason === 'preempting', 'a gang picks all or nothing');
  const domains = new Set(verdict.preempts.map((id) => attributeOf(scene.machine(id), key)));
  check(domains.size <= 1, 'P9: victims of a gang share a domain');
  for (const machine of claimed) {
    if (!isBound(machine.state)) continue;
    const stamped =
      machine.stamp?.fingerprint === verdict.key.fingerprint && machine.stamp.group === verdict.key.group;
    check(stamped !== plan.restamps.has(machine.id), `re-stamp of ${machine.id}`);
  }
}

/** As many members are hosted as the fold's machines have room for. */
function checkFolds(scene: Scene, plan: Plan, check: Check): void {
  const hosted = new Map<string, { key: NeedKey; verdicts: Verdict[] }>();
  for (const verdict of plan.verdicts) {
    if (verdict.foldedInto === null) continue;
    const text = keyText(verdict.foldedInto);
    const fold = hosted.get(text) ?? { key: verdict.foldedInto, verdicts: [] };
    fold.verdicts.push(verdict);
    hosted.set(text, fold);
  }
  for (const { verdicts } of hosted.values()) {
    const gang = scene.needs.get(keyText(verdicts[0]!.key))!.aggregate;
    if (isZero(gang)) continue;
    let room = 0;
    for (const id of verdicts[0]!.claimed) {
      const offer = effectiveAllocatable(scene.machine(id));
      const quotients = [...gang].filter(([, units]) => units > 0);
      room += Math.min(...quotients.map(([name, units]) => Math.floor((offer.get(name) ?? 0) / units)));
    }
    check(verdicts.length <= room, 'P11: more members hosted than there is room for');
  }
}

/** P11: aggregate − Σ shares − Σ allocatable per dimension, at least one min_unit if no claim covers it and nothing is shared. */
function deficitOf(need: Need, claimed: readonly LedgerMachine[], shares: Verdict['shares']): ResourceVector {
  const missing = new Map<string, number>();
  if (isZero(need.aggregate)) return missing;
  const offers = claimed.map((machine) => effectiveAllocatable(machine));
  const hasUnit = shares.length > 0 || offers.some((offer) => covers(offer, need.minUnit));
  const floor = hasUnit ? new Map<string, number>() : need.minUnit;
  for (const { amount } of shares) offers.push(amount);
  for (const name of new Set([...need.aggregate.keys(), ...floor.keys()])) {
    let rest = BigInt(need.aggregate.get(name) ?? 0);
    for (const offer of offers) rest -= BigInt(offer.get(name) ?? 0);
    const short = Math.max(Number(rest), floor.get(name) ?? 0);
    if (short > 0) missing.set(name, short);
  }
  return missing;
}

function sameVector(a: ResourceVector, b: ResourceVector): boolean {
  return a.size === b.size && [...a].every(([name, units]) => b.get(name) === units);
}
