import { describe, expect, it } from 'vitest';
import type { Hardware } from './feed.ts';
import { supplyGroups } from './supply-text.ts';

const GENERAL: Hardware = {
  ...{ kind: 'general', needs: 81, unmetNeeds: 65 },
  resources: {
    memory: { wanted: 0, served: 0, coming: 0, unmet: 0, offered: 1024, used: 0 },
    cpu: { wanted: 4204, served: 3812, coming: 312, unmet: 80, offered: 4888, used: 4204 },
  },
};
const WITH_GPU: Hardware = {
  ...{ kind: 'accelerated', needs: 12, unmetNeeds: 0 },
  resources: {
    cpu: { wanted: 100, served: 100, coming: 0, unmet: 0, offered: 5406, used: 100 },
    'nvidia.com/gpu': { wanted: 40, served: 40, coming: 0, unmet: 0, offered: 48, used: 40 },
  },
};

describe('texts on supply', () => {
  it('given two kinds of hardware, then each has its Needs, its used share and its resources', () => {
    const [general, gpu] = supplyGroups({ hardware: [GENERAL, WITH_GPU] });
    expect(general).toMatchObject({
      ...{ title: 'General', needText: '65 of 81 Needs unmet', isShort: true, usedText: '86 % used' },
      spareText: '86 % of 4,888 cores used, 684 cores spare',
    });
    expect(general!.rows.map(({ name, longText }) => [name, longText])).toEqual([
      ['cpu', '3,812 of 4,204 cores served, 312 coming, 80 unmet'],
      ['memory', '0 of 0 B served'],
    ]);
    expect(gpu).toMatchObject({
      ...{ title: 'With gpu', needText: '12 Needs met', isShort: false },
      spareText: '83 % of 48 gpu used, 8 gpu spare',
    });
  });

  it('given a plan that is held back, then no Need of it counts as met or served, and its kind is short', () => {
    const coming = { wanted: 16, served: 4, coming: 12, unmet: 0, offered: 8, used: 4 };
    const hardware = [{ ...GENERAL, unmetNeeds: 0, resources: { cpu: coming } }, WITH_GPU];
    const cycleWith = (needs: number) => {
      const frozen = { why: 'frozen', total: 3, needs, kinds: { Provision: 3 } };
      const heldBack = [{ ...frozen, buysPerHour: 1, releasesPerHour: 0 }];
      return { number: 1, durationMs: 1, unmet: 0, admitted: {}, heldBack };
    };
    const [general, gpu] = supplyGroups({ hardware, cycle: cycleWith(2) });
    expect(general).toMatchObject({ needText: '81 Needs met by plan', isShort: true });
    expect(general!.rows[0]!.longText).toBe('4 of 16 cores served, 12 coming or held back');
    expect(gpu).toMatchObject({ needText: '12 Needs met', isShort: false });
    const [carriedOut] = supplyGroups({ hardware, cycle: cycleWith(0) });
    expect(carriedOut).toMatchObject({ needText: '81 Needs met', isShort: false });
  });

  it('given amounts that do not round well, then the parts shown add up to what is shown as wanted', () => {
    const GiB = 2 ** 30;
    const resources = {
      cpu: { wanted: 1173.4, served: 1095.6, coming: 0, unmet: 77.8, offered: 1200, used: 1 },
      memory: {
        wanted: 4535.4 * GiB,
        served: 4506.7 * GiB,
        coming: 0,
        unmet: 28.7 * GiB,
        offered: 1,
        used: 1,
      },
      'nvidia.com/gpu': { wanted: 300, served: 299.7, coming: 0, unmet: 0.3, offered: 300, used: 1 },
    };
    const [group] = supplyGroups({ hardware: [{ ...GENERAL, resources }] });
    expect(group!.rows.map(({ longText }) => longText)).toEqual([
      '1,095 of 1,173 cores served, 78 unmet',
      '4,506 of 4,535 GiB served, 29 unmet',
      '300 of 300 served, <1 unmet',
    ]);
  });

  it('given more served than wanted, then the bar is full', () => {
    const [gpu] = supplyGroups({ hardware: [WITH_GPU] });
    for (const { served, coming, unmet } of gpu!.rows) expect([served, coming, unmet]).toEqual([1, 0, 0]);
  });

  it('given nearly all capacity used, then the share is below 100 %', () => {
    const cpu = { wanted: 999.9, served: 999.9, coming: 0, unmet: 0, offered: 1000, used: 999.9 };
    expect(supplyGroups({ hardware: [{ ...GENERAL, resources: { cpu } }] })[0]!.usedText).toBe('99 % used');
  });

  it('given a kind that no Need wants and no machine has, then it is left out', () => {
    const none = { kind: 'accelerated', needs: 0, unmetNeeds: 0, resources: {} };
    expect(supplyGroups({ hardware: [GENERAL, none] })).toHaveLength(1);
  });

  it('given a Kubernetes resource with a slash, then it is not an accelerator', () => {
    const odd = { wanted: 1, served: 1, coming: 0, unmet: 0, offered: 1, used: 1 };
    const resources = { 'kubernetes.io/batch-cpu': odd, ...GENERAL.resources };
    expect(supplyGroups({ hardware: [{ ...GENERAL, resources }] })[0]!.spareText).toContain('4,888 cores');
  });
});
