// Replies that wait, against a plain list.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { OperatorMessage } from '../../wire/gen/bigfleet/v1alpha1/shard.ts';
import { type Reply, ReplyQueue } from './reply-queue.ts';

const BOUNDS = { waitingReplies: 4, waitingBytes: 1_000 };

const reply: fc.Arbitrary<Reply> = fc.oneof(
  fc
    .record({ instructionId: fc.constantFrom('a', 'b', ''), nodesStarted: fc.nat(9) })
    .map((value) => ({ $case: 'reclaimAck', value }) as const),
  fc.record({ machineId: fc.constantFrom('a', 'b'), kind: fc.constantFrom(1, 3) }).map(
    ({ machineId, kind }) =>
      ({
        $case: 'nodeReport',
        value: {
          machineId,
          kind,
          instructionId: '',
          nodeName: '',
          providerId: '',
          reason: '',
          blockedBy: [],
        },
      }) as const,
  ),
  fc.record({ requestId: fc.constantFrom('a', 'b'), size: fc.nat(600) }).map(
    ({ requestId, size }) =>
      ({
        $case: 'bootstrapResponse',
        value: { requestId, userData: new Uint8Array(size), ttlSeconds: 0n, error: '' },
      }) as const,
  ),
);

function keyOf({ $case, value }: Reply): string {
  if ($case === 'bootstrapResponse') return `b ${value.requestId}`;
  return $case === 'reclaimAck' ? `r ${value.instructionId}` : `n ${value.machineId} ${value.kind}`;
}

describe('replies that wait', () => {
  it('given any replies, then the latest of each key is sent once, in the order of arrival', () => {
    fc.assert(
      fc.property(fc.array(fc.option(reply, { freq: 3 }), { maxLength: 60 }), (steps) => {
        const queue = new ReplyQueue(BOUNDS);
        let model: Reply[] = [];
        for (const step of steps) {
          if (step === null) {
            const frame = queue.take();
            const expected = model.shift();
            expect(frame).toEqual(
              expected === undefined ? null : OperatorMessage.encode({ payload: expected }).finish(),
            );
          } else {
            model = [...model.filter((each) => keyOf(each) !== keyOf(step)), step];
            queue.add(step);
          }
          const bytes = model.map((payload) => OperatorMessage.encode({ payload }).finish().length);
          expect(queue.size).toBe(model.length);
          expect(queue.bytes).toBe(bytes.reduce((sum, each) => sum + each, 0));
          expect(queue.isFull).toBe(queue.size >= 4 || queue.bytes >= 1_000);
          expect(queue.isFull && queue.hasRoom).toBe(false);
        }
      }),
    );
  });

  it('given a kind that the shard does not know, then its replies are discarded and no others', () => {
    const queue = new ReplyQueue(BOUNDS);
    queue.add({ $case: 'reclaimAck', value: { instructionId: 'a', nodesStarted: 1 } });
    queue.add({
      $case: 'bootstrapResponse',
      value: { requestId: 'a', userData: new Uint8Array(9), ttlSeconds: 0n, error: '' },
    });
    queue.discard('reclaimAck');
    expect(queue.size).toBe(1);
    expect(OperatorMessage.decode(queue.take()!).payload?.$case).toBe('bootstrapResponse');
    expect(queue.bytes).toBe(0);
  });
});
