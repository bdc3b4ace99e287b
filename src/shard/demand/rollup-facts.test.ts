// Node facts of roll-ups on their way to the controller: when they are posted, and what leaves the last ones in place.

import { describe, expect, it } from 'vitest';
import { bench, wireNeed } from '../../../testing/support/sessions.ts';
import { ClusterCapacityNeeds, type NodeFacts } from '../../wire/gen/bigfleet/v1alpha1/capacity.ts';

let at = 0n;
function rollup(rows: number, facts?: Partial<NodeFacts>, clusterId = 'c1'): Uint8Array {
  const needs = Array.from({ length: rows }, (_, i) => wireNeed(i));
  const nodeFacts = facts === undefined ? undefined : { empty: [], inUse: [], protected: [], ...facts };
  return ClusterCapacityNeeds.encode({
    clusterId,
    timestampUnixNanos: ++at,
    needs,
    nodeFacts,
  }).finish();
}

async function reporting() {
  const { greet, events, settle, sessions, clock } = await bench();
  const operator = greet('c1');
  const send = async (bytes: Uint8Array): Promise<void> => {
    operator.hello('c1', ['rollup-report']);
    operator.rollup(bytes);
    await clock.advance(2000);
    await settle();
  };
  const facts = () =>
    events.flatMap((event) => (event.kind === 'node-facts' ? [Object.fromEntries(event.facts)] : []));
  const kinds = () =>
    events.map(({ kind }) => kind).filter((kind) => kind === 'demand' || kind === 'node-facts');
  return { operator, send, facts, kinds, sessions };
}

describe('node facts of a roll-up', () => {
  it('given facts, then they follow the demand; given the same again, then nothing is posted', async () => {
    const { send, facts, kinds } = await reporting();
    await send(rollup(2, { empty: ['m1'], inUse: ['m2'] }));
    await send(rollup(2, { empty: ['m1'], inUse: ['m2'] }));
    expect(kinds()).toEqual(['demand', 'node-facts']);
    expect(facts()).toEqual([{ m1: 'empty', m2: 'in-use' }]);
  });

  it('given other facts with the same rows, then only the facts are posted; without facts there are none', async () => {
    const { send, facts, kinds } = await reporting();
    await send(rollup(2, { empty: ['m1'] }));
    await send(rollup(2, { inUse: ['m1'] }));
    await send(rollup(2));
    expect(kinds()).toEqual(['demand', 'node-facts', 'node-facts', 'node-facts']);
    expect(facts()).toEqual([{ m1: 'empty' }, { m1: 'in-use' }, {}]);
  });

  it('given a quarantined or a refused roll-up, then the last facts stay', async () => {
    const { send, facts, operator } = await reporting();
    await send(rollup(20, { empty: ['m1'] }));
    await send(rollup(1, { inUse: ['m1'] }));
    await send(rollup(20, { inUse: ['m1'] }, 'c2'));
    expect(operator.got('rollupReport').map(({ outcome }) => outcome)).toEqual([1, 2, 3]);
    expect(facts()).toEqual([{ m1: 'empty' }]);
  });

  it('given more facts than a shard takes, then the demand is accepted and the report has the problem', async () => {
    const { send, kinds, facts, operator } = await reporting();
    await send(rollup(2, { empty: Array.from({ length: 100_001 }, (_, i) => `m${i}`) }));
    expect(kinds()).toEqual(['demand', 'node-facts']);
    expect(facts()).toEqual([{}]);
    const report = operator.got('rollupReport').at(-1);
    expect(report).toMatchObject({ outcome: 1, total: 1, problems: [{ needIndex: -1, path: 'node_facts' }] });
  });
});
