// The protocol of a session, over a port in memory and on a virtual clock.

import { describe, expect, it } from 'vitest';
import { NO_FEATURES } from '../../../testing/support/session-defaults.ts';
import { aClock, bench, nodeState, rollupOf } from '../../../testing/support/sessions.ts';
import { NameLimits } from '../../model/index.ts';
import { denied, status } from '../../wire/index.ts';
import { MemoryDemandStore } from '../storage/demand-store.ts';
import { HELLO_TIMEOUT_MS, MAX_OUTBOX_FRAMES, STALL_TIMEOUT_MS } from './limits.ts';

const UNKNOWN_FRAME = new Uint8Array([0x7a, 0x01, 0x00]);

describe('a hello', () => {
  it('given as the first frame, then it is acknowledged with term 0 and the epoch, and the controller receives session-opened', async () => {
    const { greet, events, sessions } = await bench();
    const operator = greet('c1');
    expect(operator.got('ack')).toEqual([
      {
        echo: 'hello',
        coordinatorTerm: 0n,
        shardEpoch: 7n,
        features: ['rollup-report', 'verdicts', 'drain-report', 'withdraw'],
        rollupTimestampUnixNanos: 0n,
      },
    ]);
    expect(events).toEqual([{ kind: 'session-opened', cluster: 'c1', session: 1, features: NO_FEATURES }]);
    expect(sessions.sessions).toEqual([{ cluster: 'c1', session: 1, waiting: 0 }]);
  });

  it('given a roll-up before it, then the stream ends and the hello is ignored', async () => {
    const { dial, events, sessions } = await bench();
    const operator = dial();
    operator.rollup(rollupOf('c1', 2));
    expect(operator.status).toMatchObject({ code: status.INVALID_ARGUMENT });
    expect(operator.status!.details).toContain('BF_SESSION_HELLO');
    operator.hello('c1');
    expect(operator.received).toEqual([]);
    expect(events).toEqual([]);
    expect(sessions.counters.sessionsRefused).toBe(1);
  });

  it.each([
    ['no name', ''],
    ['a name of too many bytes', 'é'.repeat(NameLimits.clusterId / 2 + 1)],
  ])('given %s, then it is refused', async (_, cluster) => {
    const { greet } = await bench();
    expect(greet(cluster).status).toMatchObject({ code: status.INVALID_ARGUMENT });
  });

  it('given a name of the greatest length, then it is acknowledged', async () => {
    const { greet } = await bench();
    expect(greet('x'.repeat(NameLimits.clusterId)).acks).toEqual(['hello']);
  });

  it('given a first frame that is unknown or malformed, then the stream ends', async () => {
    const { dial } = await bench();
    for (const bytes of [UNKNOWN_FRAME, new Uint8Array([0x0a, 0x05])]) {
      const operator = dial();
      operator.link.receive(bytes);
      expect(operator.status).toMatchObject({ code: status.INVALID_ARGUMENT });
    }
  });

  it('given a second time, then it is acknowledged again and changes nothing', async () => {
    const { greet, events } = await bench();
    const operator = greet('c1');
    operator.hello('c1');
    expect(operator.acks).toEqual(['hello', 'hello']);
    expect(events).toHaveLength(1);
  });

  it('given a second time for another cluster, then the session ends', async () => {
    const { greet, kinds } = await bench();
    const operator = greet('c1');
    operator.hello('c2');
    expect(operator.status).toMatchObject({ code: status.INVALID_ARGUMENT });
    expect(operator.status!.details).toContain('BF_CLUSTER_MISMATCH');
    expect(kinds()).toEqual(['session-opened', 'session-closed']);
  });

  it('given no hello before the timeout, then the stream ends', async () => {
    const { dial, clock } = await bench();
    const operator = dial();
    await clock.advance(HELLO_TIMEOUT_MS - 1);
    expect(operator.status).toBeNull();
    await clock.advance(1);
    expect(operator.status).toMatchObject({ code: status.DEADLINE_EXCEEDED });
  });
});

describe('the identity of an operator', () => {
  it('given the certificate of the cluster, then the hello is accepted', async () => {
    const { dial } = await bench();
    const operator = dial(() => ({ kind: 'cluster', id: 'c1' }));
    operator.hello('c1');
    expect(operator.acks).toEqual(['hello']);
  });

  it.each([
    ['another cluster', () => ({ kind: 'cluster', id: 'c2' }) as const],
    ['a shard of that name', () => ({ kind: 'shard', id: 'c1' }) as const],
    ['an administrator', () => ({ kind: 'admin' }) as const],
    [
      'a certificate without a name',
      () => {
        throw denied('The certificate names no one.');
      },
    ],
  ])(
    'given the certificate of %s, then the hello is refused, and an open session stays',
    async (_, identify) => {
      const { dial, greet, sessions, kinds } = await bench();
      const authorized = greet('c1');
      const operator = dial(identify);
      operator.hello('c1');
      expect(operator.status).toMatchObject({ code: status.PERMISSION_DENIED });
      expect(authorized.status).toBeNull();
      expect(sessions.counters.identityRejected).toBe(1);
      expect(kinds()).toEqual(['session-opened']);
    },
  );
});

