import { describe, expect, it } from 'vitest';
import type { Effect } from '../events.ts';
import { carryOut, type EffectTargets } from './effects.ts';

/** Receivers that record the effects passed to them. */
function callsFor(effect: Effect): readonly string[] {
  const said: string[] = [];
  const note =
    (name: string) =>
    (...args: readonly unknown[]): void => {
      said.push(args.length > 1 ? `${name} ${String(args[0])}` : name);
    };
  const sessions = {
    askBootstrap: note('askBootstrap'),
    withdrawBootstrap: note('withdrawBootstrap'),
    instructReclaim: note('instructReclaim'),
    withdrawReclaim: note('withdrawReclaim'),
    sendNodeState: note('sendNodeState'),
    sendAvailableCapacity: note('sendAvailableCapacity'),
    repostDemand: note('repostDemand'),
  };
  const targets = { sessions, providers: { carryOut: note('provider') }, onStop: note('stop') };
  carryOut(effect, targets as unknown as EffectTargets);
  return said;
}

describe('an effect', () => {
  it.each([
    [{ kind: 'ask-bootstrap' }, ['askBootstrap']],
    [{ kind: 'withdraw-bootstrap' }, ['withdrawBootstrap']],
    [{ kind: 'instruct-reclaim' }, ['instructReclaim']],
    [{ kind: 'withdraw-reclaim' }, ['withdrawReclaim']],
    [{ kind: 'node-state', cluster: 'c1' }, ['sendNodeState c1']],
    [
      { kind: 'available-capacity', cluster: 'c1', updates: [1, 2] },
      ['sendAvailableCapacity c1', 'sendAvailableCapacity c1'],
    ],
    [{ kind: 'ask-demand', cluster: 'c1' }, ['repostDemand']],
    [{ kind: 'call' }, ['provider']],
    [{ kind: 'list' }, ['provider']],
    [{ kind: 'stop' }, ['stop']],
  ])('%j reaches %j', (effect, expected) => {
    expect(callsFor(effect as unknown as Effect)).toEqual(expected);
  });
});
