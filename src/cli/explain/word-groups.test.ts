// Completeness: `explain` knows every word that a surface prints. The tables are typed by the unions that surfaces use; what
// types cannot express is compared here with the tables and sources that surfaces print from.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
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
import { explainCommand } from './explain.ts';
import { GROUPS, groupNamed, meaningsOf, nearWord } from './word-groups.ts';

async function explained(...words: string[]): Promise<string> {
  let out = '';
  const io = { out: (text: string) => (out += text), paint: (_: unknown, text: string) => text };
  await explainCommand(io).exitOverride().parseAsync(words, { from: 'user' });
  return out;
}

const groupsOf = (word: string): readonly string[] => meaningsOf(word).map(({ group }) => group);

/** The text of a file, or of all files of a folder. */
function sourceAt(path: string): string {
  const files = path.endsWith('.ts') ? [path] : readdirSync(path).map((name) => join(path, name));
  return files.map((file) => readFileSync(file, 'utf8')).join('\n');
}

describe('completeness of the catalogue', () => {
  it.each([
    ['errors', Object.keys(ERRORS)],
    ['verdicts', [...UNMET_REASONS, 'met', 'unmet']],
    ['actions', ACTION_KINDS],
    ['actions', Object.values(ACTION_WORDS).flatMap(({ verb, doing, done }) => [verb, doing, done])],
    ['states', Object.keys(MachineState)],
    ['states', STATES.flatMap(({ state, label }) => [state, label])],
    ['capacity', ['BARE_METAL', 'bare-metal', ...Object.keys(CapacityType)]],
    ['findings', Object.values(Meaning)],
  ])('given the group %s, then every word of it is known', (group, words) => {
    expect(words.filter((word) => !groupsOf(word).includes(group))).toEqual([]);
  });

  /** Names of messages, orders, fields and log levels, which people never see as words. */
  const NOT_SHOWN = new Set([
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

  it.each(['src/shard/views', 'src/web/feed.ts', 'src/web/sentences.ts', 'src/web/loss-text.ts'])(
    'given %s, then every word that it shows is known',
    (path) => {
      // Strings in schemas and in unions of types, and names of tables of texts.
      const source = sourceAt(path)
        .replaceAll(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, '')
        // Names of fields, as in Pick and Omit.
        .replaceAll(/\b(Pick|Omit)<[^>]*>/g, '');
      const enums = [...source.matchAll(/\benum\(\[([^\]]*)\]\)/g)];
      const values = enums.flatMap(([, list]) => [...list!.matchAll(/'([\w.-]+)'/g)]);
      const unions = source.matchAll(/(?:[|:=]|=>)\s*'([\w.-]+)'(?=\s*[;|])/g);
      const tables = source.matchAll(/Readonly<Record<[^=]*?> = \{([\s\S]*?)\n\};/g);
      const keys = [...tables].flatMap(([, body]) => [...body!.matchAll(/^ {2}'?([\w.-]+)'?: /gm)]);
      const words = [...values, ...unions, ...keys]
        .map(([, word]) => word!)
        .filter((word) => !NOT_SHOWN.has(word));
      expect(words.length).toBeGreaterThan(3);
      const advice = 'explain them in src/cli/explain, or list them in NOT_SHOWN if no surface prints them';
      expect(
        words.filter((word) => meaningsOf(word).length === 0),
        advice,
      ).toEqual([]);
    },
  );

  it('given headings of lists and labels of the status, then every term is known', () => {
    const words = ['need', 'needs', 'roll-up', 'row', 'rank', 'priority', 'gang', 'domain', 'shortfall'];
    const more = ['escalated', 'missing', 'session', 'breaker', 'cost', 'owned', 'amortised', 'epoch'];
    for (const word of [...words, ...more, 'freeze', 'plan', 'cycle', 'shard', 'provider'])
      expect(groupsOf(word), word).toContain('terms');
  });

  it('given the sources, then every error code in them is known', () => {
    const files = ['src/cli/report-error.ts', 'src/cli/exit-codes.ts', 'src/provider/client/errors.ts'];
    const named = files.flatMap((file) => readFileSync(file, 'utf8').match(/\bBF_[A-Z_]+\b/g) ?? []);
    expect(named.filter((code) => !groupsOf(code).includes('errors'))).toEqual([]);
  });
});

describe('the catalogue', () => {
  it('given any word, then its meaning is a sentence', () => {
    const entries = GROUPS.flatMap((group) => group.entries);
    expect(entries.filter(({ summary }) => !/^[A-Z].*\.$/.test(summary))).toEqual([]);
    expect(entries.filter(({ word, group }) => !groupsOf(word).includes(group))).toEqual([]);
  });

  it('given any case, dashes, underscores or spaces, then the word is found', () => {
    for (const word of ['MACHINE_FAILED', 'machine-failed', 'Machine failed'])
      expect(meaningsOf(word).map((entry) => entry.word)).toEqual(['machine_failed']);
    expect(meaningsOf('bootstrap').map((entry) => entry.word)).toEqual(['bind']);
  });

  it('given a group, then each word is in it once', () => {
    for (const { entries } of GROUPS) {
      const words = entries.flatMap(({ word, synonyms }) => [word, ...synonyms]);
      expect(new Set(words).size).toBe(words.length);
    }
  });

  it('given a typing error, then it suggests the nearest word; given an unlike word, then none', () => {
    expect(nearWord('premept')).toBe(' Did you mean preempt?');
    expect(nearWord('zzzzzzzzzzzz')).toBe('');
  });
});

describe('bigfleet explain WORD', () => {
  it('given a word with several meanings, then it prints each with its group', async () => {
    const out = await explained('failed');
    expect(out).toContain('Failed, a state of a machine\n');
    expect(out).toContain('failed, a loss\n');
    expect(await explained('Provision')).toMatch(
      /^buy, an action \(also: Provision, ordered, bought\)\n {2}Buys /,
    );
    expect(await explained('phase1.idle')).toMatch(/^phase1\.idle, a reason of an action\n {2}Phase 1 /);
  });

  it('given no word, then it lists the groups; given a group, then its words', async () => {
    const all = await explained();
    for (const { name, title } of GROUPS) expect(all).toContain(`${name}: ${title}\n`);
    expect(all.split('\n').filter((line) => line.length > LINE_WIDTH)).toEqual([]);
    const outcomes = await explained('outcomes');
    for (const { word } of groupNamed('outcomes')!.entries) expect(outcomes).toContain(`\n${word}\n`);
  });

  it('given -o json, then it prints an object for an error code and a list for other words', async () => {
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
    ['ml/zz', '"ml/zz" is not a Need'],
  ])('refuses %s', async (word, message) => {
    await expect(explained(word)).rejects.toThrow(message);
  });
});
