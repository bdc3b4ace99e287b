// Demand that crosses threads, against what was sent: any course of roll-ups of several clusters, each through a real
// copy as threads make it.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { makeProfile, type Need, Operator, type Profile } from '../../model/index.ts';
import { type DemandDelta, type DemandPart, DemandReceiver, DemandSender } from './demand-codec.ts';

/** What a row is made of: its profile by number, its amounts, and whether an intake recognised it as the last one. */
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
  readonly #sent = new Map<string, readonly Need[]>();
  readonly #received = new Map<string, readonly Need[]>();
  #step = 0;

  /** Rows at the sender: those kept are the objects that were sent last, wherever they stood. */
  rows(cluster: string, rows: readonly Row[]): readonly Need[] {
    const before = this.#sent.get(cluster) ?? [];
    const step = ++this.#step;
    return rows.map((row, i) => {
      const old = before[(i + row.profile) % Math.max(1, before.length)];
      return row.isKept && old !== undefined ? old : needOf(cluster, row, step + i / 8);
    });
  }

  report(cluster: string, needs: readonly Need[]): { delta: DemandDelta; received: readonly Need[] } {
    const delta = structuredClone(this.#sender.pack(cluster, needs));
    const received = this.#receiver.unpack(delta);
    this.#checkIdentities(cluster, needs, received);
    this.#sent.set(cluster, needs);
    this.#received.set(cluster, received);
    return { delta, received };
  }

  #checkIdentities(cluster: string, needs: readonly Need[], received: readonly Need[]): void {
    expect(received).toEqual(needs);
    const sentBefore = this.#sent.get(cluster) ?? [];
    const receivedBefore = this.#received.get(cluster) ?? [];
    for (const [i, need] of needs.entries()) {
      expect(sentBefore.map((old) => old === need)).toEqual(receivedBefore.map((old) => old === received[i]));
      expect(needs.indexOf(need)).toBe(received.indexOf(received[i]!));
    }
  }

  checkKept(): void {
    const live = [...this.#sent.values()].flatMap((needs) => [...new Set(needs)]);
    const profiles = new Set(live.map(({ profile }) => profile.fingerprint)).size;
    expect(this.#sender.kept).toEqual({ rows: live.length, profiles });
    expect(this.#receiver.kept).toEqual({ rows: live.length, profiles });
    const received = new Set([...this.#received.values()].flat().map(({ profile }) => profile));
    expect(received.size).toBe(profiles);
  }
}

describe('demand between threads', () => {
  it('given any roll-ups, then rows and profiles are equal, the same exactly where they were, and nothing else is kept', () => {
    fc.assert(
      fc.property(rollUps, (reports) => {
        const course = new Course();
        for (const [cluster, rows] of reports) {
          course.report(cluster, course.rows(cluster, rows));
          course.checkKept();
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
          for (const [round, rows] of all.entries()) {
            const needs = rows.map((of, i) => of.map((each) => needOf(`c${i}`, each, round)));
            const open = needs.map((of, i) => sender.packing(`c${i}`, of, { partRows, send }));
            const received: (readonly Need[] | undefined)[] = [undefined, undefined, undefined];
            while (received.includes(undefined)) {
              const turn = turns.next().value as number;
              if (received[turn] !== undefined) continue;
              const step = open[turn]!.next();
              if (step.done === true) received[turn] = receiver.unpack(structuredClone(step.value));
            }
            expect(received).toEqual(needs);
            expect(receiver.kept).toEqual(sender.kept);
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
    const { delta } = course.report('c1', first.with(7, changed));
    expect(delta.fresh.groups).toHaveLength(1);
    expect(delta).toMatchObject({ profiles: [], dropped: [] });
  });

  it('given the same rows again, then nothing is sent and the list is the one of before', () => {
    const course = new Course();
    const rows = [needOf('c1', { profile: 1, group: '', amounts: [], isKept: false }, 1)];
    const { received } = course.report('c1', rows);
    const again = course.report('c1', [...rows]);
    expect(again.delta.order).toBeNull();
    expect(again.received).toBe(received);
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

  it('given a roll-up that was lost on the way, then the next is refused', () => {
    const sender = new DemandSender();
    const need = needOf('c1', { profile: 1, group: '', amounts: [], isKept: false }, 1);
    sender.pack('c1', [need]);
    const next = sender.pack('c1', [need, { ...need, group: 'g' }]);
    expect(() => new DemandReceiver().unpack(next)).toThrow('0 rows are known, not 1');
  });

  it('given a row of another cluster, then it is refused and nothing has changed', () => {
    const sender = new DemandSender();
    const need = needOf('c2', { profile: 1, group: '', amounts: [], isKept: false }, 1);
    expect(() => sender.pack('c1', [need])).toThrow('names cluster "c2"');
    expect(sender.kept).toEqual({ rows: 0, profiles: 0 });
  });

  it('given a delta of a journal from before rows could be set aside, then its rows are ordinary', () => {
    const sender = new DemandSender();
    const need = needOf('c1', { profile: 1, group: '', amounts: [['cpu', 4]], isKept: false }, 1);
    const { fresh, ...delta } = sender.pack('c1', [need]);
    const { groups, names, numbers } = fresh;
    expect(new DemandReceiver().unpack({ ...delta, fresh: { groups, names, numbers } })).toEqual([need]);
    expect(Object.keys(fresh)).toEqual(['groups', 'names', 'numbers']);
  });
});
