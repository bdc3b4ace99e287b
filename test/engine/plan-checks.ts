// Properties of a single plan that testing/oracle/invariants.ts does not check: spread, needless claims, Phase 2's
// picks, folds, and priority. Written against the definition, not against the engine. Used by properties.test.ts and
// loop-checks.ts.

import {
  attributeOf,
  comparePrecedence,
  covers,
  type DecisionInput,
  effectiveAllocatable,
  isZero,
  keyOf,
  keyText,
  type LedgerMachine,
  MachineState,
  meetsAll,
  type Need,
  type Plan,
  type ResourceVector,
  sameKey,
  sameTermOf,
  strictSpreadOf,
  subtract,
  type Verdict,
} from '../../src/model/index.ts';
import { brokenProperties } from '../../testing/oracle/invariants.ts';
import { foldKeyOf } from '../../testing/support/fleets.ts';

/** Every property the plan violates, as text; empty if none. */
export function planProblems(input: DecisionInput, plan: Plan): readonly string[] {
  const machines = new Map(input.machines.map((machine) => [machine.id, machine]));
  const needs = new Map(input.needs.map((need) => [keyText(keyOf(need)), need]));
  const scene: Scene = { input, plan, machines, needs };
  const rows = plan.verdicts.flatMap((verdict) => rowProblems(scene, verdict));
  return [...brokenProperties(input, plan), ...rows];
}

interface Scene {
  readonly input: DecisionInput;
  readonly plan: Plan;
  readonly machines: ReadonlyMap<string, LedgerMachine>;
  readonly needs: ReadonlyMap<string, Need>;
}

function rowProblems(scene: Scene, verdict: Verdict): readonly string[] {
  const need = scene.needs.get(keyText(verdict.key))!;
  const problems = [
    ...needlessClaims(scene, verdict, need),
    ...strangePicks(scene, verdict, need),
    ...starvedByLower(scene, verdict, need),
  ];
  if (strictSpreadOf(need.profile) !== undefined) problems.push(...skewed(scene, verdict, need));
  if (verdict.foldedInto !== null && !sameKey(verdict.foldedInto, foldKeyOf(need))) {
    problems.push('P13: a member is in a fold of other rows');
  }
  return problems.map((problem) => `${problem} (${keyText(verdict.key)})`);
}

function offersOf(scene: Scene, ids: readonly string[]): readonly ResourceVector[] {
  return ids.map((id) => effectiveAllocatable(scene.machines.get(id)!));
}

/** What a row lacks besides these machines: the rest of the aggregate, and one min_unit if none of them covers it. */
export function shortOf(need: Need, offers: readonly ResourceVector[]): ResourceVector {
  const rest = offers.reduce<ResourceVector>((left, offer) => subtract(left, offer), need.aggregate);
  const hosted = isZero(need.aggregate) || offers.some((offer) => covers(offer, need.minUnit));
  const short = new Map(rest);
  if (!hosted)
    for (const [name, units] of need.minUnit) short.set(name, Math.max(units, rest.get(name) ?? 0));
  return short;
}

/** Whether an offer has some of a resource that is short. */
export function adds(offer: ResourceVector, short: ResourceVector): boolean {
  return [...short].some(([name, units]) => units > 0 && (offer.get(name) ?? 0) > 0);
}

/** P6: without its last claim a satisfied row would not be satisfied. */
function needlessClaims(scene: Scene, verdict: Verdict, need: Need): readonly string[] {
  if (!verdict.satisfied || verdict.claimed.length === 0) return [];
  const others = offersOf(scene, verdict.claimed.slice(0, -1));
  if (verdict.foldedInto === null) {
    return isZero(shortOf(need, others)) ? ['P6: the last claim is needless'] : [];
  }
  const hosted = scene.plan.verdicts.filter(
    ({ foldedInto }) => foldedInto !== null && sameKey(foldedInto, verdict.foldedInto!),
  ).length;
  const room = others.reduce((sum, offer) => sum + gangsIn(offer, need.aggregate), 0);
  return room >= hosted ? ['P6: the last claim of the fold is needless'] : [];
}

function gangsIn(offer: ResourceVector, gang: ResourceVector): number {
  const wanted = [...gang].filter(([, units]) => units > 0);
  return Math.min(...wanted.map(([name, units]) => Math.floor((offer.get(name) ?? 0) / units)));
}

