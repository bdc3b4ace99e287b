// Simulated operators against the real sessions of a shard, in memory and on a virtual clock.

import { describe, expect, it } from 'vitest';
import {
  aNeed,
  anInstruction,
  aQuestion,
  nodeState,
  type SessionsBench,
  sessionsBench,
} from '../../../testing/support/demo-operator.ts';
import { MachineState } from '../../model/index.ts';
import { Random } from '../../runtime/random.ts';
import { VirtualClock } from '../../runtime/virtual-clock.ts';
import { type OperatorEvent, type OperatorParts, SimOperator } from './operator.ts';
import { memoryDialer } from './operator-memory.ts';

const CLUSTER = 'web';
const REQUEST = '00000000000000aa';
const { Configured, Configuring, Draining, Idle, Failed } = MachineState;

interface Stage extends SessionsBench {
  readonly clock: VirtualClock;
  readonly operator: SimOperator;
  readonly operatorEvents: OperatorEvent[];
  /** Whether dial attempts reach the shard. */
  isReachable: boolean;
  readonly dials: number[];
}

async function stage(given: Partial<OperatorParts> & { readonly delayMs?: number } = {}): Promise<Stage> {
  const clock = new VirtualClock(1_000_000);
  const bench = await sessionsBench(clock);
  const operatorEvents: OperatorEvent[] = [];
  const dials: number[] = [];
  const parts: Stage = {
    ...bench,
    clock,
    operatorEvents,
    dials,
    isReachable: true,
    operator: new SimOperator({
      cluster: CLUSTER,
      clock,
      random: new Random(1),
      dialer: memoryDialer({
        clock,
        delayMs: () => given.delayMs ?? 0,
        sessions: () => {
          dials.push(clock.now());
          return parts.isReachable ? bench.sessions : null;
        },
      }),
      onEvent: (event) => operatorEvents.push(event),
      ...given,
    }),
  };
  return parts;
}

describe('SimOperator, reporting demand', () => {
  it('given a start, then it sends a hello and its whole demand', async () => {
    const { operator, clock, of, operatorEvents } = await stage();
    operator.setDemand([aNeed(CLUSTER, 4), aNeed(CLUSTER, 8, 1000)]);
    operator.start();
    await clock.advance(1);
    expect(operator.isConnected).toBe(true);
    expect(of('session-opened')).toMatchObject([{ cluster: CLUSTER }]);
    const fresh = of('demand')[0]?.delta.fresh ?? [];
    expect(fresh.map(({ profile, aggregate }) => [profile.priority, aggregate.get('cpu')])).toEqual([
      [100, 4000],
      [1000, 8000],
    ]);
    expect(operatorEvents.map(({ kind }) => kind)).toEqual(['connected', 'rollup-acked', 'rollup-reported']);
    expect(operatorEvents[0]).toMatchObject({ shardEpoch: 3n });
  });

  it('given unchanged demand, then it is reported once per interval, and the shard treats it as unchanged', async () => {
    const { operator, clock, of } = await stage();
    operator.setDemand([aNeed(CLUSTER, 4)]);
    operator.start();
    await clock.advance(60_001);
    expect(operator.counts).toMatchObject({ sessions: 1, rollupsSent: 7, rollupsAcked: 7 });
    expect(of('demand')).toHaveLength(1);
  });

  it('given a change of demand, then it is reported at once, and the interval restarts', async () => {
    const { operator, clock, of } = await stage();
    operator.setDemand([aNeed(CLUSTER, 4)]);
    operator.start();
    await clock.advance(5000);
    operator.setDemand([aNeed(CLUSTER, 12)]);
    await clock.advance(9999);
    expect(operator.counts.rollupsSent).toBe(2);
    expect(of('demand').at(-1)?.delta.fresh[0]?.aggregate.get('cpu')).toBe(12_000);
    await clock.advance(1);
    expect(operator.counts.rollupsSent).toBe(3);
  });

  it('given a change before the hello is acknowledged, then it is reported as well', async () => {
    const { operator, clock, of } = await stage({ delayMs: 100 });
    operator.setDemand([aNeed(CLUSTER, 4)]);
    operator.start();
    await clock.advance(50);
    operator.setDemand([aNeed(CLUSTER, 12)]);
    // The shard reads one changed roll-up per second.
    await clock.advance(1500);
    expect(of('demand').at(-1)?.delta.fresh[0]?.aggregate.get('cpu')).toBe(12_000);
  });

  it('given an ack, then its event has the round-trip time', async () => {
    const { operator, clock, operatorEvents } = await stage({ delayMs: 40 });
    operator.start();
    await clock.advance(1000);
    expect(operatorEvents).toContainEqual({ kind: 'rollup-acked', ms: 80 });
  });

  it('given demand of another cluster, then it is refused', async () => {
    const { operator } = await stage();
    expect(() => operator.setDemand([aNeed('other', 1)])).toThrow('a Need of other is none of web');
  });
});

