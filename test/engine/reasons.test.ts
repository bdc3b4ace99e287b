// Why a Need is not met, situation by situation: the reason, what keeps machines from it with the counts, the sentence and the
// advice, all worked out by hand. Engine and oracle must agree on every one. The Need asked about is always `asked`.

import { describe, expect, it } from 'vitest';
import { adviceOn, obstacleSentences } from '../../src/cli/decide-obstacles.ts';
import { explain } from '../../src/engine/index.ts';
import { fleetOf } from '../../src/fleet/index.ts';
import {
  type DecisionOptions,
  keyOf,
  keyText,
  type LedgerMachine,
  MachineState,
  type Need,
  type NeedKey,
  type ObstacleCause,
  type UnmetReason,
  unmetWords,
} from '../../src/model/index.ts';
import { aMachine, aNeed, anInput, RACK_KEY, resources, same, stampOf, strictSpread } from '../fleets.ts';
import { obstacles as obstaclesOnOracle } from '../oracle/oracle.ts';
import { onBoth } from './compare.ts';

const { Configured, Configuring, Creating, Deleting, Draining, Failed, Idle, Speculative } = MachineState;

interface Situation {
  readonly given: string;
  readonly machines: readonly LedgerMachine[];
  /** Beside the one asked about. */
  readonly others?: readonly Need[];
  readonly asked: Need;
  readonly options?: Partial<DecisionOptions>;
  readonly reason: UnmetReason;
  /** Machines by what keeps them from the Need; causes without machines are left out. */
  readonly obstacles: Partial<Record<ObstacleCause, number>>;
  /** Machines it has or gets. */
  readonly own?: number;
  readonly why: string;
  /** The first piece of advice; '' if there is none. */
  readonly advice: string;
}

/** Machines of 4 cpu. */
function some(prefix: string, count: number, state: MachineState, given: Partial<LedgerMachine> = {}) {
  return Array.from({ length: count }, (_, i) => aMachine(`${prefix}${i + 1}`, state, given));
}

/** A row for machines of 4 cpu each. */
function row(machines: number, given: Parameters<typeof aNeed>[0] = {}): Need {
  return aNeed({
    cluster: 'asks',
    priority: 500,
    aggregate: resources({ cpu: 4 * machines }),
    minUnit: new Map(),
    ...given,
  });
}

function other(cluster: string, machines: number, given: Parameters<typeof aNeed>[0] = {}): Need {
  return row(machines, { cluster, ...given });
}

/** Machines that serve a row. */
function serving(need: Need, prefix: string, count: number, given: Partial<LedgerMachine> = {}) {
  return some(prefix, count, Configured, { cluster: need.cluster, stamp: stampOf(need), ...given });
}

const inRack = (rack: string): Partial<LedgerMachine> => ({ labels: new Map([[RACK_KEY, rack]]) });
const inZone = (zone: string): Partial<LedgerMachine> => ({ zone });
const ZONE_KEY = 'topology.kubernetes.io/zone';
const HELD: Partial<LedgerMachine> = { held: true };
const FAILURE: Partial<LedgerMachine> = { lastError: 'host lost' };
const EARLIER = { firstSeenMs: 1 };
const LATER = { firstSeenMs: 1_000_000 };

const better = other('best', 2, { priority: 900, ...EARLIER });
const equal = other('first', 2, { ...EARLIER });
const worse = other('last', 2, { priority: 100, ...LATER });
const gang = (machines: number, given: Parameters<typeof aNeed>[0] = {}) =>
  row(machines, { requirements: [same(RACK_KEY)], group: 'g', ...LATER, ...given });
const spread = (machines: number) => row(machines, { spread: [strictSpread(ZONE_KEY)] });
const targeted = (need: Need): Partial<LedgerMachine> => ({ target: keyOf(need) });

const RAISE_900 =
  'Add machines that fit it, raise its priority above 900, or let the rows that use them ask for less.';
