// The session with a shard in memory, on virtual time.

import { describe, expect, it } from 'vitest';
import { bootstrapRequest, MemoryShard } from '../../../testing/operator/memory-shard.ts';
import { Random } from '../../runtime/random.ts';
import { VirtualClock } from '../../runtime/virtual-clock.ts';
import { ClusterCapacityNeeds } from '../../wire/gen/bigfleet/v1alpha1/capacity.ts';
import {
  type BootstrapBlobResponse,
  type BootstrapRequest,
  NodeReport_Kind,
  RollupReport_Outcome,
} from '../../wire/gen/bigfleet/v1alpha1/shard.ts';
import type { SessionHandlers } from './contract.ts';
import type { SessionLimits } from './limits.ts';
import { type SessionEvent, ShardSession } from './shard-session.ts';

interface Setup {
  readonly limits?: Partial<SessionLimits>;
  readonly build?: (nowMs: number) => ClusterCapacityNeeds | null;
  readonly bootstrap?: (request: BootstrapRequest) => Promise<BootstrapBlobResponse>;
  readonly handlers?: Partial<SessionHandlers>;
}

function answer({ requestId }: BootstrapRequest): BootstrapBlobResponse {
  return { requestId, userData: Buffer.from('blob'), ttlSeconds: 60n, error: '' };
}

function rollupAt(nowMs: number): ClusterCapacityNeeds {
  return {
    clusterId: 'web',
    timestampUnixNanos: BigInt(nowMs) * 1_000_000n,
    needs: [],
    nodeFacts: undefined,
  };
}

function scene({ limits = {}, build = rollupAt, bootstrap, handlers = {} }: Setup = {}) {
  const clock = new VirtualClock(1_000_000);
  const shard = new MemoryShard();
  const events: SessionEvent[] = [];
  const calls: string[] = [];
  const note = (name: string) => (value?: unknown) =>
    void calls.push(value instanceof Set ? `${name} ${[...value].join(',')}` : name);
  const session = new ShardSession({
    cluster: 'web',
    clock,
    random: new Random(1),
    dialer: shard,
    limits,
    buildRollup: (timestampUnixNanos) => {
      const rollup = build(clock.now());
      const bytes = rollup === null ? null : ClusterCapacityNeeds.encode(rollup).finish();
      return bytes === null ? null : { bytes, timestampUnixNanos, rows: 0 };
    },
    onEvent: (event) => events.push(event),
    handlers: {
      connected: note('connected'),
      disconnected: note('disconnected'),
      bootstrapRequest: bootstrap ?? ((request) => Promise.resolve(answer(request))),
      reclaimInstruction: note('reclaimInstruction'),
      reclaimWithdrawal: note('reclaimWithdrawal'),
      nodeStateUpdate: note('nodeStateUpdate'),
      availableCapacity: note('availableCapacity'),
      needVerdicts: note('needVerdicts'),
      rollupReport: note('rollupReport'),
      resynced: note('resynced'),
      rollupAcknowledged: (timestamp) => calls.push(`acknowledged ${timestamp}`),
      ...handlers,
    },
  });
  const opened = () => {
    session.start();
    shard.last.ackHello();
    return shard.last;
  };
  return { clock, shard, session, events, calls, opened };
}

function report(machineId: string, kind: NodeReport_Kind = NodeReport_Kind.KIND_JOINED) {
  return { machineId, kind, instructionId: '', nodeName: '', providerId: '', reason: '', blockedBy: [] };
}

const instruction = {
  instructionId: 'i1',
  nodes: ['m-1'],
  gracePeriodSeconds: 60n,
  preemptorPriority: 0,
  kind: 1,
} as const;

