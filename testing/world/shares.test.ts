import { describe, expect, it } from 'vitest';
import { resources } from '../support/fleets.ts';
import { claimsInVain, overfilled, type SharingRow } from './shares.ts';
import { offered } from './sim-provider.ts';

const SMALL = 'p1-std-1';
const BIG = 'p1-big-1';

const cpu = (amount: number) => resources({ cpu: amount });

function row(id: string, wantsCpu: number, given: Partial<SharingRow> = {}): SharingRow {
  return {
    ...{ id, wants: cpu(wantsCpu), pod: cpu(1000), isMet: true, isGang: false, canBorrow: true },
    ...{ claimed: [], shares: [] },
    ...given,
  };
}

function share(machine: string, amount: number): Pick<SharingRow, 'shares'> {
  return { shares: [{ machine, amount: cpu(amount) }] };
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
    expect(overfilled(rows, offered)).toBeNull();
  });

  it.each<[string, string, readonly SharingRow[]]>([
    [
      'two rows that take more than is left over',
      'a takes cpu=3000 of machines that lend all but cpu=2000',
      [
        row('a', 3000, { claimed: [SMALL] }),
        row('b', 1000, share(SMALL, 1000)),
        row('c', 1000, share(SMALL, 1000)),
      ],
    ],
    [
      'more than the machine has',
      'cpu=5000 of p1-std-1 are shared, which has cpu=4000',
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
      'more memory than is left over, and no cpu',
      'a takes cpu=1000,memory=4000000000 of machines that lend all but cpu=4000,memory=',
      [
        row('a', 1000, { wants: resources({ cpu: 1000, memory: 4e9 }), claimed: [SMALL] }),
        row('b', 0, { shares: [{ machine: SMALL, amount: resources({ memory: 12e9 + 1 }) }] }),
      ],
    ],
    [
      'more memory than the machine has',
      'memory=16000000001 of p1-std-1 are shared, which has',
      [
        row('a', 1000, { claimed: [SMALL] }),
        row('b', 0, { shares: [{ machine: SMALL, amount: resources({ memory: 16e9 + 1 }) }] }),
      ],
    ],
    [
      'the only machine with the memory of the largest pod',
      'a lends the machine of its largest pod',
      [
        row('a', 1000, { pod: resources({ cpu: 1000, memory: 16e9 }), claimed: [SMALL] }),
        row('b', 0, { shares: [{ machine: SMALL, amount: resources({ memory: 1e9 }) }] }),
      ],
    ],
    [
      'the only machine for the largest pod',
      'a lends the machine of its largest pod',
      [row('a', 6000, { claimed: [SMALL, BIG], pod: cpu(5000) }), row('b', 6000, share(BIG, 6000))],
    ],
  ])('given %s, then they do not fit: %s', (_, why, rows) => {
    expect(overfilled(rows, offered)).toContain(why);
  });
});

describe('claims of machines', () => {
  const inVain = (...rows: readonly SharingRow[]): string | null =>
    claimsInVain(rows, offered, (machine) => !machine.includes('spot'));
  const lender = row('a', 1000, { claimed: [SMALL] });

  it('given a row whose work fits into the remainder of a better-ranked row, then its claim is in vain', () => {
    const found = inVain(lender, row('b', 1000, { claimed: [BIG] }));
    expect(found).toBe('b claims p1-big-1, and a leaves over at least 3000 m of a machine');
  });

  it.each<[string, readonly SharingRow[]]>([
    ['a remainder below its largest pod', [lender, row('b', 4000, { claimed: [BIG], pod: cpu(4000) })]],
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