describe('SimOperator, on a bootstrap request', () => {
  it('given a delay, then it answers with a blob after that delay', async () => {
    const { operator, clock, sessions, of } = await stage({ times: { blobMs: [300, 300] } });
    operator.start();
    await clock.advance(1);
    sessions.askBootstrap(aQuestion(CLUSTER, REQUEST));
    await clock.advance(299);
    expect(of('bootstrap-answered')).toEqual([]);
    await clock.advance(2);
    const [answer] = of('bootstrap-answered');
    expect(answer).toMatchObject({ request: REQUEST, error: '', ttlSeconds: 3600 });
    expect(Buffer.from(answer!.blob!).toString()).toContain('joins web');
  });

  it('given the setting refuse, then it answers with the error', async () => {
    const { operator, clock, sessions, of } = await stage();
    operator.setBootstrap({ kind: 'refuse', error: 'no image' });
    operator.start();
    await clock.advance(1);
    sessions.askBootstrap(aQuestion(CLUSTER, REQUEST));
    await clock.advance(1000);
    expect(of('bootstrap-answered')).toMatchObject([{ blob: null, error: 'no image' }]);
  });

  it('given the setting ignore, then it does not answer, and receives the request again on its next session', async () => {
    const { operator, clock, sessions, of } = await stage();
    operator.setBootstrap({ kind: 'ignore' });
    operator.start();
    await clock.advance(1);
    sessions.askBootstrap(aQuestion(CLUSTER, REQUEST));
    await clock.advance(60_000);
    expect(of('bootstrap-answered')).toEqual([]);
    operator.setBootstrap({ kind: 'answer' });
    operator.drop();
    await clock.advance(2000);
    expect(of('bootstrap-answered')).toHaveLength(1);
  });

  it('given a connection that is lost before the answer, then the next session has exactly one answer', async () => {
    const { operator, clock, sessions, of } = await stage({ times: { blobMs: [200, 200] } });
    operator.start();
    await clock.advance(1);
    sessions.askBootstrap(aQuestion(CLUSTER, REQUEST));
    await clock.advance(100);
    operator.drop();
    await clock.advance(5000);
    expect(of('bootstrap-answered')).toHaveLength(1);
    expect(sessions.counters.answersUnknown).toBe(0);
  });
});

