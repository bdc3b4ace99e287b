// Limits of sessions, over a port in memory: frames that are too large, streams without a hello, and protocol features that an
// operator has not announced.

import { describe, expect, it } from 'vitest';
import { bench, nodeState, rollupOf, wireNeed } from '../../../testing/support/sessions.ts';
import { RollupReport, ShardMessage } from '../../wire/gen/bigfleet/v1alpha1/shard.ts';
import { status } from '../../wire/index.ts';
import { DEFAULT_SESSION_LIMITS, MAX_FIRST_FRAME_BYTES, sessionLimits, transportBytes } from './limits.ts';
import type { FrameFailure } from './port.ts';
import type { Session } from './session.ts';

const MIB = 1024 * 1024;
const LIMITS = { frameBytes: MIB };

describe('session limits', () => {
  it('given a frame size, then the limits of waiting bytes and of the transport are derived from it', () => {
    expect(DEFAULT_SESSION_LIMITS).toMatchObject({ frameBytes: 64 * MIB, rollupRows: 50_000 });
    expect(sessionLimits().waitingBytes).toBe(256 * MIB);
    expect(sessionLimits({ frameBytes: 200 * MIB }).waitingBytes).toBe(400 * MIB);
    expect(sessionLimits({ frameBytes: 200 * MIB, waitingBytes: 7 }).waitingBytes).toBe(7);
    expect([MIB, 64 * MIB, 256 * MIB].map(transportBytes)).toEqual([2 * MIB, 128 * MIB, 257 * MIB]);
  });
});

describe('the largest roll-up', () => {
  it('given 50,000 rows, then the default limits allow it, with a kilobyte for each row', async () => {
    const { greet, settle } = await bench();
    const operator = greet('c1');
    const rows = Array.from({ length: 50_000 }, (_, i) => wireNeed(i));
    operator.rollup(rollupOf('c1', rows));
    await settle();
    expect(operator.acks).toEqual(['hello', 'rollup']);
    expect(50_000 * 1024).toBeLessThan(DEFAULT_SESSION_LIMITS.frameBytes);
  });
});

describe('a frame that is too large', () => {
  it('given on an open session, then it is dropped, counted, logged and recorded as a refused roll-up; the session continues', async () => {
    const { greet, sessions, lines, settle } = await bench({ limits: LIMITS });
    const operator = greet('c1');
    operator.link.receive(new Uint8Array(MIB + 1));
    expect(operator.link.announced(MIB + 2)).toBe('skip');
    expect(operator.status).toBeNull();
    expect(sessions.counters).toMatchObject({ framesOversized: 2, rollupsRefused: 2 });
    expect(lines.map(({ event }) => event)).toContain('frame-oversized');
    expect(lines.find(({ event }) => event === 'rollup-refused')!.fields).toMatchObject({
      cluster: 'c1',
      problems: [
        {
          code: 'BF_FRAME_SIZE',
          path: '',
          message: 'The frame has 1048577 bytes, the limit is 1048576 (setting limits.frameBytes).',
        },
      ],
    });
    operator.rollup(rollupOf('c1', 1));
    await settle();
    expect(operator.acks).toEqual(['hello', 'rollup']);
  });

  it('given a thousand times, then the log is rate-limited', async () => {
    const { greet, lines } = await bench({ limits: LIMITS });
    const operator = greet('c1');
    for (let i = 0; i < 1000; i++) operator.link.announced(MIB + 1);
    expect(lines.filter(({ event }) => event === 'frame-oversized')).toHaveLength(100);
  });

  it('given beyond the limit of the transport, then the session ends and the text names the setting', async () => {
    const { greet, sessions } = await bench({ limits: LIMITS });
    const operator = greet('c1');
    expect(operator.link.announced(2 * MIB)).toBe('skip');
    expect(operator.link.announced(2 * MIB + 1)).toBe('stop');
    expect(operator.status).toMatchObject({ code: status.RESOURCE_EXHAUSTED });
    expect(operator.status!.details).toContain('BF_FRAME_SIZE: The frame has 2097153 bytes');
    expect(operator.status!.details).toContain('the limit is 1048576 (setting limits.frameBytes)');
    expect(operator.link.announced(1)).toBe('stop');
    expect(sessions.counters.framesOversized).toBe(2);
  });

  it('given as the first frame, then the stream ends once its length is announced, or at the latest when it is received', async () => {
    const { dial, sessions } = await bench({ limits: LIMITS });
    const [announcing, whole] = [dial(), dial()];
    expect(announcing.link.announced(MAX_FIRST_FRAME_BYTES + 1)).toBe('stop');
    whole.link.receive(new Uint8Array(MAX_FIRST_FRAME_BYTES + 1));
    for (const { status: ending } of [announcing, whole]) {
      expect(ending).toMatchObject({ code: status.RESOURCE_EXHAUSTED });
      expect(ending!.details).toContain('the limit before the hello is 65536');
    }
    expect(sessions.counters).toMatchObject({ framesOversized: 2, sessionsRefused: 2 });
  });

  it('given right behind the hello, before the hello is handled, then it is recorded for the cluster', async () => {
    const { dial, lines } = await bench({ limits: LIMITS });
    const operator = dial();
    expect(operator.link.announced(30)).toBe('keep');
    expect(operator.link.announced(MIB + 1)).toBe('skip');
    operator.hello('c1');
    expect(operator.status).toBeNull();
    const refused = lines.filter(({ event }) => event === 'rollup-refused');
    expect(refused.map(({ fields }) => fields['cluster'])).toEqual(['c1']);
  });
});

