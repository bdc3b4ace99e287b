// `bigfleet describe`, `explain cluster` and `history` over the API.

import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { explainCommand } from '../../src/cli/explain/explain.ts';
import { historyCommand } from '../../src/cli/journal/history.ts';
import { ShardClient } from '../../src/cli/remote/client.ts';
import { describeCommand } from '../../src/cli/remote/describe.ts';
import { explanationOf } from '../../src/cli/remote/explain-need.ts';
import { BigFleetError } from '../../src/model/index.ts';
import type { EventView } from '../../src/shard/index.ts';
import { recentHistory } from '../../src/shard/planning/queries/recent-history.ts';
import {
  BOOTSTRAP,
  CLUSTERS,
  EVENTS,
  FakeShard,
  MACHINES,
  NOW_MS,
  UNMET,
  UNMET_EXPLANATION,
} from '../../testing/support/fake-shard.ts';
import { type Served, servedShard } from './served.ts';

let served: Served;
beforeEach(async () => {
  served = await servedShard();
});
afterEach(() => served.close());

const show = (...words: string[]) => served.run(describeCommand, words);

describe('bigfleet explain machine', () => {
  const explain = (...words: string[]) => served.run(explainCommand, ['machine', 'm-1', ...words]);
  const TRAINING = UNMET_EXPLANATION.need;
  const provision = { ...BOOTSTRAP, kind: 'Provision', reason: 'phase1.speculative' } as const;
  const preempt = { ...BOOTSTRAP, kind: 'Preempt', reason: 'phase2.inversion', need: TRAINING } as const;
  const loss: Extract<EventView, { kind: 'loss' }>['loss'] = {
    ...{ atMs: NOW_MS, machine: 'm-1', provider: 'metal', cluster: 'prod-eu', need: BOOTSTRAP.need },
    ...{ zone: 'eu-1a', capacityType: 'BARE_METAL', was: 'CONFIGURED' },
    ...{ loss: 'failed', errorClass: 'host-failed', error: 'the host died' },
  };
  const happened = (...events: readonly object[]) => {
    const all = events.map((event, i) => ({ id: `3-${i}`, atMs: NOW_MS - (9 - i) * 60_000, ...event }));
    served.shard.answers.history = (ask) => recentHistory(all as EventView[], ask);
  };
  const ended = (action: object) => ({ kind: 'action-ended', action });

  it('given what was done with a machine, then it says why it is here, and why it was taken and lost', async () => {
    happened(
      ended(provision),
      ended(BOOTSTRAP),
      ended(preempt),
      { kind: 'loss', loss },
      ended({ ...BOOTSTRAP, outcome: 'failed', message: 'the host died' }),
    );
    const lines = (await explain()).split('\n');
    expect(lines[0]).toBe('m-1  configured');
    const record = lines.slice(lines.indexOf('Why it is here, and what happened to it') + 1, -1);
    const facts = record.map((line) => line.trim().replaceAll(/ +/g, ' '));
    expect(facts).toEqual([
      'bought 9m ago: bought m-1 for prod-eu: nothing idle fits; for Need prod-eu/3fa94c01de of',
      'priority 1,000',
      'bound 8m ago: bound m-1 to prod-eu: idle, and fits; for Need prod-eu/3fa94c01de of',
      'priority 1,000',
      'taken 7m ago: preempted m-1 from prod-eu for ml/00ff00ff00: priority 100 goes before a',
      'lower one',
      'lost 6m ago: lost m-1 (bare-metal, eu-1a) of metal, which served prod-eu for',
      'prod-eu/3fa94c01de: the host died',
      'last action 5m ago: failed to bind m-1 to prod-eu: failed (the host died); for Need',
      'prod-eu/3fa94c01de of priority 1,000',
    ]);
    expect(served.shard.asked.find(({ name }) => name === 'history')!.ask).toMatchObject({
      machine: 'm-1',
      kinds: ['action', 'loss'],
    });
    expect(JSON.parse(await explain('-o', 'json'))).toMatchObject({
      ...{ id: 'm-1', state: 'CONFIGURED' },
      record: { bought: { id: '3-0' }, taken: { id: '3-2' }, lost: { id: '3-3' }, lastAction: { id: '3-4' } },
    });
  });

  it('given a machine whose last action is its purchase, then that is said once; given none, then that', async () => {
    happened(ended(provision));
    expect((await explain()).match(/ ago: /g)).toHaveLength(1);
    happened();
    expect(await explain()).toContain('  No action and no loss of it is on record.\n');
  });
});

