// Case files: one behaviour of the engine each, as data. `given` is a scenario as `bigfleet decide` reads it (with
// ranges, see ranges.ts), `then` the expected decision, `steps` what happens afterwards. Executed by cases.test.ts.

import { readdirSync, readFileSync } from 'node:fs';
import type { ActionKind } from '../../src/model/index.ts';
import { type RawScenario, withChange } from './next-cycle.ts';
import { expandItems, expandStringLists } from './ranges.ts';

export type Json = Readonly<Record<string, unknown>>;

/** What a decision must contain. Omitted fields are not checked. Objects match if they have the named fields. */
export interface Expectation {
  /** All actions, in order. */
  readonly actions?: readonly Json[];
  /** How many actions of each kind; kinds not named: none. */
  readonly counts?: Partial<Record<ActionKind, number>>;
  /** Needs found by cluster, group and priority (those given), and what holds of each. */
  readonly needs?: readonly Json[];
  /** How many Needs are met and unmet. */
  readonly met?: number;
  readonly unmet?: number;
  /** Machine to claiming key; null: unclaimed. */
  readonly claims?: Json;
  /** Exactly these machines are claimed, in any order. */
  readonly claimedExactly?: readonly string[];
  /** Machines with an action of this kind (or claimed) counted by the value of a label or `zone`. */
  readonly domains?: { readonly of: ActionKind | 'claimed'; readonly label: string; readonly counts: Json };
  readonly cost?: Json;
}

/** Changes before a decision. */
export interface Change {
  readonly now?: string;
  readonly advanceSeconds?: number;
  readonly options?: Json;
  /** Replaces all Needs. */
  readonly needs?: readonly Json[];
  /** Machine id (or range) to fields that change; null removes the field, or the machine. */
  readonly machines?: Json;
}

export interface Step {
  /** `plan`: the previous plan is carried out at once (the default). `given`: start over from `given`. */
  readonly from?: 'plan' | 'given';
  readonly change?: Change;
  /** Number of decisions, each on the outcome of the one before. */
  readonly times?: number;
  /** `then` in the file. */
  readonly expected: Expectation;
}

export interface CaseFile {
  readonly file: string;
  readonly number: number;
  readonly title: string;
  readonly given: RawScenario;
  readonly steps: readonly Step[];
}

const FIELDS = ['case', 'title', 'rule', 'changed', 'given', 'then', 'steps'];
const REQUIRED = ['case', 'title', 'rule', 'given', 'then'];
const STEP_FIELDS = ['from', 'change', 'times', 'then'];
const CHANGE_FIELDS = ['now', 'advanceSeconds', 'options', 'needs', 'machines'];
const EXPECTATION_FIELDS = [
  'actions',
  'counts',
  'needs',
  'met',
  'unmet',
  'claims',
  'claimedExactly',
  'domains',
  'cost',
];

/** All case files of this folder, by name. */
export function loadCases(): readonly CaseFile[] {
  const folder = import.meta.dirname;
  const files = readdirSync(folder).filter((name) => name.endsWith('.json'));
  return files.sort().map((file) => parseCase(file, readFileSync(`${folder}/${file}`, 'utf8')));
}

function parseCase(file: string, text: string): CaseFile {
  const value = JSON.parse(text) as Json;
  checkFields(file, value, FIELDS, REQUIRED);
  const number = value['case'] as number;
  if (!file.startsWith(`${String(number).padStart(3, '0')}-`))
    throw new Error(`${file} holds case ${number}`);
  const { then } = value;
  const steps = [{ then }, ...((value['steps'] ?? []) as readonly Json[])];
  return {
    file,
    number,
    title: value['title'] as string,
    given: expandScenario(value['given'] as Json),
    steps: steps.map((step) => parseStep(file, step)),
  };
}

function parseStep(file: string, value: Json): Step {
  checkFields(file, value, STEP_FIELDS, ['then']);
  const { then, ...rest } = value;
  checkFields(file, then as Json, EXPECTATION_FIELDS, []);
  checkFields(file, (rest['change'] ?? {}) as Json, CHANGE_FIELDS, []);
  return { ...(rest as Omit<Step, 'expected'>), expected: expandStringLists(then) as Expectation };
}

/** A misspelt field would be an expectation that is never checked. */
function checkFields(file: string, value: Json, known: readonly string[], required: readonly string[]): void {
  const unknown = Object.keys(value).filter((field) => !known.includes(field));
  const missing = required.filter((field) => value[field] === undefined);
  if (unknown.length > 0 || missing.length > 0) {
    throw new Error(`${file}: unknown fields [${unknown.join()}], missing fields [${missing.join()}]`);
  }
}

function expandScenario(given: Json): RawScenario {
  const machines = expandItems((given['machines'] ?? []) as readonly Json[]);
  const needs = expandItems((given['needs'] ?? []) as readonly Json[]);
  return withChange({ ...given, machines, needs }, {});
}
