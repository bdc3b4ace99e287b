import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Stamp } from '../../model/index.ts';
import {
  FINGERPRINT_KEY,
  GROUP_KEY,
  INTERRUPTION_KEY,
  PRIORITY_KEY,
  RECLAMATION_KEY,
  stampFromMetadata,
  stampToMetadata,
} from './stamp.ts';
import { isNewer, tokenFromWire } from './token.ts';

describe('stamps in shard metadata', () => {
  it('given a pinned stamp, then its keys and values are those of the contract', () => {
    const stamp: Stamp = {
      priority: -5,
      interruptionPenaltyDollars: Number.POSITIVE_INFINITY,
      reclamationPenaltyDollars: 0.5,
      fingerprint: 'p=-5|…',
      group: 'rack\u0000x',
    };
    expect(Object.fromEntries(stampToMetadata(stamp))).toEqual({
      'bigfleet.lucy.sh/assigned-priority': '-5',
      'bigfleet.lucy.sh/assigned-interruption-penalty-dollars': '+Inf',
      'bigfleet.lucy.sh/assigned-reclamation-penalty-dollars': '0.5',
      'bigfleet.lucy.sh/assigned-need-fingerprint': 'p=-5|…',
      'bigfleet.lucy.sh/assigned-group': 'rack\u0000x',
    });
  });

  it('given any stamp, when encoded and decoded, then it is unchanged', () => {
    const dollars = fc.oneof(
      fc.double({ min: 0, max: 8_388_608, noNaN: true }).map(Math.abs),
      fc.constant(Number.POSITIVE_INFINITY),
    );
    const stamp = fc.record({
      priority: fc.option(fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 })),
      interruptionPenaltyDollars: dollars,
      reclamationPenaltyDollars: dollars,
      fingerprint: fc.string(),
      group: fc.string(),
    });
    fc.assert(
      fc.property(stamp, (given) => {
        expect(stampFromMetadata(stampToMetadata(given))).toEqual(given);
      }),
    );
  });

  it('given malformed values, then they get their defaults and the others are kept', () => {
    const metadata = new Map([
      [PRIORITY_KEY, '12x'],
      [INTERRUPTION_KEY, 'NaN'],
      [RECLAMATION_KEY, '1e3'],
      [FINGERPRINT_KEY, 'fp'],
      ['another/writer', '1'],
    ]);
    expect(stampFromMetadata(metadata)).toEqual({
      priority: null,
      interruptionPenaltyDollars: 0,
      reclamationPenaltyDollars: 1000,
      fingerprint: 'fp',
      group: '',
    });
  });

  it('given a priority beyond int32, then the priority is unknown', () => {
    expect(stampFromMetadata(new Map([[PRIORITY_KEY, '2147483648']]))?.priority).toBeNull();
  });

  it('given only keys of other writers, then there is no stamp', () => {
    expect(stampFromMetadata(new Map([['another/writer', '1']]))).toBeNull();
    expect(stampFromMetadata(new Map([[GROUP_KEY, '']]))).not.toBeNull();
  });
});

describe('fencing tokens', () => {
  const MAX = 2n ** 63n - 1n;

  it('given tokens up to 2^63 - 1, then they are exact, and ordered by epoch before sequence number', () => {
    const token = tokenFromWire({ shardId: 's', shardEpoch: MAX, sequenceNumber: MAX - 1n });
    expect(token).toEqual({ shardId: 's', epoch: MAX, sequence: MAX - 1n });
    expect(
      isNewer({ shardId: 's', epoch: MAX, sequence: MAX }, { shardId: 's', epoch: MAX, sequence: MAX - 1n }),
    ).toBe(true);
    expect(
      isNewer({ shardId: 's', epoch: 2n, sequence: 1n }, { shardId: 's', epoch: 1n, sequence: MAX }),
    ).toBe(true);
    expect(
      isNewer({ shardId: 's', epoch: 1n, sequence: 1n }, { shardId: 's', epoch: 1n, sequence: 1n }),
    ).toBe(false);
  });

  it('given no shard id and both counters 0, then there is no token', () => {
    expect(tokenFromWire({ shardId: '', shardEpoch: 0n, sequenceNumber: 0n })).toBeNull();
  });

  it.each([
    ['', -1n, 0n],
    ['', 0n, -1n],
    ['', 0n, 1n],
    ['s', 0n, 0n],
  ])('given shard "%s" with (%i, %i), then there is a token', (shardId, shardEpoch, sequenceNumber) => {
    expect(tokenFromWire({ shardId, shardEpoch, sequenceNumber })).toEqual({
      shardId,
      epoch: shardEpoch,
      sequence: sequenceNumber,
    });
  });

  it('given counters over the whole range of int64, then all are ordered as numbers, zero included', () => {
    const MIN = -(2n ** 63n);
    const ascending = [MIN, MIN + 1n, -1n, 0n, 1n, MAX - 1n, MAX].flatMap((epoch, _, counters) =>
      counters.map((sequence) => ({ shardId: 's', epoch, sequence })),
    );
    for (const [i, a] of ascending.entries()) {
      for (const [j, b] of ascending.entries()) expect(isNewer(a, b)).toBe(i > j);
    }
  });
});
