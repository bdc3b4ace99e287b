import { describe, expect, it } from 'vitest';
import { ProviderError, type ProviderErrorKind } from '../../provider/index.ts';
import { outcomeOf } from './provider-hands.ts';

const failed = (kind: ProviderErrorKind, detail = 'so it is') => new ProviderError(kind, 'create', detail);

describe('what the brain hears of an error', () => {
  it.each([
    ['fenced', 'fenced'],
    ['not-found', 'unknown-machine'],
    ['unimplemented', 'permanent'],
    ['invalid', 'permanent'],
    ['throttled', 'transient'],
    ['unavailable', 'transient'],
    ['deadline', 'transient'],
    ['malformed', 'transient'],
    ['internal', 'transient'],
  ] as const)('%s is %s', (kind, outcome) => {
    expect(outcomeOf(failed(kind), 'create').kind).toBe(outcome);
  });

  it('a refused identity is no machine’s fault, so it burns none', () => {
    expect(outcomeOf(failed('denied'), 'drain').kind).toBe('transient');
  });

  it.each([
    'InsufficientInstanceCapacity: We currently do not have sufficient m5 capacity',
    'insufficient capacity: no big in za at the moment',
    'ZONE_RESOURCE_POOL_EXHAUSTED: out of capacity',
    'sold out',
  ])('a Create refused with "%s" is a stock-out, other calls are not', (detail) => {
    expect(outcomeOf(failed('throttled', detail), 'create').kind).toBe('stock-out');
    expect(outcomeOf(failed('throttled', detail), 'configure').kind).toBe('transient');
  });

  it('anything else that is thrown is transient', () => {
    expect(outcomeOf(new TypeError('oh'), 'get')).toEqual({ kind: 'transient', message: 'TypeError: oh' });
  });
});
