// The outbox compared with a model: the newest frame per key, keys in the order in which they began to wait, within the bound.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { nodeState } from '../../../testing/support/sessions.ts';
import type { ShardMessage } from '../../wire/gen/bigfleet/v1alpha1/shard.ts';
import { nodeStateFrame } from './messages.ts';
import { Outbox } from './outbox.ts';

const CAPACITY = 5;

type Step =
  | { readonly kind: 'offer'; readonly key: string }
  | { readonly kind: 'withdraw'; readonly key: string }
  | { readonly kind: 'drain'; readonly room: number };

const key = fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f', 'g', 'h');
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 6, arbitrary: key.map((key): Step => ({ kind: 'offer', key })) },
  { weight: 1, arbitrary: key.map((key): Step => ({ kind: 'withdraw', key })) },
  { weight: 2, arbitrary: fc.nat(6).map((room): Step => ({ kind: 'drain', room })) },
);

/** A port that accepts `room` frames, and records for each the number of its offer. */
class Port {
  room: number;
  readonly accepted: { readonly key: string; readonly number: string }[] = [];

  constructor(room: number) {
    this.room = room;
  }

  write({ payload }: ShardMessage): 'accepted' | 'full' {
    if (payload?.$case !== 'nodeStateUpdate') throw new Error('not a frame of this test');
    if (this.room === 0) return 'full';
    this.room--;
    this.accepted.push({ key: payload.value.machineId, number: payload.value.lastError });
    return 'accepted';
  }
}

/** The reference behaviour of an outbox. */
class Model {
  waiting: { readonly key: string; readonly number: string }[] = [];
  readonly accepted: { readonly key: string; readonly number: string }[] = [];
  isBlocked = false;
  room: number;

  constructor(room: number) {
    this.room = room;
  }

  offer(key: string, number: string): string {
    const at = this.waiting.findIndex((frame) => frame.key === key);
    if (at >= 0) {
      this.waiting[at] = { key, number };
      return 'coalesced';
    }
    if (this.waiting.length === 0 && !this.isBlocked) {
      if (this.room > 0) {
        this.room--;
        this.accepted.push({ key, number });
        return 'sent';
      }
      this.isBlocked = true;
    }
    if (this.waiting.length === CAPACITY) return 'full';
    this.waiting.push({ key, number });
    return 'queued';
  }

  withdraw(key: string): void {
    this.waiting = this.waiting.filter((frame) => frame.key !== key);
  }

  drain(room: number): void {
    const sent = this.waiting.slice(0, room);
    this.accepted.push(...sent);
    this.waiting = this.waiting.slice(sent.length);
    this.room = room - sent.length;
    this.isBlocked = this.waiting.length > 0;
  }
}

describe('Outbox', () => {
  it('given any sequence of offers, withdrawals and drains, then it behaves as the model, within its bound', () => {
    fc.assert(
      fc.property(fc.nat(3), fc.array(step, { maxLength: 60 }), (room, steps) => {
        const port = new Port(room);
        const model = new Model(room);
        const outbox = new Outbox(port, CAPACITY);
        for (const [i, step] of steps.entries()) {
          if (step.kind === 'offer') {
            const { frame } = nodeStateFrame(nodeState(step.key, { lastError: `${i}` }));
            expect(outbox.offer(step.key, frame)).toBe(model.offer(step.key, `${i}`));
          } else if (step.kind === 'withdraw') {
            outbox.withdraw(step.key);
            model.withdraw(step.key);
          } else {
            port.room = step.room;
            outbox.flush();
            model.drain(step.room);
          }
          expect(outbox.length).toBe(model.waiting.length);
          expect(outbox.length).toBeLessThanOrEqual(CAPACITY);
        }
        expect(port.accepted).toEqual(model.accepted);
      }),
    );
  });

  it('given any offers and a reader that starts late, then the newest frame of each key arrives last', () => {
    fc.assert(
      fc.property(fc.array(key, { minLength: 1, maxLength: 40 }), fc.nat(4), (keys, room) => {
        const port = new Port(room);
        const outbox = new Outbox(port, 100);
        for (const [i, key] of keys.entries()) {
          outbox.offer(key, nodeStateFrame(nodeState(key, { lastError: `${i}` })).frame);
        }
        port.room = Infinity;
        outbox.flush();
        const last = new Map(port.accepted.map(({ key, number }) => [key, number]));
        expect(last).toEqual(new Map(keys.map((key, i) => [key, `${i}`])));
        expect(outbox.length).toBe(0);
      }),
    );
  });
});
