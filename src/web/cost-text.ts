// Cost as text for the web page, the terminal of `bigfleet up` and `bigfleet get status`. The parts are rounded
// together, so that they add up to the shown total, to the cent.

import type { Cost } from './feed.ts';
import { CENT, dollars, inUnits, perHour } from './figures.ts';
import { STATES } from './sentences.ts';

/** Parts of a cost, each with the wire name of the state of its machines, and its label if that is not the state's. */
const PARTS: readonly { readonly part: string; readonly state: string; readonly label?: string }[] = [
  { part: 'serving', state: 'CONFIGURED' },
  { part: 'onHold', state: 'CONFIGURED', label: 'on hold' },
  { part: 'joining', state: 'CONFIGURING' },
  { part: 'idle', state: 'IDLE' },
  { part: 'draining', state: 'DRAINING' },
  { part: 'deleting', state: 'DELETING' },
  { part: 'failed', state: 'FAILED' },
];

/** By the wire name of the state of the machines (`CONFIGURED`): `$12.35`. States that cost nothing are left out. */
export function costByState(cost: Cost): ReadonlyMap<string, string> {
  const cents = new Map<string, number>();
  for (const each of shownParts(cost)) cents.set(each.state, (cents.get(each.state) ?? 0) + each.cents);
  return new Map([...cents].map(([state, sum]) => [state, dollars(sum * CENT)]));
}

/**
 * `serving $98.10, idle $12.40`, with the labels of the live views ("leaving") or the part names of the API ("draining");
 * '' if nothing is paid.
 */
export function costPartText(cost: Cost, by: 'label' | 'part' = 'label'): string {
  return shownParts(cost)
    .map((each) => `${each[by]} ${dollars(each.cents * CENT)}`)
    .join(', ');
}

/** `$432.10/h owned, amortised`; '' where no price is set for owned machines. */
export function ownedText(ownedCost: Cost | null): string {
  return ownedCost === null ? '' : `${perHour(ownedCost.perHour)} owned, amortised`;
}

function shownParts({ perHour: total, byPart }: Cost) {
  const cents = inUnits(
    total,
    PARTS.map(({ part }) => byPart[part] ?? 0),
    CENT,
  );
  return PARTS.map((each, i) => ({
    ...each,
    label: each.label ?? labelOf(each.state),
    cents: cents[i]!,
  })).filter(({ part }) => (byPart[part] ?? 0) > 0);
}

/** The live views call a part by the label of its state. */
function labelOf(state: string): string {
  return STATES.find((known) => known.state === state)?.label ?? state;
}