describe('a frame that fails in the transport', () => {
  it.each([
    ['overrun', status.RESOURCE_EXHAUSTED, 'BF_FRAME_SIZE', 'framesOverrun'],
    ['busy', status.RESOURCE_EXHAUSTED, 'BF_FRAME_SIZE', 'framesOverrun'],
    ['inflated', status.RESOURCE_EXHAUSTED, 'BF_FRAME_SIZE', 'framesOversized'],
    ['stalled', status.DEADLINE_EXCEEDED, 'BF_FRAME_STALLED', 'framesStalled'],
    ['malformed', status.INVALID_ARGUMENT, 'BF_WIRE_MALFORMED', 'framesMalformed'],
  ] as const)(
    'given the failure %s, then the session ends with its code, counted and logged',
    async (kind, code, error, counter) => {
      const { greet, sessions, lines } = await bench();
      const operator = greet('c1');
      const failure: FrameFailure = { kind, bytes: 77 };
      operator.link.failed(failure);
      operator.link.failed(failure);
      expect(operator.status).toMatchObject({ code });
      expect(operator.status!.details).toContain(error);
      expect(operator.status!.details).toContain('77');
      expect(sessions.counters[counter]).toBe(1);
      expect(lines.filter(({ event }) => event === 'frame-failed')).toMatchObject([
        { fields: { cluster: 'c1', why: kind, bytes: 77 } },
      ]);
    },
  );
});

describe('streams without a hello', () => {
  const limits = { greeting: 50, greetingPerPeer: 4 };

  it('given more of one connection than its limit, then they are refused at once with a delay, and counted', async () => {
    const { dial, sessions, clock } = await bench({ limits });
    const origin = { connection: {}, identity: null };
    const streams = Array.from({ length: 10 }, () => dial(undefined, origin));
    expect(streams.filter(({ status: ending }) => ending === null)).toHaveLength(4);
    expect(streams[4]!.status).toMatchObject({ code: status.RESOURCE_EXHAUSTED, retryAfterMs: 5000 });
    expect(streams[4]!.status!.details).toMatch(
      /BF_SESSION_LIMIT: 4 streams of this connection have not said hello yet\. Try again in 5 s\./,
    );
    expect(sessions.counters).toMatchObject({ greetingsRefused: 6, sessionsRefused: 6 });
    // Refused streams leave no state, not even a timer.
    expect(clock.waiting).toBe(1 + 4);
    streams[0]!.hello('c1');
    expect(dial(undefined, origin).status).toBeNull();
  });

  it('given as many connections as allowed, then a new one evicts the oldest', async () => {
    const { dial, sessions } = await bench({ limits });
    const streams = Array.from({ length: limits.greeting }, () => dial());
    const newest = dial();
    newest.hello('c1');
    expect(newest.acks).toEqual(['hello']);
    expect(streams[0]!.status).toMatchObject({ code: status.RESOURCE_EXHAUSTED, retryAfterMs: 5000 });
    expect(streams[0]!.status!.details).toContain('gives way to another connection');
    expect(streams.filter(({ status: ending }) => ending !== null)).toHaveLength(1);
    expect(sessions.counters).toMatchObject({ greetingsEvicted: 1, sessionsRefused: 1 });
  });
});

