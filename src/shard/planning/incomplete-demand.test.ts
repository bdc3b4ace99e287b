import { describe, expect, it } from 'vitest';
import { IncompleteDemand } from './incomplete-demand.ts';

const keeps = (demand: IncompleteDemand, cluster: string): boolean =>
  demand.list().some((each) => each.cluster === cluster && !each.isLifted);

describe('incomplete demand', () => {
  it('given rows set aside by the reader or the ledger, then the machines of the cluster are kept until none is', () => {
    const demand = new IncompleteDemand();
    demand.reported('a', 2);
    demand.inLedger('a', 1, 'odd');
    expect(demand.list()).toEqual([{ cluster: 'a', rows: 3, isLifted: false, resource: 'odd' }]);
    demand.reported('a', 0);
    expect(keeps(demand, 'a')).toBe(true);
    demand.inLedger('a', 0, '');
    expect([keeps(demand, 'a'), demand.list()]).toEqual([false, []]);
  });

  it('given a lift, then it lasts while the rows stay or become fewer, and ends when there are more', () => {
    const demand = new IncompleteDemand();
    expect(demand.lift('a')).toBe(false);
    demand.reported('a', 2);
    expect([demand.lift('a'), keeps(demand, 'a')]).toEqual([true, false]);
    for (const rows of [2, 1]) demand.reported('a', rows);
    expect(keeps(demand, 'a')).toBe(false);
    demand.reported('a', 2);
    expect(keeps(demand, 'a')).toBe(true);
  });

  it('given a complete roll-up in between, then a lift ends', () => {
    const demand = new IncompleteDemand();
    demand.reported('a', 2);
    demand.lift('a');
    demand.reported('a', 0);
    demand.reported('a', 1);
    expect(keeps(demand, 'a')).toBe(true);
  });
});