describe('opening a session', () => {
  it('given a start, then the hello names cluster and features, and nothing else is sent before its acknowledgement', () => {
    const { session, shard, calls } = scene();
    session.start();
    session.sendReclaimAck({ instructionId: 'i', nodesStarted: 1 });
    expect(shard.last.sent.map(({ $case }) => $case)).toEqual(['hello']);
    expect(shard.last.of('hello')[0]).toEqual({
      clusterId: 'web',
      protocolVersion: 'v1alpha1',
      features: ['rollup-report', 'verdicts', 'drain-report', 'withdraw'],
    });
    shard.last.ackHello();
    expect(shard.last.sent.map(({ $case }) => $case)).toEqual(['hello', 'reclaimAck', 'rollup']);
    expect(calls).toEqual(['connected rollup-report,verdicts,drain-report,withdraw']);
    expect(session.isConnected).toBe(true);
  });

  it('given a shard of the reference, then no feature is in use and node reports are not sent', async () => {
    const { session, shard, calls } = scene();
    session.sendNodeReport(report('m-1'));
    session.start();
    shard.last.ackHello([]);
    session.sendNodeReport(report('m-2'));
    expect(calls).toEqual(['connected ']);
    expect(session.features.size).toBe(0);
    expect(shard.last.of('nodeReport')).toEqual([]);
    shard.last.ackRollup();
    expect(calls.at(-1)).toMatch(/^acknowledged /);
  });

  it('given no acknowledgement in time, then it dials again with another attempt number', async () => {
    const { session, shard, clock, events } = scene();
    session.start();
    await clock.advance(10_000);
    expect(shard.last.isClosed).toBe(true);
    expect(events.at(-1)).toMatchObject({ kind: 'disconnected', why: 'the hello was not acknowledged' });
    await clock.advance(500);
    expect(shard.connections.map(({ attempt }) => attempt)).toEqual([0, 1]);
  });

  it('given the end of the resync window, then the handlers are told once', async () => {
    const { opened, calls, clock } = scene();
    opened();
    await clock.advance(59_999);
    expect(calls).not.toContain('resynced');
    await clock.advance(100_000);
    expect(calls.filter((call) => call === 'resynced')).toHaveLength(1);
  });

  it('given messages before the acknowledgement, then they are ignored', () => {
    const { session, shard, calls } = scene();
    session.start();
    shard.last.tell({ $case: 'reclaimInstruction', value: instruction });
    expect(calls).toEqual([]);
  });
});

describe('roll-ups', () => {
  it('given acknowledgements, then one is sent at every interval, with jitter', async () => {
    const { opened, clock } = scene();
    const shard = opened();
    const times = [clock.now()];
    for (let i = 0; i < 20; i++) {
      const count = shard.rollups.length;
      shard.ackRollup();
      while (shard.rollups.length === count) await clock.advance(100);
      times.push(clock.now());
    }
    const gaps = times.slice(1).map((time, i) => time - times[i]!);
    expect(Math.min(...gaps)).toBeGreaterThanOrEqual(7_500);
    expect(Math.max(...gaps)).toBeLessThanOrEqual(10_100);
    expect(new Set(gaps).size).toBeGreaterThan(5);
  });

  it('given a clock that is set back by an hour, then roll-ups and requests are sent as before', async () => {
    const { session, opened, clock } = scene();
    const shard = opened();
    shard.ackRollup();
    await clock.advance(5_000);
    clock.step(-3_600_000);
    session.requestRollup();
    await clock.advance(1_000);
    expect(shard.rollups).toHaveLength(2);
    shard.ackRollup();
    await clock.advance(10_000);
    expect(shard.rollups).toHaveLength(3);
  });

  it('given requests in quick succession, then one roll-up follows, a second after the last', async () => {
    const { session, opened, clock } = scene();
    const shard = opened();
    shard.ackRollup();
    for (let i = 0; i < 5; i++) session.requestRollup();
    await clock.advance(999);
    expect(shard.rollups).toHaveLength(1);
    await clock.advance(1);
    expect(shard.rollups).toHaveLength(2);
  });

  it('given one without an acknowledgement, then the next is built only after its acknowledgement', async () => {
    const { session, opened, clock } = scene();
    const shard = opened();
    session.requestRollup();
    await clock.advance(20_000);
    expect(shard.rollups).toHaveLength(1);
    const now = clock.now();
    shard.ackRollup(shard.rollups[0]!.timestampUnixNanos);
    expect(shard.rollups.at(-1)).toEqual(rollupAt(now));
    // An acknowledgement of another roll-up is not one of this.
    await clock.advance(10_000);
    shard.ackRollup(1n);
    expect(shard.rollups).toHaveLength(2);
  });

  it('given a refused or never acknowledged one, then the next one is sent all the same', async () => {
    const { opened, clock } = scene();
    const shard = opened();
    await clock.advance(30_000);
    expect(shard.rollups).toHaveLength(2);
    await clock.advance(10_000);
    const [, { timestampUnixNanos } = rollupAt(0)] = shard.rollups;
    shard.tell({
      $case: 'rollupReport',
      value: { timestampUnixNanos, outcome: RollupReport_Outcome.OUTCOME_REFUSED, total: 1, problems: [] },
    });
    expect(shard.rollups).toHaveLength(3);
  });

  it('given a blocked connection, then none is built until it drains', async () => {
    let built = 0;
    const { opened, clock } = scene({
      build: (nowMs) => {
        built++;
        return rollupAt(nowMs);
      },
    });
    const shard = opened();
    shard.ackRollup();
    shard.block(true);
    await clock.advance(60_000);
    expect(built).toBe(1);
    shard.block(false);
    expect(built).toBe(2);
    expect(shard.rollups.at(-1)).toEqual(rollupAt(clock.now()));
  });

  it('given demand that is not complete, then nothing is sent until it is', async () => {
    let isComplete = false;
    const { session, opened, clock } = scene({ build: (nowMs) => (isComplete ? rollupAt(nowMs) : null) });
    const shard = opened();
    await clock.advance(100_000);
    expect(shard.rollups).toEqual([]);
    isComplete = true;
    session.requestRollup();
    await clock.advance(1_000);
    expect(shard.rollups).toHaveLength(1);
  });

  it('given a builder that throws or a roll-up that is too large, then the session goes on', async () => {
    let calls = 0;
    const { opened, clock, events, session } = scene({
      limits: { frameBytes: 30 },
      build: (nowMs) => {
        if (++calls === 1) throw new Error('broken');
        return calls === 2 ? { ...rollupAt(nowMs), clusterId: 'x'.repeat(40) } : rollupAt(nowMs);
      },
    });
    const shard = opened();
    await clock.advance(60_000);
    expect(events.filter(({ kind }) => kind === 'problem')).toHaveLength(2);
    expect(shard.rollups).toHaveLength(1);
    expect(session.isConnected).toBe(true);
  });
});

