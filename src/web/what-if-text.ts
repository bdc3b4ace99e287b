// The answer of `/v1/whatif` as sentences and lists, for the what-if box. Runs in a browser.

import type { Action } from './feed.ts';
import type { NeedRefView } from './feed-details.ts';
import { count, counted, perHour } from './figures.ts';
import { type Names, namesOf } from './linked-text.ts';
import { needLink } from './place.ts';
import { kindName } from './plan-text.ts';
import { type Mood, missingText, reasonText } from './sentences.ts';

interface Counted<T> {
  readonly total: number;
  readonly items: readonly T[];
}

interface VerdictChange {
  readonly need: NeedRefView;
  readonly why: string | null;
  readonly whyNow: string | null;
  readonly missing: Readonly<Record<string, string>>;
}

type ActionChange = Pick<Action, 'kind' | 'machine' | 'cluster' | 'reason'> & {
  readonly need: (NeedRefView & { readonly group: string }) | null;
};

interface WhatIfCost {
  readonly perHour: number;
  readonly afterActions: number;
}

interface NeedCounts {
  readonly met: number;
  readonly unmet: number;
}

interface Disruption {
  readonly preempted: number;
  readonly drained: number;
  readonly lost: number;
}

interface Settled {
  readonly cycles: number;
  readonly isQuiet: boolean;
  readonly remark: string | null;
  readonly bought: number;
  readonly bound: number;
  readonly preempted: number;
  readonly drained: number;
  readonly released: number;
  readonly cost: WhatIfCost;
  readonly needs: NeedCounts;
  readonly unmet: Counted<VerdictChange>;
  readonly met: Counted<VerdictChange>;
}

/** The part of the answer that the box shows. */
export interface WhatIfAnswer {
  readonly touched: {
    readonly removed: number;
    readonly repriced: number;
    readonly added: number;
    readonly needs: number;
  };
  readonly unmatched: readonly string[];
  readonly actions: {
    readonly now: Readonly<Record<string, number>>;
    readonly after: Readonly<Record<string, number>>;
    readonly added: Counted<ActionChange>;
    readonly dropped: Counted<ActionChange>;
  };
  readonly cost: { readonly now: WhatIfCost; readonly after: WhatIfCost };
  readonly verdicts: {
    readonly now: NeedCounts;
    readonly after: NeedCounts;
    readonly unmet: Counted<VerdictChange>;
    readonly met: Counted<VerdictChange>;
    readonly changed: Counted<VerdictChange>;
  };
  readonly disruption: { readonly now: Disruption; readonly after: Disruption };
  readonly settled: Settled | null;
}

/** Sentences about the differences to now, the most important first. */
export function answerTexts({
  touched,
  unmatched,
  actions,
  cost,
  verdicts,
  disruption,
  settled,
}: WhatIfAnswer): readonly string[] {
  return [
    unmatched.length === 0 ? '' : `Nothing in this fleet matches ${unmatched.join(', ')}.`,
    touchedText(touched),
    verdicts.after.unmet === verdicts.now.unmet && verdicts.unmet.total === 0
      ? `As many Needs would be met as now: ${count(verdicts.now.met)}.`
      : `${count(verdicts.after.unmet)} Needs would not be met, instead of ${count(verdicts.now.unmet)} now.`,
    `It would cost ${perHour(cost.after.afterActions)} after the actions, instead of ${perHour(cost.now.afterActions)}.`,
    actionsText(actions),
    disruptionText(disruption),
    settled === null ? '' : settledText(settled),
  ].filter((text) => text !== '');
}

function touchedText({ removed, repriced, added, needs }: WhatIfAnswer['touched']): string {
  const parts = [
    removed > 0 ? `${counted(removed, 'machine')} gone` : '',
    repriced > 0 ? `another price or probability for ${counted(repriced, 'machine')}` : '',
    added > 0 ? `${counted(added, 'machine')} more to buy` : '',
    needs > 0 ? `${counted(needs, 'Need')} changed` : '',
  ].filter((part) => part !== '');
  return parts.length === 0 ? '' : `The change: ${parts.join(', ')}.`;
}

function actionsText({ now, after }: WhatIfAnswer['actions']): string {
  const moves = [...new Set([...Object.keys(now), ...Object.keys(after)])]
    .filter((kind) => (after[kind] ?? 0) !== (now[kind] ?? 0))
    .map((kind) => `${kindName(kind)} ${count(after[kind] ?? 0)} instead of ${count(now[kind] ?? 0)}`);
  return moves.length === 0
    ? 'The next cycle would take as many actions of each kind as now.'
    : `The next cycle would ${moves.join(', ')}.`;
}

