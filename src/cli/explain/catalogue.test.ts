// Completeness: whatever word a surface prints, `explain` knows it. The tables are typed by the unions that surfaces use;
// what types cannot say is compared here with the tables and sources that surfaces print from.

import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import {
  ACTION_KINDS,
  ACTION_WORDS,
  CapacityType,
  ERRORS,
  MachineState,
  Meaning,
  UNMET_REASONS,
} from '../../model/index.ts';
import { STATES } from '../../web/index.ts';
import { LINE_WIDTH } from '../table.ts';
import { GROUPS, groupNamed, meaningsOf, nearWord } from './catalogue.ts';
import { explainCommand } from './explain.ts';

async function explained(...words: string[]): Promise<string> {
  let out = '';
  const io = { out: (text: string) => (out += text), paint: (_: unknown, text: string) => text };
  await explainCommand(io).exitOverride().parseAsync(words, { from: 'user' });
  return out;
}

const groupsOf = (word: string): readonly string[] => meaningsOf(word).map(({ group }) => group);

describe('explain knows', () => {
  it.each([
    ['errors', Object.keys(ERRORS)],
    ['verdicts', [...UNMET_REASONS, 'met', 'unmet']],
    ['actions', ACTION_KINDS],
    ['actions', Object.values(ACTION_WORDS).flatMap(({ verb, doing, done }) => [verb, doing, done])],
    ['states', Object.keys(MachineState)],
    ['states', STATES.flatMap(({ state, label }) => [state, label])],
    ['capacity', ['BARE_METAL', 'bare-metal', ...Object.keys(CapacityType)]],
    ['findings', Object.values(Meaning)],
  ])('every word of the group %s', (group, words) => {
    expect(words.filter((word) => !groupsOf(word).includes(group))).toEqual([]);
  });

  /** Names of messages, orders, fields and log levels, which are no words for people. */
  const NO_WORDS = new Set([
    ...['are', 'info', 'warn', 'error', 'cycle', 'action-started', 'action-ended', 'loss', 'losses', 'log'],
    ...[
      'freeze',
      'unfreeze',
      'retry',
      'quarantine',
      'forget',
      'accept-list',
      'accept-rollup',
      'refuse-rollup',
    ],
    ...[
      'lift-set-aside',
      'ask',
      'answer',
      'id',
      'who',
      'why',
      'from',
      'zone',
      'state',
      'acceptedMs',
      'waiting',
    ],
    ...[
      'capacityType',
      'errorClass',
      'actions',
      'leaving',
      'general',
      'accelerated',
      'doing',
      'name',
      'trouble',
    ],
  ]);

  it.each(['src/shard/views.ts', 'src/web/feed.ts', 'src/web/sentences.ts', 'src/web/loss-text.ts'])(
    'every word that %s has for a reader',
    (file) => {
      // Strings in unions of types, and names of tables of texts.
      const source = readFileSync(file, 'utf8')
        .replaceAll(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, '')
        // Names of fields, of which a type takes some.
        .replaceAll(/\b(Pick|Omit)<[^>]*>/g, '');
      const unions = source.matchAll(/(?:[|:=]|=>)\s*'([\w.-]+)'(?=\s*[;|])/g);
      const tables = source.matchAll(/Readonly<Record<[^=]*?> = \{([\s\S]*?)\n\};/g);
      const keys = [...tables].flatMap(([, body]) => [...body!.matchAll(/^ {2}'?([\w.-]+)'?: /gm)]);
      const words = [...unions, ...keys].map(([, word]) => word!).filter((word) => !NO_WORDS.has(word));
      expect(words.length).toBeGreaterThan(3);
      const advice = 'explain them in src/cli/explain, or list them in NO_WORDS if no reader meets them';
      expect(
        words.filter((word) => meaningsOf(word).length === 0),
        advice,
      ).toEqual([]);
    },
  );

  it('every term that headings of lists and lines of the status are named by', () => {
    const words = ['need', 'needs', 'roll-up', 'row', 'rank', 'priority', 'gang', 'domain', 'shortfall'];
    const more = ['escalated', 'missing', 'session', 'breaker', 'cost', 'owned', 'amortised', 'epoch'];
    for (const word of [...words, ...more, 'freeze', 'plan', 'cycle', 'shard', 'provider'])
      expect(groupsOf(word), word).toContain('terms');
  });

  it('every error code that a source names', () => {
    const files = ['src/cli/report-error.ts', 'src/cli/exit-codes.ts', 'src/provider/client/errors.ts'];
    const named = files.flatMap((file) => readFileSync(file, 'utf8').match(/\bBF_[A-Z_]+\b/g) ?? []);
    expect(named.filter((code) => !groupsOf(code).includes('errors'))).toEqual([]);
  });
});