describe('a lost connection', () => {
  it('given failures in a row, then the delay doubles up to 30 s, with jitter, and a healthy session resets it', async () => {
    const { session, shard, events, clock } = scene();
    session.start();
    const delays: number[] = [];
    for (let i = 0; i < 9; i++) {
      shard.last.drop();
      const last = events.at(-1)!;
      if (last.kind !== 'disconnected') throw new Error('not disconnected');
      delays.push(last.retryMs);
      await clock.advance(last.retryMs);
    }
    for (const [i, delay] of delays.entries()) {
      const longest = Math.min(30_000, 500 * 2 ** i);
      expect(delay).toBeGreaterThanOrEqual(longest / 2);
      expect(delay).toBeLessThanOrEqual(longest);
    }
    shard.last.ackHello();
    await clock.advance(9_999);
    shard.last.drop();
    expect(events.at(-1)).toMatchObject({ failures: 10 });
    await clock.advance(30_000);
    shard.last.ackHello();
    await clock.advance(10_000);
    shard.last.drop();
    expect(events.at(-1)).toMatchObject({ failures: 1 });
  });

  it('given replies while it is down, then all are sent after the next hello, the latest for each key, before the roll-up', async () => {
    const { session, opened, shard, clock, calls } = scene();
    opened().drop('the shard restarts');
    expect(calls).toContain('disconnected');
    expect(session.features.size).toBe(0);
    for (const nodesStarted of [1, 2]) session.sendReclaimAck({ instructionId: 'i1', nodesStarted });
    for (let i = 0; i < 2_000; i++) session.sendNodeReport(report(`m-${i}`));
    session.sendNodeReport(report('m-0', NodeReport_Kind.KIND_DRAINED));
    expect(session.waiting.replies).toBe(2_002);
    await clock.advance(500);
    shard.last.ackHello();
    expect(shard.last.of('reclaimAck')).toEqual([{ instructionId: 'i1', nodesStarted: 2 }]);
    expect(shard.last.of('nodeReport')).toHaveLength(2_001);
    expect(shard.last.sent.at(-1)?.$case).toBe('rollup');
    expect(session.waiting).toMatchObject({ replies: 0, replyBytes: 0 });
  });

  it('given a shard that no longer answers, then a second hello finds it out', async () => {
    const { opened, clock, events } = scene();
    const shard = opened();
    await clock.advance(119_000);
    expect(shard.of('hello')).toHaveLength(1);
    await clock.advance(2_000);
    expect(shard.of('hello')).toHaveLength(2);
    await clock.advance(10_000);
    expect(shard.isClosed).toBe(true);
    expect(events.at(-1)).toMatchObject({ kind: 'disconnected', why: 'the shard no longer answers' });
  });

  it('given a shard that answers the second hello, then the session stays and nothing begins again', async () => {
    const { opened, clock, calls } = scene();
    const shard = opened();
    for (let i = 0; i < 5; i++) {
      await clock.advance(121_000);
      shard.ackHello();
    }
    expect(shard.isClosed).toBe(false);
    expect(calls.filter((call) => call.startsWith('connected'))).toHaveLength(1);
  });

  it('given a stop with replies that cannot be sent, then they are not sent by a later session', () => {
    const { session, opened, shard } = scene();
    opened().block(true);
    session.sendReclaimAck({ instructionId: 'i1', nodesStarted: 1 });
    session.stop();
    session.start();
    shard.last.ackHello();
    expect(shard.last.of('reclaimAck')).toEqual([]);
  });

  it('given a stop, then the link is closed, no timer is left, and a start begins again', async () => {
    const { session, opened, shard, clock } = scene();
    opened();
    session.stop();
    expect(shard.last.isClosed).toBe(true);
    expect(clock.waiting).toBe(0);
    session.start();
    shard.last.ackHello();
    expect(shard.connections).toHaveLength(2);
    expect(shard.last.rollups).toHaveLength(1);
  });
});