/** Machines in use; their pods are not known to the shard. */
function disruptionText({ now, after }: WhatIfAnswer['disruption']): string {
  const parts = (['lost', 'preempted', 'drained'] as const)
    .filter((kind) => now[kind] > 0 || after[kind] > 0)
    .map((kind) =>
      after[kind] === now[kind]
        ? `${count(after[kind])} ${kind}, as now`
        : `${count(after[kind])} ${kind} instead of ${count(now[kind])}`,
    );
  return parts.length === 0 ? '' : `Machines in use: ${parts.join('; ')}.`;
}

function settledText({ cycles, isQuiet, remark, needs, cost, ...moved }: Settled): string {
  const moves = (['bought', 'bound', 'preempted', 'drained', 'released'] as const)
    .filter((kind) => moved[kind] > 0)
    .map((kind) => `${count(moved[kind])} ${kind}`);
  const machines = moves.length === 0 ? 'no machine moved' : `machines: ${moves.join(', ')}`;
  return `After ${counted(cycles, 'cycle')}${isQuiet ? '' : ', not settled yet'}: ${count(needs.unmet)} Needs not met, ${machines}, ${perHour(cost.perHour)}.${remark === null ? '' : ` ${remark}`}`;
}

interface AnswerList {
  readonly title: string;
  readonly mood: Mood | '';
  readonly total: number;
  readonly items: readonly { readonly text: string; readonly names: Names }[];
}

/** The Needs and actions that differ, the Needs first; lists without an item are left out. */
export function answerLists({ verdicts, actions, settled }: WhatIfAnswer): readonly AnswerList[] {
  const { unmet, met, changed } = verdicts;
  return [
    listOf('Needs that would no longer be met', 'failed', unmet, verdictItem),
    listOf('Needs that would be met', 'done', met, verdictItem),
    listOf('Needs that would not be met for another reason', 'doing', changed, verdictItem),
    listOf('Actions that would be taken, and are not now', '', actions.added, actionItem),
    listOf('Actions that would no longer be taken', '', actions.dropped, actionItem),
    ...(settled === null
      ? []
      : [
          listOf('Needs that would no longer be met in the end', 'failed', settled.unmet, verdictItem),
          listOf('Needs that would be met in the end', 'done', settled.met, verdictItem),
        ]),
  ].filter(({ total }) => total > 0);
}

function listOf<T>(
  title: string,
  mood: AnswerList['mood'],
  { total, items }: Counted<T>,
  itemOf: (item: T) => AnswerList['items'][number],
): AnswerList {
  return { title, mood, total, items: items.map(itemOf) };
}

function verdictItem({ need, why, whyNow, missing }: VerdictChange): AnswerList['items'][number] {
  const lacks = Object.keys(missing).length === 0 ? '' : ` lacks ${missingText({ missing })}`;
  const reasons = [why ?? '', whyNow === null ? '' : `now: ${whyNow}`].filter((text) => text !== '');
  const text = `${need.id}${lacks}${reasons.length === 0 ? '' : `: ${reasons.join('; ')}`}`;
  return { text, names: [[need.id, needLink(need.id)]] };
}

const TO_OR_FROM: Readonly<Record<Action['kind'], (action: ActionChange) => string>> = {
  Bootstrap: ({ cluster, need }) => ` to ${cluster}${forNeed(need)}`,
  Provision: ({ cluster, need }) => ` for ${need?.id ?? cluster}`,
  Preempt: ({ cluster, need }) => ` from ${cluster}${forNeed(need)}`,
  Reclaim: ({ cluster }) => ` from ${cluster}`,
  Delete: () => '',
};

function forNeed(need: ActionChange['need']): string {
  return need === null ? '' : ` for ${need.id}`;
}

function actionItem(action: ActionChange): AnswerList['items'][number] {
  const { kind, machine } = action;
  const why = reasonText({ ...action, provider: '' });
  const text = `${kindName(kind)} ${machine}${TO_OR_FROM[kind]?.(action) ?? ''}: ${why}`;
  // Machines of added stock exist in the answer only.
  const names = namesOf(action).filter(([name]) => name !== machine || !/^what-if-\d+$/.test(machine));
  return { text, names };
}