const ADD_ONLY = 'Add machines that fit it, or let the rows that use them ask for less.';
const REPAIR = 'Repair or replace the failed machines: see "bigfleet get machines --state FAILED".';
const SEE_BLOCKED = 'See which machines are blocked and why: "bigfleet get machines".';
const OFFER_MORE = 'Offer more machines like those that fit, or ask for less.';
const WAIT = 'Wait: some machines are tried again or come free without help.';
const ADD_TO_DOMAIN = 'Add machines to one of its domains, or let the work be split.';
const CLUSTER_BACK = 'Bring its operator back, or lift its freeze: see "bigfleet get clusters".';

const BETTER = 'better-ranked rows claim the machines it could use';
const EQUALS = 'rows of equal rank that came first claim the machines it could use';
const ELSEWHERE = 'the machines that fit are in use by other rows that keep them, or on their way to one';
const TOPOLOGY =
  'all its machines must be in one domain, and no domain has enough, even with every machine in it';

const SITUATIONS: readonly Situation[] = [
  // One cause.
  {
    given: 'an empty catalogue',
    machines: [],
    asked: row(1),
    reason: 'no-matching-supply',
    obstacles: {},
    why: 'no machine in the catalogue meets its requirements',
    advice: 'Check its requirements for a misspelt label, zone or type, or offer machines that meet them.',
  },
  {
    given: 'machines in other zones only',
    machines: some('m', 3, Idle, inZone('a')),
    asked: row(1, { requirements: [{ key: ZONE_KEY, operator: 1, values: ['b'] }] }),
    reason: 'no-matching-supply',
    obstacles: {},
    why: 'no machine in the catalogue meets its requirements',
    advice: 'Check its requirements for a misspelt label, zone or type, or offer machines that meet them.',
  },
  {
    given: 'machines that are too small for its largest pod',
    machines: some('m', 3, Idle),
    asked: row(2, { minUnit: resources({ cpu: 8 }) }),
    reason: 'no-fitting-supply',
    obstacles: { 'too-small': 3 },
    why: 'no machine that matches holds its largest pod',
    advice: 'Offer a larger machine, or make the pod smaller.',
  },
  {
    given: 'too few machines in all',
    machines: some('m', 2, Idle),
    asked: row(3),
    reason: 'insufficient-supply',
    obstacles: {},
    own: 2,
    why: 'the 2 machines that fit are too few for it, even if all were free',
    advice: OFFER_MORE,
  },
  {
    given: 'one machine in all',
    machines: some('m', 1, Idle),
    asked: row(3),
    reason: 'insufficient-supply',
    obstacles: {},
    own: 1,
    why: 'the one machine that fits is too few for it, even if all were free',
    advice: OFFER_MORE,
  },
  {
    given: 'idle machines that a better-ranked row takes',
    machines: some('m', 2, Idle),
    others: [better],
    asked: row(2),
    reason: 'priority-starved',
    obstacles: { 'claimed-by-better': 2 },
    why: BETTER,
    advice: RAISE_900,
  },
  {
    given: 'offers that a better-ranked row buys',
    machines: some('m', 2, Speculative),
    others: [better],
    asked: row(1),
    reason: 'priority-starved',
    obstacles: { 'claimed-by-better': 2 },
    why: BETTER,
    advice: RAISE_900,
  },
  {
    given: 'machines that a better-ranked row of its own cluster has',
    machines: serving(other('asks', 2, { priority: 900, group: 'b', ...EARLIER }), 'm', 2),
    others: [other('asks', 2, { priority: 900, group: 'b', ...EARLIER })],
    asked: row(2),
    reason: 'priority-starved',
    obstacles: { 'claimed-by-better': 2 },
    why: BETTER,
    advice: RAISE_900,
  },
  {
    given: 'a row of the same priority and higher penalties',
    machines: some('m', 2, Idle),
    others: [other('best', 2, { interruptionBucket: 3, ...EARLIER })],
    asked: row(2),
    reason: 'priority-starved',
    obstacles: { 'claimed-by-better': 2 },
    why: BETTER,
    advice: ADD_ONLY,
  },
  {
    given: 'machines that a row of the same rank takes first',
    machines: some('m', 2, Idle),
    others: [equal],
    asked: row(2, LATER),
    reason: 'claimed-by-equals',
    obstacles: { 'claimed-by-equals': 2 },
    why: EQUALS,
    advice: ADD_ONLY,
  },
  {
    given: 'machines that a row of the same rank takes first, and a better row elsewhere',
    machines: [...some('m', 2, Idle), aMachine('n', Idle, { resources: resources({ gpu: 1 }) })],
    others: [equal, other('top', 0, { priority: 900, aggregate: resources({ gpu: 1 }) })],
    asked: row(2, LATER),
    reason: 'claimed-by-equals',
    obstacles: { 'claimed-by-equals': 2, 'claimed-by-better': 1 },
    why: EQUALS,
    advice:
      'Add machines that fit it, raise its priority above 500, or let the rows that use them ask for less.',
  },
  {
    given: 'machines that serve a better-ranked row in another cluster',
    machines: serving(better, 'm', 2),
    others: [better],
    asked: row(2),
    reason: 'claimed-elsewhere',
    obstacles: { 'claimed-by-better': 2 },
    why: ELSEWHERE,
    advice: RAISE_900,
  },
  {
    given: 'machines that serve an equal row in another cluster',
    machines: serving(equal, 'm', 2),
    others: [equal],
    asked: row(2, LATER),
    reason: 'claimed-elsewhere',
    obstacles: { 'claimed-by-equals': 2 },
    why: ELSEWHERE,
    advice: ADD_ONLY,
  },
  {
    given: 'the highest priority of the fleet, and every machine Failed',
    machines: some('m', 3, Failed, FAILURE),
    others: [worse],
    asked: row(2),
    reason: 'supply-failed',
    obstacles: { failed: 3 },
    why: 'all 3 machines that fit have failed',
    advice: REPAIR,
  },
  {
    given: 'the one machine that fits, Failed',
    machines: some('m', 1, Failed, FAILURE),
    asked: row(1),
    reason: 'supply-failed',
    obstacles: { failed: 1 },
    why: 'the one machine that fits has failed',
    advice: REPAIR,
  },
  {
    given: 'the highest priority of the fleet, and every machine held',
    machines: [...some('i', 2, Idle, HELD), ...some('s', 1, Speculative, HELD)],
    others: [worse],
    asked: row(2),
    reason: 'supply-blocked',
    obstacles: { blocked: 3 },
    why: 'all 3 machines that fit cannot be acquired now',
    advice: SEE_BLOCKED,
  },
  {
    given: 'machines that are being returned',
    machines: some('m', 2, Deleting),
    asked: row(2),
    reason: 'supply-blocked',
    obstacles: { 'in-transit': 2 },
    why: 'all 2 machines that fit cannot be acquired now',
    advice: WAIT,
  },
  {
    given: 'machines of lower-priority work that a freeze protects',
    machines: serving(worse, 'm', 2, HELD),
    others: [worse],
    asked: row(2),
    reason: 'supply-blocked',
    obstacles: { blocked: 2 },
    why: 'all 2 machines that fit cannot be acquired now',
    advice: SEE_BLOCKED,
  },
  {
    given: 'a cluster that cannot bind, and free machines',
    machines: some('m', 2, Idle),
    asked: row(2),
    options: { cannotBind: new Set(['asks']) },
    reason: 'cluster-disconnected',
    obstacles: { unused: 2 },
    why: 'its cluster cannot take machines now; it keeps what it has',
    advice: CLUSTER_BACK,
  },
  {
    given: 'lower-priority machines that are picked for it',
    machines: serving(worse, 'm', 2),
    others: [worse],
    asked: row(2),
    reason: 'preempting',
    obstacles: {},
    own: 2,
    why: 'lower-priority work is being drained from machines for it',
    advice: '',
  },
  {
    given: 'machines that drain for it',
    machines: some('m', 2, Draining, { cluster: 'last', ...targeted(row(2)) }),
    asked: row(2),
    reason: 'preempting',
    obstacles: {},
    own: 2,
    why: 'lower-priority work is being drained from machines for it',
    advice: '',
  },
  {
    given: 'fewer lower-priority machines than it wants',
    machines: serving(worse, 'm', 2),
    others: [worse],
    asked: row(3),
    reason: 'preemption-exhausted',
    obstacles: {},
    own: 2,
    why: 'lower-priority work is drained for it, but all of that is not enough',
    advice: 'Add capacity; no lower-priority work is left to preempt.',
  },
  {
    given: 'machines that join another cluster',
    machines: some('m', 2, Configuring, { cluster: 'last', stamp: stampOf(worse), ...targeted(worse) }),
    others: [worse],
    asked: row(2),
    reason: 'claimed-elsewhere',
    obstacles: { 'claimed-by-worse': 2 },
    why: ELSEWHERE,
    advice: '',
  },
  {
    given: 'machines that are created for another row',
    machines: some('m', 2, Creating, targeted(worse)),
    others: [worse],
    asked: row(2),
    reason: 'claimed-elsewhere',
    obstacles: { 'claimed-by-worse': 2 },
    why: ELSEWHERE,
    advice: '',
  },
  {
    given: 'machines that drain for a better-ranked row',
    machines: some('m', 2, Draining, { cluster: 'last', ...targeted(better) }),
    others: [better],
    asked: row(2),
    reason: 'claimed-elsewhere',
    obstacles: { 'claimed-by-better': 2 },
    why: ELSEWHERE,
    advice: RAISE_900,
  },
  {
    given: 'machines that drain for no row',
    machines: some('m', 2, Draining, { cluster: 'last' }),
    asked: row(2),
    reason: 'claimed-elsewhere',
    obstacles: { 'in-transit': 2 },
    why: ELSEWHERE,
    advice: WAIT,
  },
  {
    given: 'its own machines on their way, and one too few',
    machines: [...some('m', 2, Creating, targeted(row(3))), ...some('f', 1, Failed, FAILURE)],
    asked: row(3),
    reason: 'supply-failed',
    obstacles: { failed: 1 },
    own: 2,
    why: '1 of the 3 machines that fit has failed',
    advice: REPAIR,
  },
  {
    given: 'a size that is not known',
    machines: some('m', 1, Idle),
    asked: { ...row(2), setAside: true },
    reason: 'set-aside',
    obstacles: { unused: 1 },
    why: 'its size is beyond what the shard can count; it keeps the machines it has',
    advice:
      'Ask for less in one Need, or split it into groups; a shard counts 16 resource names, and up to 2^53 - 1 of each.',
  },

  // Two causes: the larger group is the reason.
  {
    given: 'more failed machines than claimed ones',
    machines: [...some('m', 2, Idle), ...some('f', 3, Failed, FAILURE)],
    others: [better],
    asked: row(2),
    reason: 'supply-failed',
    obstacles: { failed: 3, 'claimed-by-better': 2 },
    why: '3 of the 5 machines that fit have failed',
    advice: REPAIR,
  },
  {
    given: 'as many claimed machines as failed ones',
    machines: [...some('m', 2, Idle), ...some('f', 2, Failed, FAILURE)],
    others: [better],
    asked: row(2),
    reason: 'priority-starved',
    obstacles: { 'claimed-by-better': 2, failed: 2 },
    why: BETTER,
    advice: RAISE_900,
  },
  {
    given: 'claimed machines that would not be enough, and one failed machine that would do the rest',
    machines: [...some('m', 2, Idle), ...some('f', 1, Failed, FAILURE)],
    others: [better],
    asked: row(3),
    reason: 'supply-failed',
    obstacles: { 'claimed-by-better': 2, failed: 1 },
    why: '1 of the 3 machines that fit has failed',
    advice: RAISE_900,
  },
  {
    given: 'more held machines than failed ones',
    machines: [...some('h', 3, Speculative, HELD), ...some('f', 2, Failed, FAILURE)],
    asked: row(2),
    reason: 'supply-blocked',
    obstacles: { blocked: 3, failed: 2 },
    why: '3 of the 5 machines that fit cannot be acquired now',
    advice: SEE_BLOCKED,
  },
  {
    given: 'held machines and machines that are being returned',
    machines: [
      ...some('h', 1, Speculative, HELD),
      ...some('d', 2, Deleting),
      ...some('f', 2, Failed, FAILURE),
    ],
    asked: row(4),
    reason: 'supply-blocked',
    obstacles: { blocked: 1, 'in-transit': 2, failed: 2 },
    why: '3 of the 5 machines that fit cannot be acquired now',
    advice: REPAIR,
  },
  {
    given: 'failed machines and a cluster that cannot bind',
    machines: some('f', 2, Failed, FAILURE),
    asked: row(1),
    options: { cannotBind: new Set(['asks']) },
    reason: 'cluster-disconnected',
    obstacles: { failed: 2 },
    why: 'its cluster cannot take machines now; it keeps what it has',
    advice: CLUSTER_BACK,
  },
  {
    given: 'failed machines and small ones',
    machines: [
      ...some('f', 2, Failed, { ...FAILURE, resources: resources({ cpu: 8 }) }),
      ...some('s', 3, Idle),
    ],
    asked: row(2, { minUnit: resources({ cpu: 8 }) }),
    reason: 'supply-failed',
    obstacles: { failed: 2, 'too-small': 3 },
    why: 'all 2 machines that fit have failed',
    advice: REPAIR,
  },
  {
    given: 'better-ranked and equal rows side by side',
    machines: [...some('m', 4, Idle)],
    others: [better, equal],
    asked: row(4, LATER),
    reason: 'claimed-by-equals',
    obstacles: { 'claimed-by-better': 2, 'claimed-by-equals': 2 },
    why: EQUALS,
    advice: RAISE_900,
  },

  // Gangs.
  {
    given: 'a gang that no rack could hold',
    machines: [...some('a', 2, Idle, inRack('a')), ...some('b', 2, Idle, inRack('b'))],
    asked: gang(3),
    reason: 'topology-unsatisfiable',
    obstacles: { unused: 4 },
    why: TOPOLOGY,
    advice: ADD_TO_DOMAIN,
  },
  {
    given: 'a gang, and machines without the key',
    machines: some('m', 3, Idle),
    asked: gang(2),
    reason: 'topology-unsatisfiable',
    obstacles: {},
    why: TOPOLOGY,
    advice: ADD_TO_DOMAIN,
  },
  {
    given: 'a gang whose only rack has a failed machine',
    machines: [...some('a', 2, Idle, inRack('a')), aMachine('a3', Failed, { ...FAILURE, ...inRack('a') })],
    asked: gang(3),
    reason: 'supply-failed',
    obstacles: { unused: 2, failed: 1 },
    why: '1 of the 3 machines that fit has failed',
    advice: REPAIR,
  },
  {
    given: 'a gang whose only rack has a held machine',
    machines: [...some('a', 2, Idle, inRack('a')), aMachine('a3', Idle, { ...HELD, ...inRack('a') })],
    asked: gang(3),
    reason: 'supply-blocked',
    obstacles: { unused: 2, blocked: 1 },
    why: '1 of the 3 machines that fit cannot be acquired now',
    advice: SEE_BLOCKED,
  },
  {
    given: 'a gang, and a better-ranked row that takes a machine of the only rack',
    machines: some('a', 3, Idle, inRack('a')),
    others: [other('best', 1, { priority: 900, ...EARLIER })],
    asked: gang(3),
    reason: 'priority-starved',
    obstacles: { 'claimed-by-better': 1, unused: 2 },
    why: BETTER,
    advice: RAISE_900,
  },
  {
    given: 'a gang that lost part of its rack, and no rack is whole',
    machines: [
      ...some('a', 1, Configured, { cluster: 'asks', stamp: stampOf(gang(2)), ...inRack('a') }),
      aMachine('a2', Failed, { ...FAILURE, ...inRack('a') }),
      ...some('b', 1, Idle, inRack('b')),
    ],
    asked: gang(2),
    reason: 'supply-failed',
    obstacles: { failed: 1, unused: 1 },
    own: 1,
    why: '1 of the 3 machines that fit has failed',
    advice: REPAIR,
  },

  // Spread.
  {
    given: 'a spread, and free machines only in the domain that has enough',
    machines: [...some('a', 4, Idle, inZone('a')), ...some('b', 1, Idle, inZone('b'))],
    asked: spread(4),
    reason: 'spread-unsatisfiable',
    obstacles: { unused: 2 },
    own: 3,
    why: 'free machines fit, but all of them are in domains where its spread allows no more',
    advice: 'Add machines in the other domains, or loosen the spread (maxSkew).',
  },
  {
    given: 'a spread, and too few machines in all',
    machines: [...some('a', 1, Idle, inZone('a')), ...some('b', 1, Idle, inZone('b'))],
    asked: spread(3),
    reason: 'insufficient-supply',
    obstacles: {},
    own: 2,
    why: 'the 2 machines that fit are too few for it, even if all were free',
    advice: OFFER_MORE,
  },
  {
    given: 'a spread, and a better-ranked row that takes everything',
    machines: [...some('a', 1, Idle, inZone('a')), ...some('b', 1, Idle, inZone('b'))],
    others: [better],
    asked: spread(2),
    reason: 'priority-starved',
    obstacles: { 'claimed-by-better': 2 },
    why: BETTER,
    advice: RAISE_900,
  },

  // Folds.
  {
    given: 'a small gang that its fold has no room for',
    machines: some('m', 1, Idle, { ...inRack('a'), resources: resources({ cpu: 4 }) }),
    others: [gang(1, { group: 'earlier', ...EARLIER })],
    asked: gang(1),
    reason: 'claimed-by-equals',
    obstacles: { 'claimed-by-equals': 1 },
    why: EQUALS,
    advice: ADD_ONLY,
  },
  {
    given: 'a small gang, and a failed machine that would host it',
    machines: [aMachine('m1', Idle, inRack('a')), ...some('f', 2, Failed, { ...FAILURE, ...inRack('a') })],
    others: [gang(1, { group: 'earlier', ...EARLIER })],
    asked: gang(1),
    reason: 'supply-failed',
    obstacles: { failed: 2, 'claimed-by-equals': 1 },
    why: '2 of the 3 machines that fit have failed',
    advice: REPAIR,
  },
];