describe('bigfleet describe', () => {
  it('given a machine, then it has its facts and its events', async () => {
    const text = await show('machine', 'm-1');
    expect(text).toMatch(/^m-1 {2}configured\n/);
    expect(text).toMatch(/Recent events, newest first\n.*\n +2m +action +bound m-1 to prod-eu/);
    expect(served.shard.asked.at(-1)).toMatchObject({ name: 'history', ask: { machine: 'm-1' } });
    expect(await show('mc/m-1')).toBe(text);
    expect(JSON.parse(await show('machine', 'm-1', '-o', 'json'))).toMatchObject({
      machine: MACHINES[0],
      events: [{ id: EVENTS[0]!.id }],
    });
  });

  it('given a Need, then it has its explanation and its events', async () => {
    const text = await show(`need/${UNMET.id}`);
    expect(text).toContain(`Need ${UNMET.id}`);
    expect(text).toContain('What would help');
    expect(served.shard.asked.at(-1)).toMatchObject({ name: 'history', ask: { need: UNMET.id } });
  });

  it('given a Need of a fleet that is being copied, then it asks again until there is an answer', async () => {
    // Given
    const { shard, url } = served;
    const { explain } = shard.answers;
    let asked = 0;
    shard.answers.explain = (ask) => {
      if (++asked < 3) throw new BigFleetError('BF_WHATIF_BUSY', 'The fleet is being copied.');
      return explain(ask);
    };
    const client = new ShardClient(url, { tls: null, tokenFile: null });
    const waits: number[] = [];
    // When
    const { need } = await explanationOf(client, UNMET.id, async (ms) => waits.push(ms));
    // Then
    expect(need.id).toBe(UNMET.id);
    expect(waits).toHaveLength(2);
  });

  it('given a cluster, then it has demand, guardrails, unmet Needs and what is held back', async () => {
    const text = await show('cl', 'ml');
    expect(text).toMatch(/^ml {2}not connected\n/);
    expect(text).toContain('Guardrails in force');
    expect(text).toContain(`No machine can join: ${CLUSTERS[1]!.cannotBind}`);
    expect(text).toMatch(/Unmet Needs\n.*\n {2}ml\/00ff00ff00/);
    expect(text).toMatch(/Decided, and held back\n.*\n {2}buy +gpu\/8/);
    expect(text.split('\n').filter((line) => line.length > 100)).toEqual([]);
  });

  it('given a provider, then it has its health, Failed machines and events about it', async () => {
    const text = await show('provider', 'cloud');
    expect(text).toMatch(/calls +7 waiting, breaker open/);
    expect(text).toMatch(/Recent events.*\n.*\n.*log/);
    expect(await show('provider', 'metal')).not.toContain('Recent events');
  });

  it.each([
    [['machine', 'm-9'], 'There is no machine m-9'],
    [['cluster', 'nowhere'], 'There is no cluster nowhere'],
    [['provider', 'nowhere'], 'There is no provider nowhere'],
    [['need', 'ml'], 'is not a Need, which is CLUSTER/TEN-HEX-DIGITS'],
    [['pod', 'x'], '"pod" is none of machine, need, cluster, provider'],
    [['machine'], 'Which machine? "bigfleet get machines" lists them'],
  ])('given %j, then the error says what to name', async (words, message) => {
    await expect(show(...words)).rejects.toThrow(message);
  });
});

describe('bigfleet explain cluster', () => {
  it('given a cluster, then it says why it has what it has', async () => {
    const freeze = {
      id: 'x',
      who: 'ann',
      why: 'a look',
      cluster: 'ml',
      action: null,
      sinceMs: 0,
      untilMs: null,
    };
    const retired = { who: 'bo', why: 'closed', sinceMs: 0 };
    const view = { ...CLUSTERS[1]!, freeze, retired, hasReported: false };
    served.shard.answers.clusters = () => ({ items: [view], total: 1, next: null });
    const text = await served.run(explainCommand, ['cluster', 'ml']);
    expect(text).toContain('- All actions frozen by ann');
    expect(text).toContain('- Retired by bo');
    expect(text).toContain('It has not reported since the start');
    expect(JSON.parse(await served.run(explainCommand, ['cluster', 'ml', '-o', 'json']))).toMatchObject({
      cluster: { cluster: 'ml' },
      unmet: { total: 1 },
    });
    await expect(served.run(explainCommand, ['cluster'])).rejects.toThrow('Which cluster?');
  });
});

describe('bigfleet history over the API', () => {
  const history = async (...words: string[]) => {
    let code = 0;
    const text = await served.run(
      (io) => historyCommand({ ...io, exitCode: (given) => (code = given) }),
      words,
    );
    return { text, code };
  };

  it('given a shard, then its events are printed, oldest first', async () => {
    const shard: FakeShard = served.shard;
    const { history: answer } = new FakeShard().answers;
    shard.answers.history = (ask) => answer({ ...ask, machine: undefined });
    const { text, code } = await history('machine', 'm-1', '--from', '2025-01-01');
    expect(text.split('\n').map((line) => line.slice(26))).toEqual([
      expect.stringContaining('bound m-1 to prod-eu'),
      expect.stringContaining('cloud'),
      '',
    ]);
    expect(code).toBe(0);
    expect(shard.asked[0]).toMatchObject({
      name: 'history',
      ask: { machine: 'm-1', sinceMs: Date.UTC(2025, 0, 1) },
    });
  });

  it('given a machine without events, then exit code 1', async () => {
    expect(await history('machine', 'm-9')).toEqual({
      text: 'The shard knows of nothing about machine m-9 in that time.\n',
      code: 1,
    });
  });

  it('given a data directory as well, then the journal in it is read', async () => {
    await expect(history('machine', 'm-1', '--data-dir', '/nowhere')).rejects.toMatchObject({
      code: 'BF_JOURNAL_UNREADABLE',
    });
  });
});
