import { describe, expect, it } from 'vitest';
import { megabytesInUse } from '../../../test/hostile/memory.ts';
import { entry, join, len, num } from '../../../testing/support/wire-bytes.ts';
import type { Need } from '../../model/index.ts';
import { ClusterCapacityNeeds } from '../gen/bigfleet/v1alpha1/capacity.ts';
import { WireFormatError } from './errors.ts';
import { type IntakeResult, RollupIntake, SharedParts } from './intake.ts';

function bytes(cpus: readonly string[], { clusterId = 'c1', at = 1n } = {}): Uint8Array {
  const needs = cpus.map((cpu, priority) => ({
    requirements: [],
    aggregateResources: new Map([['cpu', cpu]]),
    priority,
    spread: [],
    interruptionPenaltyBucket: 0 as const,
    reclamationPenaltyBucket: 0 as const,
    minUnit: new Map(),
    group: '',
  }));
  return ClusterCapacityNeeds.encode({
    clusterId,
    timestampUnixNanos: at,
    needs,
    nodeFacts: undefined,
  }).finish();
}

function codes(intake: IntakeResult): string[] {
  return intake.kind === 'refused' ? intake.problems.first.map(({ code, path }) => `${code} at ${path}`) : [];
}

describe('roll-up intake', () => {
  it('given the accepted demand with another timestamp, then it is unchanged', () => {
    const intake = new RollupIntake('c1');
    intake.accept(intake.read(bytes(['1', '2'])));
    expect(intake.read(bytes(['1', '2'], { at: 2n }))).toMatchObject({ kind: 'unchanged' });
  });

  it('given the accepted bytes with another timestamp, then they are recognized without decoding, and other bytes are not', () => {
    const intake = new RollupIntake('c1');
    expect(intake.repeats(bytes(['1', '2']))).toBe(null);
    const first = intake.read(bytes(['1', '2']));
    expect(intake.repeats(bytes(['1', '2']))).toBe(null);
    intake.accept(first);
    expect(intake.repeats(bytes(['1', '2'], { at: 2n ** 60n }))?.timestampUnixNanos).toBe(2n ** 60n);
    expect(intake.repeats(bytes(['1', '3']))).toBe(null);
    expect(intake.repeats(new Uint8Array())).toBe(null);
  });

  it('given the accepted bytes with a timestamp of more than 64 bits, then they are not recognized, and decoding refuses them', () => {
    const intake = new RollupIntake('c1');
    const good = join([len(1, 'c1'), num(2, 1)]);
    intake.accept(intake.read(good));
    for (const last of [2, 0x7f]) {
      const stamp = Uint8Array.of(0x10, ...new Uint8Array(9).fill(0xff), last);
      const bad = join([len(1, 'c1'), stamp]);
      expect(intake.repeats(bad)).toBe(null);
      expect(() => intake.read(bad)).toThrow(WireFormatError);
    }
    expect(intake.repeats(join([len(1, 'c1'), num(2, -1)]))?.timestampUnixNanos).toBe(-1n);
    expect(intake.repeats(good)?.timestampUnixNanos).toBe(1n);
  });

  it('given one changed row, then the other rows are the same objects', () => {
    const intake = new RollupIntake('c1');
    const first = intake.read(bytes(['1', '2']));
    intake.accept(first);
    const second = intake.read(bytes(['1', '3']));
    expect(first.kind === 'changed' && second.kind === 'changed' && second.needs[0] === first.needs[0]).toBe(
      true,
    );
    expect(second.kind === 'changed' && second.needs[1]!.aggregate).toEqual(new Map([['cpu', 3000]]));
  });

  it('given a row that was set aside, when it is removed, then the other rows are the same objects and none is set aside', () => {
    const intake = new RollupIntake('c1');
    const good = len(3, entry(2, 'cpu', '1'));
    const hidden = len(3, len(9, 'g'.repeat(1025)));
    const rollup = (...rows: readonly Uint8Array[]) => intake.read(join([len(1, 'c1'), num(2, 1), ...rows]));
    const first = rollup(good, hidden);
    expect(first).toMatchObject({ kind: 'changed', rowsSetAside: 1, remarks: { total: 1 } });
    intake.accept(first);
    const second = rollup(good);
    expect(second).toMatchObject({ kind: 'changed', rowsSetAside: 0, remarks: { total: 0 } });
    expect(first.kind === 'changed' && second.kind === 'changed' && second.needs[0] === first.needs[0]).toBe(
      true,
    );
    intake.accept(second);
    expect(rollup(good)).toMatchObject({ kind: 'unchanged' });
  });

  it.each([
    ['a requirement', (fields: Uint8Array) => len(3, len(1, len(1, 'k'), num(2, 3), fields))],
    ['an amount', (fields: Uint8Array) => len(3, len(2, len(1, 'cpu'), len(2, '1'), fields))],
    ['a spread term', (fields: Uint8Array) => len(3, len(5, len(1, 'k'), fields))],
  ])('given too many fields in %s at the end of a row, then the row is set aside', (_, rowOf) => {
    const read = (fields: number) => {
      const row = rowOf(join(Array.from({ length: fields }, () => num(15, 1))));
      return new RollupIntake('c1').read(join([len(1, 'c1'), row]));
    };
    expect(read(16_384)).toMatchObject({
      rowsSetAside: 1,
      remarks: { first: [{ code: 'BF_ROLLUP_LIMIT', path: 'needs[0]' }] },
    });
    expect(read(16_000)).toMatchObject({ rowsSetAside: 0, remarks: { total: 0 } });
  });

  it('given an invalid row, then the roll-up is refused, and the next one is compared with the last accepted one', () => {
    const intake = new RollupIntake('c1');
    intake.accept(intake.read(bytes(['1', '2'])));
    const bad = intake.read(bytes(['1', 'two']));
    intake.accept(bad);
    expect(codes(bad)).toEqual(['BF_QUANTITY_SYNTAX at needs[1].aggregate_resources["cpu"]']);
    expect(intake.read(bytes(['1', '2'], { at: 3n }))).toMatchObject({ kind: 'unchanged' });
  });

  it('given a roll-up that names another cluster, then it is refused', () => {
    expect(codes(new RollupIntake('c1').read(bytes(['1'], { clusterId: 'c2' })))).toEqual([
      'BF_CLUSTER_MISMATCH at cluster_id',
    ]);
  });

  it('given clusters with equal rows, then equal profiles and amounts are shared objects', () => {
    const shared = new SharedParts();
    const [one, another, other] = [['1'], ['1'], ['2']].map((cpus) => {
      const read = new RollupIntake('c1', shared).read(bytes(cpus));
      return read.kind === 'changed' ? read.needs[0]! : expect.fail();
    }) as [Need, Need, Need];
    expect(another).toEqual(one);
    expect(another.profile).toBe(one.profile);
    expect(another.aggregate).toBe(one.aggregate);
    expect(other.profile).toBe(one.profile);
    expect(other.aggregate).toEqual(new Map([['cpu', 2000]]));
  });

  it.each([
    ['a long profile', len(3, len(5, len(1, 'k'.repeat(300))), len(5, len(1, 'j'.repeat(300))))],
    ['a profile of many terms', len(3, ...Array.from({ length: 17 }, (_, i) => len(5, len(1, `k${i}`))))],
    ['a vector of long names', len(3, entry(2, 'r'.repeat(300), '1'), entry(2, 's'.repeat(300), '1'))],
  ])('given %s, then it is not shared between clusters', (_, row) => {
    const shared = new SharedParts();
    const [one, another] = ['c1', 'c2'].map((cluster) => {
      const read = new RollupIntake(cluster, shared).read(join([len(1, cluster), row]));
      return read.kind === 'changed' ? read.needs[0]! : expect.fail();
    }) as [Need, Need];
    expect(another.profile).toEqual(one.profile);
    expect(another.aggregate).toEqual(one.aggregate);
    expect(another.profile === one.profile && another.aggregate === one.aggregate).toBe(false);
  });

  it.each([
    ['refused for one of their rows', (rows: Uint8Array) => join([len(1, 'c1'), rows, len(3, num(6, 99))])],
    ['refused for their cluster id', (rows: Uint8Array) => join([len(1, 'c'.repeat(254)), rows])],
    ['accepted with their row set aside', (rows: Uint8Array) => join([len(1, 'c1'), len(3, len(15, rows))])],
    ['read and not accepted', (rows: Uint8Array) => join([len(1, 'c1'), rows])],
  ])('given roll-ups of 1 MB that are %s, then their memory is released', (what, rollupOf) => {
    const before = megabytesInUse();
    const intakes = Array.from({ length: 50 }, () => new RollupIntake('c1'));
    for (const [i, intake] of intakes.entries()) {
      const row = len(3, len(9, `${i}${'g'.repeat(1000)}`));
      const read = intake.read(rollupOf(Buffer.alloc(1000 * row.length, row)));
      if (what !== 'read and not accepted') intake.accept(read);
    }
    expect(megabytesInUse() - before).toBeLessThan(10);
    expect(intakes).toHaveLength(50);
  });
});
