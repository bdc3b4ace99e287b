import { describe, expect, it } from 'vitest';
import { CapacityType } from '../model/index.ts';
import { parseCatalogueFile, parseOfferingsFile } from './offerings-file.ts';

const SMALL = `
offerings:
  - name: small-spot
    instanceType: m7.large
    capacityType: spot
    pricePerHour: 0.04
    interruptionProbability: 0.05
    resources: { cpu: 2, memory: 8Gi }
    zones: [zone-a, zone-b]
    labels: { team: blue }
    weight: 3
  - instanceType: bm1
    capacityType: BARE_METAL
`;

describe('a file of offerings', () => {
  it('given offerings, then fields that are absent have their defaults', () => {
    expect(parseOfferingsFile(SMALL)).toEqual({
      ok: true,
      value: [
        {
          name: 'small-spot',
          instanceType: 'm7.large',
          capacityType: CapacityType.Spot,
          pricePerHour: 0.04,
          interruptionProbability: 0.05,
          resources: new Map([
            ['cpu', 2000],
            ['memory', 8 * 2 ** 30],
          ]),
          allocatable: new Map(),
          zones: ['zone-a', 'zone-b'],
          racksPerZone: 8,
          labels: new Map([['team', 'blue']]),
          weight: 3,
          isOwned: false,
        },
        expect.objectContaining({ name: 'bm1', zones: ['zone-a'], isOwned: true, weight: 1 }),
      ],
    });
  });

  it('given several mistakes, then all are reported with their paths', () => {
    const text = `
offerings:
  - { name: a, capacityType: spot, zones: [], weight: 0 }
  - { name: a, instanceType: x, capacityType: golden, resources: { cpu: many }, zone: z }
`;
    const parsed = parseOfferingsFile(text);
    const paths = parsed.ok ? [] : parsed.problems.map(({ path }) => path);
    expect(paths).toEqual(
      expect.arrayContaining([
        'offerings[0].instanceType',
        'offerings[0].interruptionProbability',
        'offerings[0].zones',
        'offerings[0].weight',
        'offerings[1].capacityType',
        'offerings[1].resources.cpu',
        'offerings[1].zone',
        'offerings[1].name',
      ]),
    );
    expect(paths).toHaveLength(8);
  });

  it.each(['offerings: []', '{}', '[', 'offerings: 3'])('given %j, then it is refused', (text) => {
    expect(parseOfferingsFile(text)).toMatchObject({ ok: false });
  });
});

describe('catalogue file', () => {
  const offerings = 'offerings: [{ instanceType: x }]\n';

  it.each([
    ['no source', '', true],
    ['a source without its date', 'source: npm package prices 1.0.0\n', true],
    ['source and date', 'source: npm package prices 1.0.0\ndate: 2026-01-31\n', false],
    [
      'source and date, marked as invented',
      'source: npm package prices 1.0.0\ndate: 2026-01-31\ninvented: true\n',
      true,
    ],
  ])('given %s, then its prices are invented or not', (_, head, isInvented) => {
    expect(parseCatalogueFile(head + offerings)).toMatchObject({ ok: true, value: { isInvented } });
  });

  it('given a date that is no text, then it is refused with its path', () => {
    expect(parseCatalogueFile(`date: 2026\n${offerings}`)).toMatchObject({
      ok: false,
      problems: [{ path: 'date' }],
    });
  });
});
