// Questions of the what-if box and the answers of `/v1/whatif`, as sentences. Runs in a browser.

import type { NeedRefView } from './feed-details.ts';
import { count, counted, perHour } from './figures.ts';
import { kindName } from './plan-text.ts';

/** What the box can change; the route accepts more. */
export const CHANGES = [
  { name: 'without-spot', label: 'spot machines disappear' },
  { name: 'without-zone', label: 'a zone disappears', field: 'zone' },
  { name: 'without-provider', label: 'a provider disappears', field: 'provider' },
  { name: 'spot-price', label: 'spot prices are multiplied by', field: 'factor' },
  { name: 'demand', label: 'demand is multiplied by', field: 'factor' },
  { name: 'priority', label: 'the priority is', field: 'priority' },
  { name: 'stock', label: 'more machines: count:type', field: 'such as 20:m6i.4xlarge' },
] as const;

export type ChangeName = (typeof CHANGES)[number]['name'];

/** What a question is about: nothing is the whole fleet. */
export interface WhatIfAbout {
  readonly need?: string;
  readonly cluster?: string;
}

/** The body of the question; a text if the value of the change cannot be read. */
export function questionOf(name: ChangeName, value: string, about: WhatIfAbout): object | string {
  const number = Number(value);
  const isNumber = value.trim() !== '' && Number.isFinite(number);
  // The API asks for the pattern of all clusters where the whole fleet is meant.
  const which = about.need === undefined ? { cluster: about.cluster ?? '*' } : { need: about.need };
  const spot = { capacityType: 'spot' };
  switch (name) {
    case 'without-spot':
      return { changes: { without: [spot] } };
    case 'without-zone':
      return value === '' ? 'Name a zone.' : { changes: { without: [{ zone: value }] } };
    case 'without-provider':
      return value === '' ? 'Name a provider.' : { changes: { without: [{ provider: value }] } };
    case 'spot-price':
      return isNumber && number >= 0
        ? { changes: { prices: [{ match: spot, times: number }] } }
        : 'Give a factor, such as 2.';
    case 'demand':
      return isNumber && number >= 0
        ? { changes: { demand: [{ ...which, times: number }] } }
        : 'Give a factor, such as 1.5.';
    case 'priority':
      return isNumber
        ? { changes: { priorities: [{ ...which, set: number }] } }
        : 'Give a priority, such as 1000.';
    case 'stock': {
      const [, machines, instanceType] = /^(\d+):(.+)$/.exec(value.trim()) ?? [];
      return instanceType === undefined
        ? 'Give a count and an instance type, such as 20:m6i.4xlarge.'
        : { changes: { stock: [{ count: Number(machines), instanceType }] } };
    }
  }
}

interface Counted<T> {
  readonly total: number;
  readonly items: readonly T[];
}

interface VerdictChange {
  readonly need: NeedRefView;
  readonly why: string | null;
}

interface WhatIfCost {
  readonly perHour: number;
  readonly afterActions: number;
}

/** The part of the answer that the box shows. */
export interface WhatIfAnswer {
  readonly unmatched: readonly string[];
  readonly actions: {
    readonly now: Readonly<Record<string, number>>;
    readonly after: Readonly<Record<string, number>>;
  };
  readonly cost: { readonly now: WhatIfCost; readonly after: WhatIfCost };
  readonly verdicts: {
    readonly now: { readonly met: number; readonly unmet: number };
    readonly after: { readonly met: number; readonly unmet: number };
    readonly unmet: Counted<VerdictChange>;
    readonly met: Counted<VerdictChange>;
  };
  readonly disruption: {
    readonly now: { readonly preempted: number; readonly drained: number; readonly lost: number };
    readonly after: { readonly preempted: number; readonly drained: number; readonly lost: number };
  };
  readonly settled: {
    readonly cycles: number;
    readonly isQuiet: boolean;
    readonly bought: number;
    readonly cost: WhatIfCost;
    readonly needs: { readonly met: number; readonly unmet: number };
  } | null;
}

/** Sentences about the differences to now, the most important first. */
export function answerTexts({
  unmatched,
  actions,
  cost,
  verdicts,
  disruption,
  settled,
}: WhatIfAnswer): readonly string[] {
  const kinds = [...new Set([...Object.keys(actions.now), ...Object.keys(actions.after)])];
  const moves = kinds
    .filter((kind) => (actions.after[kind] ?? 0) !== (actions.now[kind] ?? 0))
    .map(
      (kind) =>
        `${kindName(kind)} ${count(actions.after[kind] ?? 0)} instead of ${count(actions.now[kind] ?? 0)}`,
    );
  const lost = disruption.after.lost - disruption.now.lost;
  return [
    unmatched.length === 0 ? '' : 'The change matches nothing in this fleet.',
    verdicts.after.unmet === verdicts.now.unmet && verdicts.unmet.total === 0
      ? `As many Needs would be met as now: ${count(verdicts.now.met)}.`
      : `${count(verdicts.after.unmet)} Needs would not be met, instead of ${count(verdicts.now.unmet)} now.`,
    `It would cost ${perHour(cost.after.afterActions)} after the actions, instead of ${perHour(cost.now.afterActions)}.`,
    moves.length === 0
      ? 'The next cycle would do the same as now.'
      : `The next cycle would ${moves.join(', ')}.`,
    lost > 0 ? `${counted(lost, 'machine')} in use would be lost.` : '',
    settled === null
      ? ''
      : `After ${counted(settled.cycles, 'cycle')}${settled.isQuiet ? '' : ', not settled yet'}: ${count(settled.needs.unmet)} Needs not met, ${counted(settled.bought, 'machine')} bought, ${perHour(settled.cost.perHour)}.`,
  ].filter((text) => text !== '');
}
