// Operators with and without the additions to the protocol, at one shard. Over real gRPC.

import { describe, expect, it } from 'vitest';
import type { Dialer } from '../../src/demo/operator/index.ts';
import { OperatorMessage, type ShardMessage } from '../../src/wire/gen/bigfleet/v1alpha1/shard.ts';
import { offering } from './shard-cloud.ts';
import { need, PATIENT, World } from './shard-world.ts';

const GRACE_SECONDS = 600;
const REPORTS_DRAINS = { drains: { blocked: 0 } };

/** An operator of the first protocol version: its hello announces nothing. `received` gets every frame sent to it. */
function announcesNothing(received: ShardMessage[]): (dialer: Dialer) => Dialer {
  return (dialer) => ({
    open: (end) => {
      const link = dialer.open({
        receive: (message) => {
          received.push(message);
          end.receive(message);
        },
        closed: (why) => end.closed(why),
      });
      return {
        send: (frame) => link.send(withoutFeatures(frame)),
        get isBlocked() {
          return link.isBlocked;
        },
        close: () => link.close(),
      };
    },
  });
}

function withoutFeatures(frame: Uint8Array): Uint8Array {
  const { payload } = OperatorMessage.decode(frame);
  if (payload?.$case !== 'hello') return frame;
  const value = { ...payload.value, features: [] };
  return OperatorMessage.encode({ payload: { $case: 'hello', value } }).finish();
}

describe.concurrent('operators of different versions', PATIENT, () => {
  it('given one that announces nothing, then the provider drains at once, and the operator gets no addition', async (test) => {
    const world = await World.open(test, { clouds: { cloud: [offering('small', { count: 6 })] } });
    const received: ShardMessage[] = [];
    // It would report every drain as blocked; nothing is to depend on that.
    const old = { drains: { blocked: 1 }, through: announcesNothing(received) };
    world.joinAs(old, 'old', need('old', 12));
    world.joinAs(REPORTS_DRAINS, 'new', need('new', 12));
    await world.served();
    const clusterOf = new Map(['old', 'new'].flatMap((name) => world.nodesOf(name).map((id) => [id, name])));
    for (const cluster of ['old', 'new']) world.operator(cluster).setDemand([need(cluster, 8)]);
    await world.until('a machine of each is released', () => world.callsOf('delete').length === 2);
    const graces = new Map(
      world.callsOf('drain').map((call) => [clusterOf.get(call.machine), call.graceSeconds]),
    );
    expect(graces).toEqual(
      new Map([
        ['old', GRACE_SECONDS],
        ['new', 0],
      ]),
    );
    expect(world.callsOf('drain')).toHaveLength(2);
    expect(new Set(received.map(({ payload }) => payload?.$case))).toEqual(
      new Set(['ack', 'nodeStateUpdate', 'availableCapacity', 'bootstrapRequest', 'reclaimInstruction']),
    );
    expect(world.operator('old').counts.verdicts).toBe(0);
    expect(world.operator('new').counts.verdicts).toBeGreaterThan(0);
  });

  it('given one that reports drains and is away while the shard restarts, then a preemption waits for it', async (test) => {
    const world = await World.open(test, { clouds: { cloud: [offering('small', { count: 2 })] } });
    world.joinAs(REPORTS_DRAINS, 'batch', need('batch', 8));
    await world.served();
    world.operator('batch').stop();
    await world.restart();
    world.join('urgent', need('urgent', 4, { priority: 200_000 }));
    await world.until('a preemption waits', async () => {
      const { begun } = await world.actions();
      return begun.some(({ message }) => message.startsWith('waiting for the cluster to drain'));
    });
    await world.cycles(10);
    expect(world.callsOf('drain')).toEqual([]);
    world.operator('batch').start();
    await world.served('urgent');
    expect(world.callsOf('drain').map(({ graceSeconds }) => graceSeconds)).toEqual([0]);
  });
});
