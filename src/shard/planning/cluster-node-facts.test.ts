// Node facts of clusters: when they are applied, and that a withdrawn drain protects a machine whatever is reported.

import { describe, expect, it } from 'vitest';
import { record, Scene } from '../../../testing/support/actuation-scene.ts';
import { MachineState } from '../../model/index.ts';
import { ClusterNodeFacts } from './cluster-node-facts.ts';

const { Configured, Idle } = MachineState;

function scene() {
  const { ledger, machineFacts, hand: clock, ...rest } = new Scene();
  const applied: [string, Record<string, string>][] = [];
  const apply = (cluster: string, facts: ReadonlyMap<string, string>): void => {
    applied.push([cluster, Object.fromEntries(facts)]);
  };
  const facts = new ClusterNodeFacts({ ledger, machineFacts, clock, apply });
  const flush = () => {
    facts.flush();
    return applied.splice(0);
  };
  return { ledger, machineFacts, clock, facts, flush, ...rest };
}

describe('node facts of a cluster', () => {
  it('given facts, then they are applied once, and again when a machine that they name is bound', () => {
    const { facts, flush, ledger } = scene();
    facts.reported('c1', new Map([['m', 'empty']]));
    expect(flush()).toEqual([['c1', { m: 'empty' }]]);
    expect(flush()).toEqual([]);
    ledger.observe(record('m', Idle), 'p', 0);
    expect(flush()).toEqual([]);
    ledger.observe(record('m', Configured), 'p', 0);
    expect(flush()).toEqual([['c1', { m: 'empty' }]]);
    facts.reported('c1', new Map());
    expect(flush()).toEqual([['c1', {}]]);
  });

  it('given a drain that was withdrawn, then the machine is protected until the time is over', () => {
    const { facts, flush, ledger, machineFacts, clock } = scene();
    ledger.observe(record('m', Configured), 'p', 0);
    facts.reported('c1', new Map([['m', 'empty']]));
    flush();
    machineFacts.note('m', { protectedUntilMs: clock.now() + 1000 });
    expect(flush()).toEqual([['c1', { m: 'protected' }]]);
    expect(facts.of('m', 'c1')).toBe('protected');
    clock.advance(1000);
    expect(flush()).toEqual([['c1', { m: 'empty' }]]);
    expect(facts.of('m', 'c1')).toBe('empty');
  });
});
