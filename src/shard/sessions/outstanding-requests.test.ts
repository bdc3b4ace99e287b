// Bootstrap requests and reclaim instructions: sent once per session until answered or withdrawn.

import { describe, expect, it } from 'vitest';
import { JOINING } from '../../../testing/support/session-defaults.ts';
import { bench } from '../../../testing/support/sessions.ts';
import { Operator as Op } from '../../model/index.ts';
import type { ControllerEvent, Effect } from '../events.ts';
import { MAX_ASKS, MAX_BLOB_BYTES } from './limits.ts';
import type { Ask } from './messages.ts';
import { OutstandingRequests } from './outstanding-requests.ts';

type BootstrapEffect = Extract<Effect, { kind: 'ask-bootstrap' }>;
type ReclaimEffect = Extract<Effect, { kind: 'instruct-reclaim' }>;

const bootstrap = (request: string, cluster = 'c1'): BootstrapEffect => ({
  kind: 'ask-bootstrap',
  request,
  cluster,
  machine: 'm1',
  need: { cluster, fingerprint: 'f', group: '' },
  requirements: [{ key: 'zone', operator: Op.In, values: ['a', 'b'] }],
  joining: JOINING,
});

const reclaim = (instruction: string, cluster = 'c1'): ReclaimEffect => ({
  kind: 'instruct-reclaim',
  instruction,
  cluster,
  machine: 'm1',
  graceSeconds: 600,
  preemptorPriority: 5,
  drainKind: 'preemption',
});

const ID = '0123456789abcdef';

describe('a bootstrap request', () => {
  it('given a session, then it is sent with its requirements, and the controller receives the answer', async () => {
    const { greet, sessions, events } = await bench();
    const operator = greet('c1');
    sessions.askBootstrap(bootstrap(ID));
    expect(operator.got('bootstrapRequest')).toEqual([
      {
        requestId: ID,
        clusterId: 'c1',
        requirements: [{ key: 'zone', operator: 1, values: ['a', 'b'] }],
        ...JOINING,
        taints: [],
      },
    ]);
    operator.answer(ID);
    expect(events.at(-1)).toEqual({
      kind: 'bootstrap-answered',
      request: ID,
      blob: new Uint8Array(Buffer.from('join')),
      ttlSeconds: 600,
      error: '',
    });
  });

  it('given an answer with an error, then the controller receives the error and no blob', async () => {
    const { greet, sessions, events } = await bench();
    const operator = greet('c1');
    sessions.askBootstrap(bootstrap(ID));
    operator.answer(ID, 'ignored', 'no template');
    expect(events.at(-1)).toMatchObject({ request: ID, blob: null, error: 'no template' });
  });

  it('given a blob or an error text that is too large, then the controller receives no blob and a short error', async () => {
    const { greet, sessions, events } = await bench();
    const operator = greet('c1');
    sessions.askBootstrap(bootstrap(ID));
    operator.answer(ID, 'x'.repeat(MAX_BLOB_BYTES + 1));
    expect(events.at(-1)).toMatchObject({ blob: null, error: expect.stringContaining('the limit is') });
    sessions.askBootstrap(bootstrap(ID));
    operator.answer(ID, '', 'é'.repeat(1_000_000));
    const { error } = events.at(-1) as Extract<ControllerEvent, { kind: 'bootstrap-answered' }>;
    expect(error).toMatch(/^é{100}… \(500 characters\)$/);
  });

  // 7.6.25 of the specification.
  it('given no answer, then it is sent on each new session until there is one', async () => {
    const { greet, sessions, kinds } = await bench();
    sessions.askBootstrap(bootstrap(ID));
    greet('c1');
    const second = greet('c1');
    expect(second.received.map(({ payload }) => payload?.$case)).toEqual(['ack', 'bootstrapRequest']);
    second.answer(ID);
    expect(greet('c1').got('bootstrapRequest')).toEqual([]);
    expect(sessions.counters.asksReissued).toBe(2);
    expect(kinds().filter((kind) => kind === 'bootstrap-answered')).toHaveLength(1);
  });

  it('given answers that are unsolicited, withdrawn or of another cluster, then they are dropped and counted', async () => {
    const { greet, sessions, kinds } = await bench();
    const [operator, other] = [greet('c1'), greet('c2')];
    sessions.askBootstrap(bootstrap(ID));
    other.answer(ID);
    other.ackReclaim(ID);
    operator.answer('ffffffffffffffff');
    sessions.withdrawBootstrap({ kind: 'withdraw-bootstrap', cluster: 'c1', request: ID });
    operator.answer(ID);
    expect(kinds()).not.toContain('bootstrap-answered');
    expect(sessions.counters.answersUnknown).toBe(4);
  });

  it('given a withdrawal while it waits in the outbox, then it is never sent', async () => {
    const { greet, sessions } = await bench();
    const operator = greet('c1');
    operator.room = 0;
    sessions.askBootstrap(bootstrap(ID));
    sessions.withdrawBootstrap({ kind: 'withdraw-bootstrap', cluster: 'c1', request: ID });
    operator.drain();
    expect(operator.got('bootstrapRequest')).toEqual([]);
    expect(greet('c1').got('bootstrapRequest')).toEqual([]);
  });

  it('given an id that the wire contract does not allow, then it is refused', async () => {
    const { sessions } = await bench();
    expect(() => sessions.askBootstrap(bootstrap('1'))).toThrow('16 hexadecimal digits');
  });
});