/** P12: only unmet rows pick, every pick adds, and the reason is `preempting` where drains and picks cover the rest. */
function strangePicks(scene: Scene, verdict: Verdict, need: Need): readonly string[] {
  if (verdict.preempts.length === 0) return [];
  if (verdict.satisfied) return ['P12: a satisfied row preempts'];
  // A gang picks in any domain that completes it, which need not be that of its claims.
  if (sameTermOf(need.profile) !== undefined) return [];
  const problems: string[] = [];
  let short = shortOf(need, offersOf(scene, verdict.claimed));
  for (const offer of offersOf(scene, verdict.preempts)) {
    if (!adds(offer, short)) problems.push('P12: a pick adds nothing');
    short = subtract(short, offer);
  }
  return problems;
}

/**
 * P15: what an unmet plain row could have acquired is not acquired by a row of lower precedence. Idle machines that
 * are meant for another row are left out: the row may have to wait for its own.
 */
function starvedByLower(scene: Scene, verdict: Verdict, need: Need): readonly string[] {
  const { options } = scene.input;
  const plain = sameTermOf(need.profile) === undefined && strictSpreadOf(need.profile) === undefined;
  if (verdict.satisfied || !plain || options.cannotBind.has(need.cluster)) return [];
  return scene.plan.actions
    .filter(({ kind }) => kind === 'Bootstrap' || kind === 'Provision')
    .filter(({ machine, need: key }) => {
      const taken = scene.machines.get(machine)!;
      const offer = effectiveAllocatable(taken);
      const wanted =
        meetsAll(taken, need.profile.requirements) &&
        covers(offer, need.minUnit) &&
        adds(offer, verdict.deficit);
      const holder = scene.input.needs.find(
        (other) => sameKey(keyOf(other), key!) || sameKey(foldKeyOf(other), key!),
      );
      return wanted && taken.target === null && comparePrecedence(holder!.profile, need.profile) < 0;
    })
    .map(({ machine }) => `P15: ${machine} went to a lower row`);
}

/**
 * P5: no acquisition and no pick goes to a domain above the minimum + maxSkew − 1. The minimum runs at least over
 * the domains with a claim, and over those with a machine that is still free and still wanted at the end.
 */
function skewed(scene: Scene, verdict: Verdict, need: Need): readonly string[] {
  const { topologyKey, maxSkew } = strictSpreadOf(need.profile)!;
  const domainOf = (id: string): string | undefined => attributeOf(scene.machines.get(id)!, topologyKey);
  const counts = new Map<string, number>();
  const problems: string[] = [];
  const open = openDomains(scene, verdict, need, topologyKey);
  const take = (id: string, checked: boolean): void => {
    const domain = domainOf(id);
    if (domain === undefined) {
      if (checked) problems.push(`P5: ${id} has no domain`);
      return;
    }
    const shut = [...open].some((other) => !counts.has(other));
    const minimum = shut || counts.size === 0 ? 0 : Math.min(...counts.values());
    const count = counts.get(domain) ?? 0;
    if (checked && count > minimum + Math.max(1, maxSkew) - 1)
      problems.push(`P5: ${id} makes ${domain} too full`);
    counts.set(domain, count + 1);
  };
  const acquired = new Set([...verdict.bootstraps, ...verdict.provisions]);
  for (const id of verdict.claimed) take(id, acquired.has(id));
  for (const machine of scene.input.machines) {
    const { state, target, id } = machine;
    if (state !== MachineState.Draining || target === null || !sameKey(target, verdict.key)) continue;
    if (fits(machine, need) && domainOf(id) !== undefined) take(id, false);
  }
  for (const id of verdict.preempts) take(id, true);
  return problems;
}

/** Domains with an unclaimed machine that the row, short to the end, could have used all along. */
function openDomains(scene: Scene, verdict: Verdict, need: Need, topologyKey: string): ReadonlySet<string> {
  const open = new Set<string>();
  for (const machine of scene.input.machines) {
    const pooled = machine.state === MachineState.Idle || machine.state === MachineState.Speculative;
    const domain = attributeOf(machine, topologyKey);
    if (!pooled || machine.blocked || domain === undefined || scene.plan.claims.has(machine.id)) continue;
    const rest = shortOf(need, offersOf(scene, [...verdict.claimed, ...verdict.preempts]));
    if (fits(machine, need) && adds(effectiveAllocatable(machine), rest)) open.add(domain);
  }
  return open;
}

function fits(machine: LedgerMachine, need: Need): boolean {
  return meetsAll(machine, need.profile.requirements) && covers(effectiveAllocatable(machine), need.minUnit);
}