describe('a session', () => {
  it('given a newer session of its cluster, then it ends and the newer one receives all frames', async () => {
    const { greet, events, sessions } = await bench();
    const old = greet('c1');
    const other = greet('c2');
    const newer = greet('c1');
    expect(old.status).toMatchObject({ code: status.ABORTED });
    expect(old.status!.details).toContain('BF_SESSION_REPLACED');
    expect(events.slice(2)).toEqual([
      { kind: 'session-closed', cluster: 'c1', session: 1 },
      { kind: 'session-opened', cluster: 'c1', session: 3, features: NO_FEATURES },
    ]);
    sessions.sendNodeState('c1', nodeState('m1'));
    expect([old, other, newer].map((operator) => operator.got('nodeStateUpdate').length)).toEqual([0, 0, 1]);
    old.link.closed();
    old.hello('c1');
    expect(sessions.sessions).toHaveLength(2);
  });

  it('given a controller that sends a frame while the old session ends, then the hello is still acknowledged first', async () => {
    const { sessions, greet } = await bench({
      controller: { post: () => sessions.sendNodeState('c1', nodeState('m1')) },
    });
    greet('c1');
    expect(greet('c1').received.map(({ payload }) => payload?.$case)).toEqual(['ack', 'nodeStateUpdate']);
  });

  it('given unknown payloads, then they are counted, logged once, and the session continues', async () => {
    const { greet, sessions, lines } = await bench();
    const operator = greet('c1');
    operator.link.receive(UNKNOWN_FRAME);
    operator.link.receive(new Uint8Array());
    operator.hello('c1');
    expect(operator.acks).toEqual(['hello', 'hello']);
    expect(sessions.counters.framesUnknown).toBe(2);
    expect(lines.filter(({ event }) => event === 'frame-unknown')).toHaveLength(1);
  });

  it('given malformed bytes, then it ends', async () => {
    const { greet, sessions } = await bench();
    const operator = greet('c1');
    operator.link.receive(new Uint8Array([0xff]));
    expect(operator.status).toMatchObject({ code: status.INVALID_ARGUMENT });
    expect(sessions.counters.framesMalformed).toBe(1);
  });

  it('given an operator that disconnects, then the controller receives one event, and later frames count as undelivered', async () => {
    const { greet, sessions, kinds } = await bench();
    const operator = greet('c1');
    operator.link.closed();
    operator.link.closed();
    sessions.sendNodeState('c1', nodeState('m1'));
    expect(kinds()).toEqual(['session-opened', 'session-closed']);
    expect(sessions.counters.framesUndelivered).toBe(1);
    expect(operator.status).toBeNull();
  });

  it('given a shard that closes its sessions, then all of them end and new ones are refused', async () => {
    const { greet, dial, sessions, clock } = await bench();
    const [open, silent] = [greet('c1'), dial()];
    sessions.close();
    for (const operator of [open, silent, dial()]) {
      expect(operator.status).toMatchObject({ code: status.UNAVAILABLE });
    }
    expect(clock.waiting).toBe(0);
  });
});

