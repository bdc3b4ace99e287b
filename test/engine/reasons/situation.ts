// Building blocks of the table of reasons: machines of 4 cpu, rows that want a number of them, and the sentences that
// recur. The Need in question has priority 500 and is in cluster `asks`. Used by one-cause.ts and several-causes.ts,
// and read by reasons.test.ts.

import {
  type DecisionOptions,
  keyOf,
  type LedgerMachine,
  MachineState,
  type Need,
  type ObstacleCause,
  type UnmetReason,
} from '../../../src/model/index.ts';
import {
  aMachine,
  aNeed,
  RACK_KEY,
  resources,
  same,
  stampOf,
  strictSpread,
} from '../../../testing/support/fleets.ts';

const { Configured } = MachineState;

export interface Situation {
  readonly given: string;
  readonly machines: readonly LedgerMachine[];
  /** Rows besides the one in question. */
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
export function some(prefix: string, count: number, state: MachineState, given: Partial<LedgerMachine> = {}) {
  return Array.from({ length: count }, (_, i) => aMachine(`${prefix}${i + 1}`, state, given));
}

/** A row for machines of 4 cpu each. */
export function row(machines: number, given: Parameters<typeof aNeed>[0] = {}): Need {
  return aNeed({
    cluster: 'asks',
    priority: 500,
    aggregate: resources({ cpu: 4 * machines }),
    minUnit: new Map(),
    ...given,
  });
}

export function other(cluster: string, machines: number, given: Parameters<typeof aNeed>[0] = {}): Need {
  return row(machines, { cluster, ...given });
}

/** Machines that serve a row. */
export function serving(need: Need, prefix: string, count: number, given: Partial<LedgerMachine> = {}) {
  return some(prefix, count, Configured, { cluster: need.cluster, stamp: stampOf(need), ...given });
}

export const inRack = (rack: string): Partial<LedgerMachine> => ({ labels: new Map([[RACK_KEY, rack]]) });
export const inZone = (zone: string): Partial<LedgerMachine> => ({ zone });
export const ZONE_KEY = 'topology.kubernetes.io/zone';
export const BLOCKED: Partial<LedgerMachine> = { blocked: true };
export const FAILURE: Partial<LedgerMachine> = { lastError: 'host lost' };
export const EARLIER = { firstSeenMs: 1 };
export const LATER = { firstSeenMs: 1_000_000 };

export const better = other('best', 2, { priority: 900, ...EARLIER });
export const equal = other('first', 2, { ...EARLIER });
export const worse = other('last', 2, { priority: 100, ...LATER });
export const gang = (machines: number, given: Parameters<typeof aNeed>[0] = {}) =>
  row(machines, { requirements: [same(RACK_KEY)], group: 'g', ...LATER, ...given });
export const spread = (machines: number) => row(machines, { spread: [strictSpread(ZONE_KEY)] });
export const targeted = (need: Need): Partial<LedgerMachine> => ({ target: keyOf(need) });

export const RAISE_900 =
  'Add machines that fit it, raise its priority above 900, or let the rows that use them ask for less.';
export const ADD_ONLY = 'Add machines that fit it, or let the rows that use them ask for less.';
export const REPAIR = 'Repair or replace the failed machines: see "bigfleet get machines --state FAILED".';
export const SEE_BLOCKED = 'See which machines are blocked and why: "bigfleet get machines".';
export const OFFER_MORE = 'Offer more machines like those that fit, or ask for less.';
export const WAIT = 'Wait: some machines are tried again or come free without help.';
export const ADD_TO_DOMAIN = 'Add machines to one of its domains, or let the work be split.';
export const CLUSTER_BACK = 'Bring its operator back, or lift its freeze: see "bigfleet get clusters".';

export const BETTER = 'better-ranked rows claim the machines it could use';
export const EQUALS = 'rows of equal rank that came first claim the machines it could use';
export const ELSEWHERE =
  'the machines that fit are in use by other rows that keep them, or on their way to one';
export const TOPOLOGY =
  'all its machines must be in one domain, and no domain has enough, even with every machine in it';