describe('protocol features', () => {
  const report = RollupReport.decode(new Uint8Array([8, 5]));

  /** A session of cluster c1 that announces these features. */
  async function opened(features: readonly string[]) {
    const made = await bench();
    const operator = made.dial();
    operator.hello('c1', features);
    return { ...made, operator, session: operator.link as Session };
  }

  it('given an operator that announces rollup-report, then it receives reports, coalesced while they wait', async () => {
    const { operator, session } = await opened(['rollup-report', 'more']);
    expect([...session.features]).toEqual(['rollup-report', 'more']);
    session.reportRollup(report);
    operator.room = 0;
    for (const total of [6, 7]) session.reportRollup({ ...report, timestampUnixNanos: BigInt(total), total });
    operator.drain();
    expect(operator.got('rollupReport').map((each) => each.timestampUnixNanos)).toEqual([5n, 7n]);
  });

  it('given an operator that does not announce it, then no frame with a field number of 1000 or more is sent', async () => {
    const { operator, session, sessions, settle } = await opened(['something-else']);
    session.reportRollup(report);
    session.send({ key: 'any', frame: { payload: { $case: 'rollupReport', value: report } } });
    sessions.sendNodeState('c1', nodeState('m1'));
    operator.rollup(rollupOf('c1', 1));
    await settle();
    expect(operator.received.map(({ payload }) => payload?.$case)).toEqual(['ack', 'nodeStateUpdate', 'ack']);
    for (const frame of operator.received) {
      // The tag of a oneof member is its number times eight, plus two.
      const tag = Buffer.from(ShardMessage.encode(frame).finish())[0]!;
      expect(tag).toBeLessThan(0x80);
    }
  });

  it('given an equal report with another timestamp, then it is not sent again before the next hello', async () => {
    const { operator, session } = await opened(['rollup-report']);
    for (const timestampUnixNanos of [5n, 6n]) session.reportRollup({ ...report, timestampUnixNanos });
    expect(operator.got('rollupReport')).toHaveLength(1);
    operator.hello('c1', ['rollup-report']);
    session.reportRollup({ ...report, timestampUnixNanos: 7n });
    expect(operator.got('rollupReport').map((each) => each.timestampUnixNanos)).toEqual([5n, 7n]);
  });

  it('given a second hello without the feature, then waiting reports are withdrawn and no more are sent', async () => {
    const { operator, session } = await opened(['rollup-report']);
    operator.room = 0;
    session.reportRollup(report);
    operator.hello('c1');
    session.reportRollup(report);
    operator.drain();
    expect(operator.got('rollupReport')).toEqual([]);
    operator.hello('c1', ['rollup-report']);
    session.reportRollup(report);
    expect(operator.got('rollupReport')).toHaveLength(1);
  });

  it('given a hello and a roll-up, then only the ack of the hello has the features of the shard', async () => {
    const { operator, settle } = await opened([]);
    operator.rollup(rollupOf('c1', 1));
    await settle();
    expect(operator.got('ack').map(({ features }) => features)).toEqual([
      ['rollup-report', 'verdicts', 'drain-report', 'withdraw'],
      [],
    ]);
  });
});

describe('texts of a hostile operator', () => {
  it('given ids longer than the contract allows, then they count as unknown answers and the session continues', async () => {
    const { greet, sessions } = await bench();
    const operator = greet('c1');
    operator.answer('x'.repeat(1_000_000));
    operator.ackReclaim('x'.repeat(1_000_000));
    expect(sessions.counters.answersUnknown).toBe(2);
    expect(operator.status).toBeNull();
  });

  it('given a second hello beyond the limits, then the session ends', async () => {
    const { greet } = await bench();
    const operator = greet('c1');
    operator.hello('x'.repeat(254));
    expect(operator.status).toMatchObject({ code: status.INVALID_ARGUMENT });
    expect(operator.status!.details).toContain('The cluster id has 254 bytes, the limit is 253.');
  });

  it('given long or unprintable texts, then the log has excerpts of them', async () => {
    const { dial, lines } = await bench();
    const operator = dial();
    const cluster = `\u202e${'x'.repeat(240)}`;
    const value = { clusterId: cluster, protocolVersion: 'v'.repeat(1000), features: [] };
    operator.send({ $case: 'hello', value });
    const { fields } = lines.find(({ event }) => event === 'session-opened')!;
    expect(fields['cluster']).toBe(`\\u202e${'x'.repeat(197)}… (241 characters)`);
    expect(fields['version']).toBe(`${'v'.repeat(40)}… (1000 characters)`);
  });
});
