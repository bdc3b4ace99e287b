import { describe, expect, it } from 'vitest';
import { claimsInVain, overfilled, type SharingRow } from './shares.ts';
import { cpuOffered } from './sim-provider.ts';

const SMALL = 'p1-std-1';
const BIG = 'p1-big-1';

function row(id: string, wantsCpu: number, given: Partial<SharingRow> = {}): SharingRow {
  return {
    ...{ id, wantsCpu, podCpu: 1000, isMet: true, isGang: false, canBorrow: true, claimed: [], shares: [] },
    ...given,
  };
}

function share(machine: string, cpu: number): Pick<SharingRow, 'shares'> {
  return { shares: [{ machine, cpu }] };
}

describe('shares of machines', () => {
  it.each<[string, readonly SharingRow[]]>([
    ['no shares', [row('a', 4000, { claimed: [SMALL] })]],
    [
      'a share of what is left over',
      [row('a', 3000, { claimed: [SMALL] }), row('b', 1000, share(SMALL, 1000))],
    ],
    ['a short row that lends nothing', [row('a', 9000, { claimed: [SMALL], isMet: false })]],
    [
      'a lender that borrows itself',
      [
        row('a', 3000, { claimed: [SMALL] }),
        row('b', 2000, { claimed: [BIG], ...share(SMALL, 1000) }),
        row('c', 7000, share(BIG, 7000)),
      ],
    ],
  ])('given %s, then they fit', (_, rows) => {
    expect(overfilled(rows, cpuOffered)).toBeNull();
  });

  it.each<[string, string, readonly SharingRow[]]>([
    [
      'two rows that take more than is left over',
      'a takes 3000 m of machines that lend all but 2000 m',
      [
        row('a', 3000, { claimed: [SMALL] }),
        row('b', 1000, share(SMALL, 1000)),
        row('c', 1000, share(SMALL, 1000)),
      ],
    ],
    [
      'more than the machine has',
      '5000 m of p1-std-1 are shared, which has 4000 m',
      [row('a', 1000, { claimed: [SMALL] }), row('b', 5000, share(SMALL, 5000))],
    ],
    ['a machine that no row claims', 'no row lends it', [row('b', 1000, share(SMALL, 1000))]],
    [
      'a machine of a gang',
      'no row lends it',
      [row('a', 1000, { claimed: [SMALL], isGang: true }), row('b', 1000, share(SMALL, 1000))],
    ],
    [
      'a row with a group',
      'b may not share',
      [row('a', 1000, { claimed: [SMALL] }), row('b', 1000, { ...share(SMALL, 1000), canBorrow: false })],
    ],
    [
      'the only machine for the largest pod',
      'a lends the machine of its largest pod',
      [row('a', 6000, { claimed: [SMALL, BIG], podCpu: 5000 }), row('b', 6000, share(BIG, 6000))],
    ],
  ])('given %s, then they do not fit: %s', (_, why, rows) => {
    expect(overfilled(rows, cpuOffered)).toContain(why);
  });
});

describe('claims of machines', () => {
  const inVain = (...rows: readonly SharingRow[]): string | null =>
    claimsInVain(rows, cpuOffered, (machine) => !machine.includes('spot'));
  const lender = row('a', 1000, { claimed: [SMALL] });

  it('given a row whose work fits into the remainder of a better-ranked row, then its claim is in vain', () => {
    const found = inVain(lender, row('b', 1000, { claimed: [BIG] }));
    expect(found).toBe('b claims p1-big-1, and a leaves over at least 3000 m of a machine');
  });

  it.each<[string, readonly SharingRow[]]>([
    ['a remainder below its largest pod', [lender, row('b', 4000, { claimed: [BIG], podCpu: 4000 })]],
    ['a remainder of a worse-ranked row', [row('b', 8000, { claimed: [BIG] }), lender]],
    ['a row that may not share', [lender, row('b', 1000, { claimed: [BIG], canBorrow: false })]],
    [
      'a machine it may avoid',
      [row('a', 1000, { claimed: ['p1-spot-1'] }), row('b', 1000, { claimed: [BIG] })],
    ],
    [
      'a remainder that others have borrowed',
      [lender, row('b', 3000, share(SMALL, 3000)), row('c', 1000, { claimed: [BIG] })],
    ],
    [
      'a remainder that may be in two parts',
      [row('a', 6500, { claimed: [SMALL, 'p1-std-2'] }), row('b', 1000, { claimed: [BIG] })],
    ],
  ])('given %s, then they are not in vain', (_, rows) => {
    expect(inVain(...rows)).toBeNull();
  });
});