describe('messages of the shard', () => {
  it('given an unknown one, then it is ignored', () => {
    const { opened, session } = scene();
    opened().tell(undefined);
    expect(session.isConnected).toBe(true);
  });

  it('given a handler that throws, then the session goes on', () => {
    const { opened, session, events, calls } = scene({
      handlers: {
        reclaimInstruction: () => {
          throw new Error('broken');
        },
      },
    });
    const shard = opened();
    shard.tell({ $case: 'reclaimInstruction', value: instruction });
    shard.tell({ $case: 'reclaimWithdrawal', value: { instructionId: 'i1', nodes: [], reason: '' } });
    expect(session.isConnected).toBe(true);
    expect(events.at(-1)).toMatchObject({ kind: 'problem', what: 'reclaim instruction' });
    expect(calls.at(-1)).toBe('reclaimWithdrawal');
  });
});

describe('bootstrap requests', () => {
  it('given many, then at most the bound are answered at the same time, each once', async () => {
    let running = 0;
    let most = 0;
    const { opened, clock } = scene({
      limits: { bootstraps: 8 },
      bootstrap: async (request) => {
        most = Math.max(most, ++running);
        await new Promise<void>((resolve) => clock.after(10, resolve));
        running--;
        return answer(request);
      },
    });
    const shard = opened();
    for (let i = 0; i < 100; i++) {
      const value = bootstrapRequest({ requestId: `r${i}` });
      shard.tell({ $case: 'bootstrapRequest', value });
      shard.tell({ $case: 'bootstrapRequest', value });
    }
    await clock.advance(1_000);
    expect(most).toBe(8);
    expect(new Set(shard.of('bootstrapResponse').map(({ requestId }) => requestId)).size).toBe(100);
    expect(shard.of('bootstrapResponse')).toHaveLength(100);
  });

  it('given one of another cluster, then the answer is an error; given no answer, then none is sent', async () => {
    const { opened, clock, events } = scene({
      bootstrap: () => Promise.reject(new Error('API server down')),
    });
    const shard = opened();
    shard.tell({
      $case: 'bootstrapRequest',
      value: bootstrapRequest({ requestId: 'a', clusterId: 'other' }),
    });
    shard.tell({ $case: 'bootstrapRequest', value: bootstrapRequest({ requestId: 'b' }) });
    await clock.advance(1);
    expect(shard.of('bootstrapResponse')).toMatchObject([
      { requestId: 'a', error: 'This is cluster web, not other.' },
    ]);
    expect(events.at(-1)).toMatchObject({ kind: 'problem', what: 'bootstrap request b' });
  });

  it('given more than may wait, then the session stops reading, and resumes when half are done', async () => {
    const open: (() => void)[] = [];
    const { opened, clock } = scene({
      limits: { bootstraps: 1, waitingReplies: 10 },
      bootstrap: async (request) => {
        await new Promise<void>((resolve) => open.push(resolve));
        return answer(request);
      },
    });
    const shard = opened();
    for (let i = 0; i < 11; i++)
      shard.tell({ $case: 'bootstrapRequest', value: bootstrapRequest({ requestId: `r${i}` }) });
    expect(shard.isPaused).toBe(true);
    for (let i = 0; i < 5; i++) {
      open.pop()!();
      await clock.advance(1);
    }
    expect(shard.isPaused).toBe(true);
    for (let i = 0; i < 2; i++) {
      open.pop()!();
      await clock.advance(1);
    }
    expect(shard.isPaused).toBe(false);
  });

  it('given a blocked connection with many answers, then the session stops reading and no answer is lost', async () => {
    const { opened, clock } = scene({ limits: { waitingReplies: 10 } });
    const shard = opened();
    shard.ackRollup();
    shard.block(true);
    for (let i = 0; i < 30; i++)
      shard.tell({ $case: 'bootstrapRequest', value: bootstrapRequest({ requestId: `r${i}` }) });
    await clock.advance(1);
    expect(shard.isPaused).toBe(true);
    shard.block(false);
    expect(shard.isPaused).toBe(false);
    expect(shard.of('bootstrapResponse')).toHaveLength(30);
  });
});
