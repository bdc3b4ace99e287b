// Node reports of operators and withdrawals to them, over a port in memory.

import { describe, expect, it } from 'vitest';
import { bench, rollupOf } from '../../../testing/support/sessions.ts';
import { NodeReport } from '../../wire/gen/bigfleet/v1alpha1/shard.ts';
import { MAX_REPORTS, REPORT_WINDOW_MS } from './node-report-rate.ts';

const report = (
  changes: Partial<NodeReport>,
): { readonly $case: 'nodeReport'; readonly value: NodeReport } => ({
  $case: 'nodeReport',
  value: {
    ...NodeReport.decode(new Uint8Array()),
    machineId: 'm1',
    kind: 3,
    instructionId: 'i1',
    ...changes,
  },
});

describe('a node report', () => {
  it('given one, then the controller receives it with the cluster of the session', async () => {
    const { greet, events, sessions } = await bench();
    greet('c1').send(report({ nodeName: 'n-1', blockedBy: ['pdb/a/b'] }));
    expect(events.at(-1)).toEqual({
      ...{ kind: 'node-reported', cluster: 'c1', machine: 'm1', what: 'drained', instruction: 'i1' },
      ...{ nodeName: 'n-1', providerId: '', reason: '', blockedBy: ['pdb/a/b'] },
    });
    expect(sessions.counters).toMatchObject({ nodeReports: 1, nodeReportsDropped: 0 });
  });

  it('given one without a machine or of an unknown kind, then it is dropped and the session goes on', async () => {
    const { greet, kinds, sessions } = await bench();
    const operator = greet('c1');
    operator.send(report({ machineId: '' }));
    operator.send(report({ kind: 0 }));
    expect(kinds()).toEqual(['session-opened']);
    expect(sessions.counters).toMatchObject({ nodeReports: 0, nodeReportsDropped: 2 });
    expect(operator.status).toBeNull();
  });

  it('given more than the rate of a session, then the rest is dropped until the next window', async () => {
    const { greet, sessions, clock } = await bench();
    const operator = greet('c1');
    for (let i = 0; i < MAX_REPORTS + 5; i++) operator.send(report({}));
    expect(sessions.counters).toMatchObject({ nodeReports: MAX_REPORTS, nodeReportsDropped: 5 });
    greet('c2').send(report({}));
    await clock.advance(REPORT_WINDOW_MS);
    operator.send(report({}));
    expect(sessions.counters.nodeReports).toBe(MAX_REPORTS + 2);
  });
});

describe('a withdrawal', () => {
  const withdrawal = {
    ...({ kind: 'withdraw-reclaim', cluster: 'c1', instruction: 'i1', machine: 'm1' } as const),
    staysBecause: 'pods are left',
  };
  const sent = { instructionId: 'i1', nodes: ['m1'], reason: 'pods are left' };

  it('given an operator that knows withdrawals, then it receives it', async () => {
    const { dial, sessions } = await bench();
    const operator = dial();
    operator.hello('c1', ['withdraw']);
    sessions.withdrawReclaim(withdrawal);
    expect(operator.got('reclaimWithdrawal')).toEqual([sent]);
  });

  it('given an operator that does not know them, or no reason, then nothing is sent', async () => {
    const { greet, dial, sessions } = await bench();
    const old = greet('c1');
    sessions.withdrawReclaim(withdrawal);
    expect(old.got('reclaimWithdrawal')).toEqual([]);
    const operator = dial();
    operator.hello('c1', ['withdraw']);
    sessions.withdrawReclaim({ ...withdrawal, staysBecause: null });
    expect(operator.got('reclaimWithdrawal')).toEqual([]);
  });

  it('given no session, then the next one receives it, once', async () => {
    const { dial, sessions } = await bench();
    sessions.withdrawReclaim(withdrawal);
    for (const expected of [[sent], []]) {
      const operator = dial();
      operator.hello('c1', ['withdraw']);
      expect(operator.got('reclaimWithdrawal')).toEqual(expected);
    }
  });
});

describe('the ack of a roll-up', () => {
  it('given a roll-up, then its ack has the timestamp, and that of a hello has none', async () => {
    const { greet, settle } = await bench();
    const operator = greet('c1');
    operator.rollup(rollupOf('c1', 1));
    await settle();
    const stamps = operator.got('ack').map(({ rollupTimestampUnixNanos }) => rollupTimestampUnixNanos > 0n);
    expect(stamps).toEqual([false, true]);
  });
});

describe('a second hello', () => {
  it('given other features, then the controller receives them', async () => {
    const { greet, events } = await bench();
    const operator = greet('c1');
    operator.hello('c1', ['drain-report']);
    expect(events.at(-1)).toEqual({
      ...{ kind: 'session-features', cluster: 'c1', session: 1 },
      features: { drainReport: true, verdicts: false },
    });
  });
});