describe('a reclaim instruction', () => {
  it('given a repeated ack, then the controller receives one event', async () => {
    const { greet, sessions, events, kinds } = await bench();
    const operator = greet('c1');
    sessions.instructReclaim(reclaim('r1'));
    expect(operator.got('reclaimInstruction')).toEqual([
      { instructionId: 'r1', nodes: ['m1'], gracePeriodSeconds: 600n, preemptorPriority: 5, kind: 2 },
    ]);
    operator.ackReclaim('r1');
    operator.ackReclaim('r1');
    expect(events.at(-1)).toEqual({ kind: 'reclaim-acked', instruction: 'r1' });
    expect(kinds().filter((kind) => kind === 'reclaim-acked')).toHaveLength(1);
  });

  // 7.6.25 of the specification.
  it('given a later session, then it is sent again with the remaining grace', async () => {
    const { sessions, greet, clock } = await bench();
    sessions.instructReclaim(reclaim('r1'));
    const graceAfter = async (ms: number) => {
      await clock.advance(ms);
      return greet('c1')
        .got('reclaimInstruction')
        .map(({ gracePeriodSeconds }) => gracePeriodSeconds);
    };
    expect(await graceAfter(0)).toEqual([600n]);
    expect(await graceAfter(500_000)).toEqual([100n]);
    expect(await graceAfter(99_999)).toEqual([1n]);
  });

  it('given a withdrawal, or the end of its grace, then it is not sent on the next session', async () => {
    const { sessions, greet, clock } = await bench();
    sessions.instructReclaim(reclaim('r1'));
    sessions.instructReclaim(reclaim('r2'));
    sessions.withdrawReclaim({
      ...{ kind: 'withdraw-reclaim', cluster: 'c1', instruction: 'r1', machine: 'm1' },
      staysBecause: null,
    });
    expect(greet('c1').got('reclaimInstruction')).toMatchObject([{ instructionId: 'r2' }]);
    await clock.advance(600_000);
    const operator = greet('c1');
    expect(operator.got('reclaimInstruction')).toEqual([]);
    operator.ackReclaim('r2');
    expect(sessions.counters.answersUnknown).toBe(1);
  });
});

describe('OutstandingRequests', () => {
  // 7.6.23 of the specification.
  it('given ten thousand acknowledged instructions, then none is retained', async () => {
    const { greet, sessions } = await bench();
    const operator = greet('c1');
    for (let i = 0; i < 10_000; i++) {
      sessions.instructReclaim(reclaim(`r${i}`));
      operator.ackReclaim(`r${i}`);
    }
    operator.ackReclaim('r9999');
    expect(sessions.counters).toMatchObject({ asksForgotten: 0, answersUnknown: 1 });
    expect(greet('c1').got('reclaimInstruction')).toEqual([]);
  });

  // 7.6.23 of the specification.
  it('given more than the limit of a cluster, then all are sent, and the one dropped is counted and logged', async () => {
    const { greet, sessions, lines } = await bench();
    const operator = greet('c1');
    for (let i = 0; i <= MAX_ASKS; i++) sessions.instructReclaim(reclaim(`r${i}`));
    expect(operator.got('reclaimInstruction')).toHaveLength(MAX_ASKS + 1);
    expect(sessions.counters.asksForgotten).toBe(1);
    expect(lines.at(-1)).toMatchObject({ level: 'error', event: 'asks-forgotten' });
    expect(greet('c1').got('reclaimInstruction')).toHaveLength(MAX_ASKS);
  });

  it('given more than the limit of a cluster, then the oldest is dropped and the others stay', () => {
    const requests = new OutstandingRequests(2);
    const ask = (id: string): Ask => ({
      kind: 'bootstrap',
      cluster: 'c1',
      id,
      requirements: [],
      joining: JOINING,
    });
    expect(['a', 'b', 'c'].map((id) => requests.add(ask(id))?.id)).toEqual([undefined, undefined, 'a']);
    expect(requests.openOf('c1', 0).map(({ id }) => id)).toEqual(['b', 'c']);
  });
});
