// Texts for what a cycle decided and did not carry out: how much of each kind, and what it would cost. Used by the live
// views and by commands that print kinds of action. The sentences of single actions, and why they are held back, are in
// sentences.ts.

import type { ActionKind, HeldBack } from './feed.ts';
import { count, perHour } from './figures.ts';

/** Names of the kinds of action, in the order in which people count them. */
const NAMES: Readonly<Record<ActionKind, string>> = {
  Bootstrap: 'bind',
  Provision: 'buy',
  Preempt: 'preempt',
  Reclaim: 'reclaim',
  Delete: 'release',
};

/** What people call a kind of action, on every surface but JSON and metrics; an unknown kind is unchanged. */
export function kindName(kind: string): string {
  return (NAMES as Readonly<Record<string, string>>)[kind] ?? kind;
}

/** `bind 3, buy 12 and preempt 1`; '' if there is nothing. */
export function kindsText(kinds: HeldBack['kinds']): string {
  const known = Object.keys(NAMES) as ActionKind[];
  const parts = known
    .filter((kind) => (kinds[kind] ?? 0) > 0)
    .map((kind) => `${NAMES[kind]} ${count(kinds[kind]!)}`);
  return parts.length < 2 ? parts.join('') : `${parts.slice(0, -1).join(', ')} and ${parts.at(-1)}`;
}

/** `would bind 3 and buy 12 (+$3.72/h)`; '' if there is nothing. */
export function wouldText({
  kinds,
  buysPerHour,
  releasesPerHour,
}: Pick<HeldBack, 'kinds' | 'buysPerHour' | 'releasesPerHour'>): string {
  const what = kindsText(kinds);
  if (what === '') return '';
  const costs = [
    buysPerHour > 0 ? `+${perHour(buysPerHour)}` : '',
    releasesPerHour > 0 ? `-${perHour(releasesPerHour)}` : '',
  ].filter((part) => part !== '');
  return `would ${what}${costs.length === 0 ? '' : ` (${costs.join(', ')})`}`;
}

/** How much is held back on purpose, by a freeze or a dry run, and would be done at once without it. */
export function heldOnPurpose(heldBack: readonly HeldBack[]): readonly HeldBack[] {
  return heldBack.filter(({ why }) => why === 'frozen' || why === 'dry-run');
}