describe('SimOperator, nodes', () => {
  async function withNode(): Promise<Stage> {
    const connected = await stage();
    connected.operator.start();
    await connected.clock.advance(1);
    connected.sessions.sendNodeState(CLUSTER, nodeState('m-1', Configured));
    await connected.clock.advance(1);
    return connected;
  }

  it('given node states of the shard, then its nodes have those states and names', async () => {
    const { operator, sessions, clock } = await withNode();
    sessions.sendNodeState(CLUSTER, nodeState('m-2', Configuring));
    await clock.advance(1);
    expect([...operator.nodes.values()].map(({ machine, state, name }) => [machine, state, name])).toEqual([
      ['m-1', Configured, 'node-m-1'],
      ['m-2', Configuring, ''],
    ]);
  });

  it.each([['Idle', Idle] as const, ['Failed', Failed] as const])(
    'given a node that becomes %s, then it is removed',
    async (_, state) => {
      const { operator, sessions, clock } = await withNode();
      sessions.sendNodeState(CLUSTER, nodeState('m-1', state));
      await clock.advance(1);
      expect(operator.nodes.size).toBe(0);
    },
  );

  it('given a reclaim, then it acks at once, cordons the node, and evicts the pods within the grace', async () => {
    const { operator, sessions, clock, of } = await withNode();
    sessions.instructReclaim(anInstruction(CLUSTER, 'm-1', 20));
    await clock.advance(1);
    expect(of('reclaim-acked')).toEqual([{ kind: 'reclaim-acked', instruction: 'reclaim-m-1' }]);
    expect(operator.nodes.get('m-1')).toMatchObject({ isCordoned: true, isEmpty: false });
    sessions.sendNodeState(CLUSTER, nodeState('m-1', Draining));
    await clock.advance(20_000);
    expect(operator.nodes.get('m-1')).toMatchObject({ state: Draining, isCordoned: true, isEmpty: true });
  });

  it('given a reclaim by node name, or of an unknown node, then its event has the number of drains that started', async () => {
    const { sessions, clock, operatorEvents } = await withNode();
    sessions.instructReclaim(anInstruction(CLUSTER, 'node-m-1'));
    sessions.instructReclaim(anInstruction(CLUSTER, 'm-9'));
    await clock.advance(1);
    expect(operatorEvents.flatMap((event) => (event.kind === 'reclaim' ? [event.started] : []))).toEqual([
      1, 0,
    ]);
  });

  it('given a drain that is rolled back, then the node is uncordoned', async () => {
    const { operator, sessions, clock } = await withNode();
    sessions.instructReclaim(anInstruction(CLUSTER, 'm-1'));
    sessions.sendNodeState(CLUSTER, nodeState('m-1', Draining));
    sessions.sendNodeState(CLUSTER, nodeState('m-1', Configured));
    await clock.advance(60_000);
    expect(operator.nodes.get('m-1')).toMatchObject({ isCordoned: false, isEmpty: false });
  });

  it('given a machine that was removed while disconnected, then its node is removed once the shard has resent all machines', async () => {
    const { operator, sessions, clock } = await withNode();
    sessions.sendNodeState(CLUSTER, nodeState('m-2', Configured));
    await clock.advance(1);
    operator.drop();
    await clock.advance(2000);
    sessions.sendNodeState(CLUSTER, nodeState('m-1', Configured));
    await clock.advance(1);
    expect([...operator.nodes.keys()]).toEqual(['m-1', 'm-2']);
    await clock.advance(60_000);
    expect([...operator.nodes.keys()]).toEqual(['m-1']);
  });

  it('given a hint of available capacity, then it is kept until the connection ends', async () => {
    const { operator, sessions, clock } = await withNode();
    const supersedesKey = 'available:p=1';
    sessions.sendAvailableCapacity(CLUSTER, {
      supersedesKey,
      requirements: [],
      resources: undefined,
      availableCount: 3,
      confidence: 4,
      costPerHour: 0.5,
    });
    await clock.advance(1);
    expect(operator.hints.get(supersedesKey)).toMatchObject({ availableCount: 3 });
    operator.drop();
    expect(operator.hints.size).toBe(0);
  });
});

describe('SimOperator, without its shard', () => {
  it('given an unreachable shard, then it dials again with exponential backoff up to a limit, reset by a session', async () => {
    const parts = await stage();
    const { operator, clock, dials } = parts;
    parts.isReachable = false;
    operator.start();
    await clock.advance(300_000);
    const waits = dials.slice(1).map((at, i) => at - dials[i]!);
    for (const [i, wait] of waits.entries()) {
      const longest = Math.min(30_000, 500 * 2 ** i);
      expect(wait).toBeLessThanOrEqual(longest);
      expect(wait).toBeGreaterThanOrEqual(longest / 2);
    }
    expect(waits.length).toBeGreaterThan(10);
    parts.isReachable = true;
    await clock.advance(30_000);
    expect(operator.isConnected).toBe(true);
    operator.drop();
    await clock.advance(501);
    expect(operator.isConnected).toBe(true);
  });

  it('given a shard that never answers, then it closes the connection and dials again', async () => {
    const clock = new VirtualClock();
    const opened: number[] = [];
    const dialer = {
      open: () => {
        opened.push(clock.now());
        return { send: () => {}, isBlocked: false, close: () => {} };
      },
    };
    const operator = new SimOperator({ cluster: CLUSTER, clock, random: new Random(1), dialer });
    operator.start();
    await clock.advance(10_501);
    expect(opened).toHaveLength(2);
    operator.stop();
    expect(clock.waiting).toBe(0);
  });

  it('given a shard that ends its sessions, then the event has the reason', async () => {
    const { operator, clock, sessions, operatorEvents } = await stage();
    operator.start();
    await clock.advance(1);
    sessions.close();
    await clock.advance(1);
    expect(operatorEvents.at(-1)).toMatchObject({
      kind: 'disconnected',
      why: expect.stringContaining('no sessions'),
    });
    expect(operator.isConnected).toBe(false);
  });

  it('given a session, when stopped, then the session closes and no timer remains', async () => {
    const { operator, clock, of, sessions } = await stage();
    operator.start();
    await clock.advance(1);
    operator.stop();
    await clock.advance(1);
    expect(of('session-closed')).toHaveLength(1);
    sessions.close();
    expect(clock.waiting).toBe(0);
  });

  it('given a stopped operator, when started again, then it connects', async () => {
    const { operator, clock } = await stage();
    operator.start();
    await clock.advance(1);
    operator.stop();
    operator.start();
    await clock.advance(1);
    expect(operator.isConnected).toBe(true);
  });
});
