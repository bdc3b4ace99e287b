import { describe, expect, it } from 'vitest';
import { CHANGES, questionOf } from './what-if-question.ts';

const ABOUT = { need: 'web/1', cluster: 'web' };
const SPOT = { capacityType: 'spot' };

describe('questions of the what-if box', () => {
  it.each([
    ['without-spot', {}, { without: [SPOT] }],
    ['without-zone', { zone: ' a ' }, { without: [{ zone: 'a' }] }],
    ['without-instanceType', { instanceType: 'm6i.*' }, { without: [{ instanceType: 'm6i.*' }] }],
    ['price', { machines: 'spot', amount: '2' }, { prices: [{ match: { name: 'spot' }, times: 2 }] }],
    ['price', { machines: 'm6i.*', amount: '$0.50' }, { prices: [{ match: { name: 'm6i.*' }, set: 0.5 }] }],
    [
      'probability',
      { machines: 'spot', chance: '3' },
      { probabilities: [{ match: { name: 'spot' }, times: 3 }] },
    ],
    [
      'probability',
      { machines: 'spot', chance: '10%' },
      { probabilities: [{ match: { name: 'spot' }, set: 0.1 }] },
    ],
    ['stock', { count: '20', type: 'm6i.large' }, { stock: [{ count: 20, instanceType: 'm6i.large' }] }],
    [
      'stock',
      { count: '2', type: 'big', stockZone: 'a' },
      { stock: [{ count: 2, instanceType: 'big', zone: 'a' }] },
    ],
    ['demand', { factor: '1.5' }, { demand: [{ need: 'web/1', times: 1.5 }] }],
    ['priority', { priority: '-7' }, { priorities: [{ need: 'web/1', set: -7 }] }],
    ['sharing', {}, { options: { sharing: 'off' } }],
    ['sharing', { sharing: 'on' }, { options: { sharing: 'on' } }],
    ['reclaimHold', { reclaimHold: '10m' }, { options: { reclaimHold: '10m' } }],
    ['maxPurchasedPerHour', { maxPurchasedPerHour: '500' }, { options: { maxPurchasedPerHour: 500 } }],
    ['maxPurchasedPerHour', { maxPurchasedPerHour: 'none' }, { options: { maxPurchasedPerHour: 'none' } }],
    ['document', { document: '{"without":[{"zone":"a"}]}' }, { without: [{ zone: 'a' }] }],
  ] as const)('given %s with %j, then the changes are %j', (name, values, changes) => {
    expect(questionOf(name, values, ABOUT)).toEqual({ changes });
  });

  it('given the page of a cluster or of the fleet, then demand is that of the cluster or of all', () => {
    expect(questionOf('demand', { factor: '2' }, { cluster: 'web' })).toEqual({
      changes: { demand: [{ cluster: 'web', times: 2 }] },
    });
    expect(questionOf('demand', { factor: '2' }, {})).toEqual({
      changes: { demand: [{ cluster: '*', times: 2 }] },
    });
  });

  it('given fields that are empty, then the reader is told', () => {
    const typed = CHANGES.filter(({ fields }) => fields.some(({ choices }) => choices === undefined));
    expect(typed.length).toBeGreaterThan(8);
    for (const { name } of typed) expect(questionOf(name, {}, {}), name).toEqual(expect.any(String));
  });

  it.each([
    ['price', { machines: 'spot', amount: 'much' }],
    ['price', { machines: 'spot', amount: '-1' }],
    ['probability', { machines: 'spot', chance: '%' }],
    ['stock', { count: 'many', type: 'big' }],
    ['priority', { priority: '1.5' }],
    ['document', { document: '[1]' }],
  ])('given %s with %j, then the reader is told', (name, values) => {
    expect(questionOf(name, values, {})).toEqual(expect.any(String));
  });

  it('given a document in YAML, then the reader is told which command reads it', () => {
    expect(questionOf('document', { document: 'without:\n  - { zone: a }' }, {})).toMatch(
      /as JSON.*bigfleet whatif -f/s,
    );
  });
});