describe('a slow reader', () => {
  it('given frames of equal keys, then they are coalesced: the newest is sent in the position of the first', async () => {
    const { greet, sessions } = await bench();
    const operator = greet('c1');
    operator.room = 0;
    for (const [machine, lastError] of [
      ['m1', 'a'],
      ['m2', 'b'],
      ['m1', 'c'],
    ] as const) {
      sessions.sendNodeState('c1', nodeState(machine, { lastError }));
    }
    expect(sessions.sessions[0]!.waiting).toBe(2);
    operator.drain();
    const got = operator.got('nodeStateUpdate').map(({ machineId, lastError }) => machineId + lastError);
    expect(got).toEqual(['m1c', 'm2b']);
    expect(sessions.counters.framesCoalesced).toBe(1);
  });

  it('given repeated roll-ups, then their acks are coalesced', async () => {
    const { greet, sessions, settle } = await bench();
    const operator = greet('c1');
    operator.rollup(rollupOf('c1', 3));
    await settle();
    operator.room = 0;
    for (let i = 0; i < 1000; i++) operator.rollup(rollupOf('c1', 3));
    expect(sessions.sessions[0]!.waiting).toBe(1);
  });

  it('given more frames than the outbox holds, then the session ends, and the next one starts with an empty outbox', async () => {
    const { greet, sessions, kinds } = await bench();
    const operator = greet('c1');
    operator.room = 0;
    for (let i = 0; i < MAX_OUTBOX_FRAMES; i++) sessions.sendNodeState('c1', nodeState(`m${i}`));
    expect(operator.status).toBeNull();
    sessions.instructReclaim({
      kind: 'instruct-reclaim',
      instruction: 'r1',
      cluster: 'c1',
      machine: 'm1',
      graceSeconds: 60,
      preemptorPriority: 0,
      drainKind: 'reclaim',
    });
    expect(operator.status).toMatchObject({ code: status.RESOURCE_EXHAUSTED });
    expect(operator.status!.details).toContain('BF_SESSION_SLOW');
    expect(sessions.counters.outboxOverflows).toBe(1);
    expect(kinds().at(-1)).toBe('session-closed');
    expect(greet('c1').received.map(({ payload }) => payload?.$case)).toEqual(['ack', 'reclaimInstruction']);
  });

  it('given no progress within the stall timeout while frames wait, then the session ends', async () => {
    const { greet, sessions, clock } = await bench();
    const operator = greet('c1');
    operator.room = 0;
    await clock.advance(10 * STALL_TIMEOUT_MS);
    expect(operator.status).toBeNull();
    sessions.sendNodeState('c1', nodeState('m1'));
    sessions.sendNodeState('c1', nodeState('m2'));
    await clock.advance(STALL_TIMEOUT_MS - 1);
    operator.drain(1);
    await clock.advance(STALL_TIMEOUT_MS - 1);
    expect(operator.status).toBeNull();
    await clock.advance(1);
    expect(operator.status).toMatchObject({ code: status.RESOURCE_EXHAUSTED });
    expect(sessions.counters.sessionsStalled).toBe(1);
  });

  it('given an empty outbox, then there is no stall timeout', async () => {
    const { greet, sessions, clock } = await bench();
    const operator = greet('c1');
    operator.room = 0;
    sessions.sendNodeState('c1', nodeState('m1'));
    operator.drain();
    await clock.advance(10 * STALL_TIMEOUT_MS);
    expect(operator.status).toBeNull();
  });
});

describe('the limits of a shard', () => {
  const LIMITS = { greeting: 50, sessions: 40, clusters: 60 };

  it('given as many sessions as allowed, then another cluster is refused, and a connected one may reconnect', async () => {
    const { greet } = await bench({ limits: LIMITS });
    for (let i = 0; i < LIMITS.sessions; i++) greet(`c${i}`);
    const refused = greet('one-more');
    expect(refused.status).toMatchObject({ code: status.RESOURCE_EXHAUSTED });
    expect(refused.status!.details).toMatch(/BF_SESSION_LIMIT: .*Try again in 30 s\./);
    expect(refused.status!.retryAfterMs).toBe(30_000);
    const again = greet('c7');
    expect(again.acks).toEqual(['hello']);
    again.link.closed();
    expect(greet('one-more').acks).toEqual(['hello']);
  });

  it('given as many stored clusters as allowed, then a new one is refused and a known one is not', async () => {
    const store = new MemoryDemandStore();
    for (let i = 0; i < LIMITS.clusters; i++) {
      await store.write({ baseline: { cluster: `c${i}`, rows: 1, totals: new Map(), isRefused: false } });
    }
    const { greet } = await bench({ store, limits: LIMITS });
    expect(greet('one-more').status).toMatchObject({ code: status.RESOURCE_EXHAUSTED });
    expect(greet('c7').acks).toEqual(['hello']);
  });

  it('given a cluster that connects in a loop, then it is refused with a delay, and others are not', async () => {
    const { greet, clock, sessions } = await bench();
    const statuses = Array.from({ length: 1000 }, () => greet('loop').status?.retryAfterMs ?? 0);
    expect(statuses.filter((waitMs) => waitMs === 0)).toHaveLength(20);
    expect(sessions.counters.sessionsThrottled).toBe(980);
    expect(greet('calm').acks).toEqual(['hello']);
    expect(greet('loop').status!.details).toMatch(/BF_SESSION_RATE: .*Try again in 2 s\./);
    await clock.advance(2000);
    expect(greet('loop').acks).toEqual(['hello']);
  });

  it('given a clock that is set back by a day, then a cluster waits no longer than the ordinary delay', async () => {
    let behindMs = 0;
    const clock = aClock();
    const now = clock.now.bind(clock);
    clock.now = () => now() - behindMs;
    const { greet } = await bench({ clock });
    expect(greet('c1').acks).toEqual(['hello']);
    behindMs = 86_400_000;
    expect(greet('c1').status!.retryAfterMs).toBe(2000);
    await clock.advance(2000);
    expect(greet('c1').acks).toEqual(['hello']);
  });

  it('given a thousand malformed streams, then a hundred lines are logged, and the next has the number suppressed', async () => {
    const { dial, lines, clock } = await bench();
    for (let i = 0; i < 1000; i++) dial().link.receive(Buffer.from('no frame'));
    expect(lines).toHaveLength(100);
    await clock.advance(10_000);
    dial().link.receive(Buffer.from('no frame'));
    expect(lines.at(-1)).toMatchObject({ event: 'session-refused', fields: { suppressed: 900 } });
  });
});
