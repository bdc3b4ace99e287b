// Demand that crosses threads, against what was sent: any course of roll-ups of several clusters, each through a real
// copy as threads make it.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DeltaSource } from '../../../testing/support/rollup-deltas.ts';
import {
  makeProfile,
  mergeNeeds,
  type Need,
  Operator,
  type Profile,
  type RollupDelta,
  rowsAfter,
  wholeRollup,
} from '../../model/index.ts';
import { type DemandPart, DemandReceiver, DemandSender, type PackedDelta } from './demand-codec.ts';

/** What a row is made of: its profile by number, its amounts, and whether it repeats one of the last roll-up. */
interface Row {
  readonly profile: number;
  readonly group: string;
  readonly amounts: readonly (readonly [string, number])[];
  readonly isKept: boolean;
  readonly isSetAside?: boolean;
}

const row: fc.Arbitrary<Row> = fc.record({
  profile: fc.nat(4),
  group: fc.constantFrom('', 'gang-1', 'gang-2'),
  amounts: fc.array(
    fc.tuple(fc.constantFrom('cpu', 'memory', '__proto__', ''), fc.nat(Number.MAX_SAFE_INTEGER)),
    { maxLength: 3 },
  ),
  isKept: fc.boolean(),
  isSetAside: fc.boolean(),
});
const rollUps = fc.array(fc.tuple(fc.constantFrom('c1', 'c2', 'c3'), fc.array(row, { maxLength: 8 })), {
  maxLength: 30,
});

/** A new object on each call, as the intake creates them. */
function profileOf(number: number): Profile {
  return makeProfile({
    priority: number,
    requirements: [{ key: 'zone', operator: Operator.In, values: ['a', `b${number}`] }],
  });
}

function needOf(cluster: string, { profile, group, amounts, isSetAside }: Row, firstSeenMs: number): Need {
  const aggregate = new Map(amounts);
  const minUnit = new Map(amounts.slice(0, 1));
  const need = { cluster, profile: profileOf(profile), group, aggregate, minUnit, firstSeenMs };
  return isSetAside === true ? { ...need, setAside: true } : need;
}

class Course {
  readonly #sender = new DemandSender();
  readonly #receiver = new DemandReceiver();
  readonly #sources = new Map<string, DeltaSource>();
  readonly #received = new Map<string, readonly Need[]>();
  #step = 0;

  /** Rows at the sender: those kept are rows that were sent last, at any place. */
  rows(cluster: string, rows: readonly Row[]): readonly Need[] {
    const before = this.#received.get(cluster) ?? [];
    const step = ++this.#step;
    const kept = rows.flatMap(({ isKept, profile }, i) => {
      const old = before[(i + profile) % Math.max(1, before.length)];
      return isKept && old !== undefined ? old : [];
    });
    const fresh = rows.flatMap((row, i) => (row.isKept ? [] : needOf(cluster, row, step + i / 8)));
    const keys = new Set(kept.map(({ profile, group }) => `${profile.fingerprint}/${group}`));
    const others = mergeNeeds(fresh).filter(
      ({ profile, group }) => !keys.has(`${profile.fingerprint}/${group}`),
    );
    return [...others, ...new Set(kept)];
  }

