// Which machines and Needs a change is about. What a class of machines decides is decided once for the class. Used by
// change-fleet.ts.

import type { ClassFacts, Fleet } from '../fleet/index.ts';
import { type CapacityType, keyOf, MachineState, type Need, type NeedKey } from '../model/index.ts';
import { CAPACITY_TYPE_NAMES, STATE_NAMES } from '../scenario/enum-names.ts';
import type { Match, NeedMatch } from './changes.ts';
import { matchesAny } from './glob.ts';

/** What is known about machines beside the ledger. */
export interface MachineFacts {
  /** '' if no provider is known. */
  providerOf(slot: number): string;
  /** Whether a Failed machine still has a host. */
  hasFailedHost(slot: number): boolean;
}

/** Whether machines of a class match, as far as the class says. */
function matchesClass(match: Match, facts: ClassFacts): boolean {
  const { name, zone, capacityType, instanceType, labels } = match;
  const type = CAPACITY_TYPE_NAMES.format(facts.capacityType as CapacityType);
  return (
    (name === null || matchesAny(name, facts.instanceType) || matchesAny(name, spoken(type))) &&
    holds(zone, facts.zone) &&
    holds(capacityType, type) &&
    holds(instanceType, facts.instanceType) &&
    [...labels].every(([key, patterns]) => {
      const label = facts.labels.get(key);
      return label !== undefined && matchesAny(patterns, label);
    })
  );
}

/** Whether the class of a machine says all that a match asks. */
function isOfClass({ provider, state, cluster }: Match): boolean {
  return provider === null && state === null && cluster === null;
}

/** Whether a machine that could be bought, and whose provider is not known, matches. */
export function matchesOffer(match: Match, facts: ClassFacts): boolean {
  const { provider, state, cluster } = match;
  return (
    matchesClass(match, facts) &&
    holds(provider, '') &&
    holds(state, STATE_NAMES.format(MachineState.Speculative)) &&
    holds(cluster, '')
  );
}

/** Whether a machine of a class that matches does so itself. */
function matchesMachine(match: Match, fleet: Fleet, facts: MachineFacts, slot: number): boolean {
  const { machines, clusters } = fleet;
  return (
    (match.state === null ||
      matchesAny(match.state, STATE_NAMES.format(machines.state[slot] as MachineState))) &&
    (match.cluster === null || matchesAny(match.cluster, clusters.nameOf(machines.cluster[slot]!))) &&
    (match.provider === null || matchesAny(match.provider, facts.providerOf(slot)))
  );
}

/** Slots of the machines that match. */
export function slotsOf(match: Match, fleet: Fleet, facts: MachineFacts): number[] {
  const { classes, machines } = fleet;
  const isMatch = classes.attributes.map(
    (attributes, number) => attributes !== undefined && matchesClass(match, classes.factsOf(number)),
  );
  const needsMachine = !isOfClass(match);
  const slots: number[] = [];
  for (let slot = 0; slot < machines.size; slot++) {
    if (machines.state[slot] === 0 || isMatch[machines.classOf[slot]!] !== true) continue;
    if (!needsMachine || matchesMachine(match, fleet, facts, slot)) slots.push(slot);
  }
  return slots;
}

export function matchesCluster({ cluster }: NeedMatch, name: string): boolean {
  return holds(cluster, name);
}

export function matchesNeed({ need }: NeedMatch, row: Need, nameOf: (key: NeedKey) => string): boolean {
  return need === null || matchesAny(need, nameOf(keyOf(row)));
}

function holds(patterns: readonly string[] | null, text: string): boolean {
  return patterns === null || matchesAny(patterns, text);
}

/** `ON_DEMAND` as people write it: `on-demand`. */
function spoken(type: string): string {
  return type.toLowerCase().replaceAll('_', '-');
}