describe('why a Need is not met', () => {
  it('has at least forty situations', () => {
    expect(SITUATIONS.length).toBeGreaterThanOrEqual(40);
  });

  it.each(SITUATIONS)('given $given, then $reason', (situation) => {
    const { machines, others = [], asked, options = {} } = situation;
    const given = anInput(machines, [...others, asked]);
    const input = { ...given, options: { ...given.options, ...options } };
    const plan = onBoth(input);
    const verdict = plan.verdicts.find(({ key }) => keyText(key) === keyText(keyOf(asked)))!;
    const explanation = explain(fleetOf(input), input.nowMs, input.options, keyOf(asked))!;
    const nameOf = ({ cluster }: NeedKey): string => cluster;
    const counted = Object.entries(explanation.obstacles.machines).filter(([, count]) => count > 0);
    const [advice = ''] = adviceOn(verdict, explanation, plan.verdicts[0]!.priority, nameOf);

    expect({
      reason: verdict.unmet?.reason,
      obstacles: Object.fromEntries(counted),
      own: explanation.obstacles.own,
      why: unmetWords(verdict.unmet!.reason, verdict.unmet!.fitting),
      advice,
    }).toEqual({
      reason: situation.reason,
      obstacles: situation.obstacles,
      own: situation.own ?? 0,
      why: situation.why,
      advice: situation.advice,
    });
    expect(explanation.obstacles).toEqual(obstaclesOnOracle(input).get(keyText(keyOf(asked))));
    const listed = obstacleSentences(verdict, explanation, nameOf);
    expect(listed).toHaveLength(counted.length);
    expect(listed.join()).not.toMatch(/undefined|null|NaN/);
  });

  it('given several causes, then the list begins with the one that would free the most, with names', () => {
    const asked = row(2);
    const machines = [...some('m', 2, Idle), ...some('f', 3, Failed, FAILURE), ...some('h', 1, Idle, HELD)];
    const input = anInput(machines, [better, asked]);
    const explanation = explain(fleetOf(input), input.nowMs, input.options, keyOf(asked))!;
    const [, verdict] = onBoth(input).verdicts;
    expect(obstacleSentences(verdict!, explanation, ({ cluster }) => cluster)).toEqual([
      '3 have failed.',
      '2 are claimed by better-ranked rows: best (2 at priority 900).',
      '1 is blocked by back-off, quarantine, freeze or an empty stock.',
    ]);
  });
});