describe('the catalogue', () => {
  it('says something of every word, in sentences', () => {
    const entries = GROUPS.flatMap((group) => group.entries);
    expect(entries.filter(({ summary }) => !/^[A-Z].*\.$/.test(summary))).toEqual([]);
    expect(entries.filter(({ word, group }) => !groupsOf(word).includes(group))).toEqual([]);
  });

  it('finds words in any case, joined by dashes, underscores or spaces', () => {
    for (const word of ['MACHINE_FAILED', 'machine-failed', 'Machine failed'])
      expect(meaningsOf(word).map((entry) => entry.word)).toEqual(['machine_failed']);
    expect(meaningsOf('bootstrap').map((entry) => entry.word)).toEqual(['bind']);
  });

  it('has each word once in a group', () => {
    for (const { entries } of GROUPS) {
      const words = entries.flatMap(({ word, synonyms }) => [word, ...synonyms]);
      expect(new Set(words).size).toBe(words.length);
    }
  });

  it('suggests a word that is near, and none that is not', () => {
    expect(nearWord('premept')).toBe(' Did you mean preempt?');
    expect(nearWord('zzzzzzzzzzzz')).toBe('');
  });
});

describe('bigfleet explain WORD', () => {
  it('tells every meaning of a word, each with its group', async () => {
    const out = await explained('failed');
    expect(out).toContain('Failed, a state of a machine\n');
    expect(out).toContain('failed, a loss\n');
    expect(await explained('Provision')).toMatch(
      /^buy, an action \(also: Provision, ordered, bought\)\n {2}Buys /,
    );
    expect(await explained('phase1.idle')).toMatch(/^phase1\.idle, a reason of an action\n {2}Phase 1 /);
  });

  it('lists the groups without a word, and the words of one group by its name', async () => {
    const all = await explained();
    for (const { name, title } of GROUPS) expect(all).toContain(`${name}: ${title}\n`);
    expect(all.split('\n').filter((line) => line.length > LINE_WIDTH)).toEqual([]);
    const outcomes = await explained('outcomes');
    for (const { word } of groupNamed('outcomes')!.entries) expect(outcomes).toContain(`\n${word}\n`);
  });

  it('does the same as JSON: an object for a code, a list for other words', async () => {
    expect(JSON.parse(await explained('bf_usage', '-o', 'json'))).toMatchObject({
      code: 'BF_USAGE',
      group: 'errors',
      ...ERRORS.BF_USAGE,
    });
    const frozen = JSON.parse(await explained('frozen', '-o', 'json')) as { group: string }[];
    expect(frozen.map(({ group }) => group)).toEqual(['obstacles', 'held-back']);
    expect(JSON.parse(await explained('-o', 'json'))).toHaveLength(
      GROUPS.reduce((sum, { entries }) => sum + entries.length, 0),
    );
  });

  it.each([
    ['premept', 'The word "premept" is not known. Did you mean preempt?'],
    ['ml/zz', '"ml/zz" is no Need'],
  ])('refuses %s', async (word, message) => {
    await expect(explained(word)).rejects.toThrow(message);
  });
});
