// Every word that a surface prints and that a reader may look up with `bigfleet explain` (explain.ts), in groups. A
// word may have a meaning in several groups: `failed` is a state of a machine, a kind of loss and what keeps a machine
// from a Need.

import {
  ACTION_KINDS,
  ACTION_WORDS,
  ERRORS,
  UNMET_REASONS,
  unmetAdvice,
  unmetText,
} from '../../model/index.ts';
import { didYouMean } from '../../runtime/nearest.ts';
import {
  ACTION_REASONS,
  ACTIONS,
  CAPACITY_TYPES,
  HELD_BACK,
  LEAVING_CAUSES,
  MACHINE_STATES,
  type Meaning,
  OUTCOMES,
} from './decision-terms.ts';
import { TERMS } from './terms.ts';
import {
  BREAKERS,
  ERROR_CLASSES,
  FINDINGS,
  LOSSES,
  OBSTACLES,
  PHASES,
  PROVIDER_HEALTH,
} from './trouble-terms.ts';

export interface Entry {
  readonly group: string;
  readonly word: string;
  readonly summary: string;
  /** '' where there is nothing to do. */
  readonly remedy: string;
  readonly synonyms: readonly string[];
}

export interface Group {
  /** As an argument of `explain`. */
  readonly name: string;
  /** What one of its words is: `an action`. */
  readonly one: string;
  /** Heading of the group. */
  readonly title: string;
  readonly entries: readonly Entry[];
}

type Table = Readonly<Record<string, Meaning>>;

/** What is shown for an action that has no outcome yet. */
const UNDER_WAY: Table = {
  'under way': { summary: 'The action has begun; its machine has not reached its target state yet.' },
};

export const GROUPS: readonly Group[] = [
  groupOf('terms', 'a term', 'Terms that all surfaces are written in', TERMS),
  groupOf('errors', 'an error code', 'Error codes of commands, logs and the API', ERRORS),
  groupOf('verdicts', 'a verdict on a Need', 'Verdicts on a Need', verdicts()),
  groupOf('obstacles', 'an obstacle', 'What keeps a machine that matches from a Need', OBSTACLES),
  groupOf('actions', 'an action', 'What a shard does with a machine', actions()),
  groupOf('reasons', 'a reason of an action', 'Why an action was decided', ACTION_REASONS),
  groupOf('leaving', 'a cause of leaving', 'Why a machine leaves its cluster', LEAVING_CAUSES),
  groupOf('held-back', 'a reason to hold back', 'Why a decided action was not begun', HELD_BACK),
  groupOf('outcomes', 'an outcome', 'How an action ended', { ...OUTCOMES, ...UNDER_WAY }),
  groupOf('states', 'a state of a machine', 'States of a machine', MACHINE_STATES),
  groupOf('capacity', 'a capacity type', 'How a machine is paid for', CAPACITY_TYPES),
  groupOf('losses', 'a loss', 'How a machine is lost', LOSSES),
  groupOf(
    'classes',
    'a class of errors',
    'Classes of errors of machines, in metrics and events',
    ERROR_CLASSES,
  ),
  groupOf('findings', 'a finding', 'What a change that a provider reports means', FINDINGS),
  groupOf('health', 'a health state of a provider', 'Health of the machines of a provider', PROVIDER_HEALTH),
  groupOf('breakers', 'a state of a breaker', 'Whether calls to a provider go through', BREAKERS),
  groupOf('phases', 'a phase of a shard', 'What a shard is doing', PHASES),
];

function groupOf(name: string, one: string, title: string, table: Table): Group {
  const entries = Object.entries(table).map(([word, { summary, remedy = '', synonyms = [] }]): Entry => {
    return { group: name, word, summary, remedy, synonyms };
  });
  return { name, one, title, entries };
}

/** Keyed by the verb that people use; the wire's name and the other tenses are synonyms. */
function actions(): Table {
  return Object.fromEntries(
    ACTION_KINDS.map((kind) => {
      const { verb, doing, done } = ACTION_WORDS[kind];
      const synonyms = [kind, doing, done].filter((word) => normalised(word) !== normalised(verb));
      return [verb, { ...ACTIONS[kind], synonyms }];
    }),
  );
}

/** The sentences that every surface shows for a Need that is not met. */
function verdicts(): Table {
  const met: Table = {
    met: { summary: 'The machines that the Need counts on have all that it wants.' },
    unmet: {
      summary: 'A part of what the Need wants is missing.',
      remedy: 'See "bigfleet explain NEED".',
    },
  };
  const unmet = UNMET_REASONS.map((reason): [string, Meaning] => {
    const why = unmetText(reason);
    return [reason, { summary: `Not met: ${why}.`, remedy: unmetAdvice(reason) }];
  });
  return { ...met, ...Object.fromEntries(unmet) };
}

/** In lower case, joined by dashes instead of underscores or spaces. */
function normalised(word: string): string {
  return word.toLowerCase().replaceAll(/[_\s]+/g, '-');
}

export function groupNamed(word: string): Group | undefined {
  return GROUPS.find(({ name }) => name === normalised(word));
}

/** All meanings of a word. */
export function meaningsOf(word: string): readonly Entry[] {
  const wanted = normalised(word);
  return GROUPS.flatMap(({ entries }) =>
    entries.filter((entry) => [entry.word, ...entry.synonyms].some((known) => normalised(known) === wanted)),
  );
}

/** ` Did you mean preempt?`; '' if no word is near. */
export function nearWord(word: string): string {
  const known = GROUPS.flatMap(({ name, entries }) => [
    name,
    ...entries.flatMap((entry) => [entry.word, ...entry.synonyms]),
  ]);
  return didYouMean(word, known);
}