  report(cluster: string, needs: readonly Need[]): { packed: PackedDelta; received: readonly Need[] } {
    const source = this.#sources.get(cluster) ?? new DeltaSource(cluster);
    this.#sources.set(cluster, source);
    const delta = source.next(needs);
    const packed = structuredClone(this.#sender.pack(delta));
    const unpacked = this.#receiver.unpack(packed);
    expect(unpacked).toEqual(delta);
    const received = rowsAfter(this.#received.get(cluster) ?? [], unpacked);
    expect(received).toEqual(needs);
    this.#received.set(cluster, received);
    return { packed, received };
  }

  checkProfiles(): void {
    const live = [...this.#received.values()].flat().map(({ profile }) => profile);
    const profiles = new Set(live.map(({ fingerprint }) => fingerprint)).size;
    expect(this.#sender.profiles).toBe(profiles);
    expect(this.#receiver.profiles).toBe(profiles);
    expect(new Set(live).size).toBe(profiles);
  }
}

describe('demand between threads', () => {
  it('given any roll-ups, then the deltas are equal, rows share profiles, and no other profiles are kept', () => {
    fc.assert(
      fc.property(rollUps, (reports) => {
        const course = new Course();
        for (const [cluster, rows] of reports) {
          course.report(cluster, course.rows(cluster, rows));
          course.checkProfiles();
        }
      }),
      { numRuns: 500 },
    );
  });

  it('given roll-ups of several clusters packed side by side in parts, then each arrives as it was sent', () => {
    const rounds = fc.array(
      fc.tuple(
        fc.array(row, { maxLength: 8 }),
        fc.array(row, { maxLength: 8 }),
        fc.array(row, { maxLength: 8 }),
      ),
      { maxLength: 8 },
    );
    fc.assert(
      fc.property(
        rounds,
        fc.integer({ min: 1, max: 4 }),
        fc.infiniteStream(fc.nat(2)),
        (all, partRows, turns) => {
          const sender = new DemandSender();
          const receiver = new DemandReceiver();
          const send = (part: DemandPart): void => receiver.receive(structuredClone(part));
          const sources = [0, 1, 2].map((i) => new DeltaSource(`c${i}`));
          for (const [round, rows] of all.entries()) {
            const needs = rows.map((of, i) => mergeNeeds(of.map((each) => needOf(`c${i}`, each, round))));
            const deltas = needs.map((of, i) => sources[i]!.next(of));
            const open = deltas.map((delta) => sender.packing(delta, { partRows, send }));
            const received: (RollupDelta | undefined)[] = [undefined, undefined, undefined];
            while (received.includes(undefined)) {
              const turn = turns.next().value as number;
              if (received[turn] !== undefined) continue;
              const step = open[turn]!.next();
              if (step.done === true) received[turn] = receiver.unpack(structuredClone(step.value));
            }
            expect(received).toEqual(deltas);
            expect(receiver.profiles).toBe(sender.profiles);
          }
        },
      ),
    );
  });

  it('given one row of many that changed, then that row alone is sent, without its profile', () => {
    const course = new Course();
    const first = Array.from({ length: 388 }, (_, i) =>
      needOf('c1', { profile: i, group: '', amounts: [['cpu', i + 1]], isKept: false }, 1),
    );
    course.report('c1', first);
    const changed = needOf('c1', { profile: 7, group: '', amounts: [['cpu', 9]], isKept: false }, 1);
    const { packed } = course.report('c1', first.with(7, changed));
    expect(packed.fresh.groups).toHaveLength(1);
    expect(packed).toMatchObject({ profiles: [], dropped: [] });
  });

  it('given the same rows again, then no row is sent', () => {
    const course = new Course();
    const rows = [needOf('c1', { profile: 1, group: '', amounts: [], isKept: false }, 1)];
    course.report('c1', rows);
    const { packed } = course.report('c1', [...rows]);
    expect(packed.fresh.groups).toEqual([]);
  });

  it('given rows of any clusters with equal amounts, then they share them', () => {
    const course = new Course();
    const amounts = [
      ['cpu', 500],
      ['memory', 2 ** 34],
    ] as const;
    const report = (cluster: string): Need => {
      const need = needOf(cluster, { profile: 1, group: '', amounts, isKept: false }, 1);
      return course.report(cluster, [need]).received[0]!;
    };
    const [one, other] = [report('c1'), report('c2')];

    expect(other.aggregate).toBe(one.aggregate);
    expect(other.minUnit).toBe(one.minUnit);
  });

  it('given equal amounts in another order, then the order stays', () => {
    const course = new Course();
    const orderOf = (...amounts: readonly (readonly [string, number])[]): string[] => {
      const need = needOf('c1', { profile: 1, group: '', amounts, isKept: false }, 1);
      return [...course.report('c1', [need]).received[0]!.aggregate.keys()];
    };

    expect(orderOf(['cpu', 7], ['memory', 7])).toEqual(['cpu', 'memory']);
    expect(orderOf(['memory', 7], ['cpu', 7])).toEqual(['memory', 'cpu']);
  });

  it('given a roll-up that the sender did not pack, then the next is refused', () => {
    const source = new DeltaSource('c1');
    const need = needOf('c1', { profile: 1, group: '', amounts: [], isKept: false }, 1);
    source.next([need]);
    const next = source.next([need, { ...need, group: 'g' }]);
    expect(() => new DemandSender().pack(next)).toThrow('BF_ROLLUP_BASE');
  });

  it('given a roll-up that was lost on the way, then rows of its profiles are refused', () => {
    const sender = new DemandSender();
    const source = new DeltaSource('c1');
    const need = needOf('c1', { profile: 1, group: '', amounts: [], isKept: false }, 1);
    sender.pack(source.next([need]));
    const next = sender.pack(source.next([need, { ...need, group: 'g' }]));
    expect(() => new DemandReceiver().unpack(next)).toThrow('profile 1, which was not received');
  });

  it('given a row of another cluster, then it is refused and nothing has changed', () => {
    const sender = new DemandSender();
    const need = needOf('c2', { profile: 1, group: '', amounts: [], isKept: false }, 1);
    expect(() => sender.pack(wholeRollup('c1', [need]))).toThrow('names cluster "c2"');
    expect(sender.profiles).toBe(0);
  });

  it('given a delta of a journal from before rows could be set aside, then its rows are ordinary', () => {
    const sender = new DemandSender();
    const need = needOf('c1', { profile: 1, group: '', amounts: [['cpu', 4]], isKept: false }, 1);
    const { fresh, ...delta } = sender.pack(wholeRollup('c1', [need]));
    const { groups, names, numbers } = fresh;
    expect(new DemandReceiver().unpack({ ...delta, fresh: { groups, names, numbers } }).fresh).toEqual([
      need,
    ]);
    expect(Object.keys(fresh)).toEqual(['groups', 'names', 'numbers']);
  });
});
