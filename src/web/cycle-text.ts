// Texts about a past cycle, and about the same cycle decided again, with the types of both answers of the API as far as they
// are shown. Runs in a browser.

import type { ActionKind, Planned } from './feed.ts';
import { count, counted, milliseconds } from './figures.ts';
import { kindsText } from './plan-text.ts';
import { heldBackText, reasonText } from './sentences.ts';

/** `why`: null if the cycle started it; absent if that is not known. */
export type CycleAction = Omit<Planned, 'why' | 'pricePerHour' | 'freeze'> & {
  readonly why?: string | null;
  readonly freeze?: Planned['freeze'];
};

type Kinds = Readonly<Partial<Record<ActionKind, number>>>;

export interface CyclePlan {
  readonly cycle: number;
  readonly epoch: number;
  readonly atMs: number;
  readonly durationMs: number;
  readonly digest: string;
  readonly unmet: number;
  readonly decided: Kinds;
  /** By reason. */
  readonly waiting: Readonly<Record<string, number>>;
  readonly actions: {
    readonly items: readonly CycleAction[];
    readonly total: number;
    readonly next: string | null;
  };
  readonly notListed: number;
}

interface Side {
  readonly digest: string;
  readonly decided: Kinds;
  readonly unmet: number;
}

interface Listed {
  readonly total: number;
  readonly items: readonly CycleAction[];
}

export interface Redecision {
  readonly isSame: boolean;
  readonly recorded: Side;
  readonly again: Side;
  readonly durationMs: number;
  readonly readMs: number;
  readonly cyclesRead: number;
  readonly onlyRecorded: Listed;
  readonly onlyAgain: Listed | null;
  readonly actions: Listed;
}

/** `bind 3 and buy 12`, or `nothing`. */
export function decidedText(kinds: Kinds): string {
  return kindsText(kinds) || 'nothing';
}

/** `12: it is frozen`, for each reason, the most frequent one first. */
export function waitingTexts(waiting: CyclePlan['waiting']): readonly string[] {
  return Object.entries(waiting)
    .filter(([, total]) => total > 0)
    .sort(([, a], [, b]) => b - a)
    .map(([why, total]) => `${count(total)}: ${heldBackText(why)}`);
}

/** Why an action was decided. That of one that is decided again does not say why a machine is in excess. */
export function decidedWhy(action: CycleAction): string {
  const isExcess = action.reason === 'phase2.excess' || action.reason === 'phase3.excess';
  return isExcess && action.leaving === undefined ? 'no row counts on it' : reasonText(action);
}

/** What became of an action in its cycle. */
export function fateText({ why, freeze = null }: CycleAction): string {
  if (why === undefined) return '';
  return why === null ? 'started' : `held back: ${heldBackText(why, freeze)}`;
}

export function notListedText(plan: Pick<CyclePlan, 'notListed'>): string {
  if (plan.notListed === 0) return '';
  return `${counted(plan.notListed, 'action')} more, most of them held back by an earlier cycle already; deciding the cycle again lists them.`;
}

/** Whether both plans are the same, and how the answer was made. */
export function redecisionTexts(answer: Redecision): readonly string[] {
  const { isSame, recorded, again, durationMs, readMs, cyclesRead } = answer;
  const made = `Reading ${counted(cyclesRead, 'cycle')} of the journal took ${milliseconds(readMs)}, deciding ${milliseconds(durationMs)}.`;
  if (isSame)
    return [
      `The same plan: ${decidedText(again.decided)}; ${unmetText(again)}; digest ${again.digest}.`,
      made,
    ];
  return [
    'Another plan. The version that decides now may have other rules than the one that ran.',
    `Recorded: ${decidedText(recorded.decided)}; ${unmetText(recorded)}; digest ${recorded.digest}.`,
    `Now: ${decidedText(again.decided)}; ${unmetText(again)}; digest ${again.digest}.`,
    differenceText(answer),
    made,
  ];
}

function differenceText({ onlyRecorded, onlyAgain }: Redecision): string {
  const added = onlyAgain === null ? null : counted(onlyAgain.total, 'action');
  if (onlyRecorded.total === 0 && (onlyAgain === null || onlyAgain.total === 0))
    return 'No listed action differs; verdicts or claims do.';
  const gone = `${counted(onlyRecorded.total, 'action')} of the record ${onlyRecorded.total === 1 ? 'is' : 'are'} not decided now`;
  return added === null
    ? `${gone}.`
    : `${gone}; ${added} of now ${onlyAgain?.total === 1 ? 'is' : 'are'} not in the record.`;
}

function unmetText({ unmet }: Side): string {
  return unmet === 0 ? 'all Needs met' : `${counted(unmet, 'Need')} not met`;
}
