// What keeps the machines that a Need could use from it: one sentence with the count for each cause, most machines
// first, and what to do about it. The shard knows why a machine is blocked; `decide` knows only that it is. Used by the
// shard's answers about a Need and by `bigfleet decide`.

import type { ObstacleCause, UnmetReason, Verdict } from './decision.ts';
import { grouped, unmetAdvice } from './unmet-text.ts';

/** Why a machine is blocked, as far as it is known. */
export const BLOCKED_CAUSES = [
  'out-of-stock',
  'provider-unreachable',
  'provider-denies',
  'backing-off',
  'quarantined',
  'call-lost',
  'frozen',
  'awaiting-report',
  /** It was blocked when the last cycle decided, and is not any more. */
  'released',
] as const;
export type BlockedCause = (typeof BLOCKED_CAUSES)[number];

/** Machines that meet the requirements of a Need and one cause that keeps them from it. */
export interface Obstacle {
  readonly cause: ObstacleCause | BlockedCause;
  readonly machines: number;
  /** Rows that use the machines, most machines first; the first of `rowsTotal`. */
  readonly rows?: readonly { readonly id: string; readonly priority: number; readonly machines: number }[];
  readonly rowsTotal?: number;
  /** Where Failed machines are, most first. */
  readonly zones?: readonly { readonly zone: string; readonly machines: number }[];
  /** Of the machine that failed last; of a blocked or unused one why. */
  readonly error?: string;
  readonly provider?: string;
  /** `g-8 in zone-b`. */
  readonly offering?: string;
  readonly cluster?: string;
  /** Who froze or quarantined it. */
  readonly who?: string;
  /** When the first of the machines is tried again, or the freeze ends. */
  readonly untilMs?: number;
}

/** What advice depends on beside the obstacles. */
export interface AdvisedNeed {
  readonly priority: number;
  /** No row of the fleet has a higher priority, so raising its priority is not advised. */
  readonly isHighest: boolean;
  readonly reason: UnmetReason;
  /** Machines that it lacks, as far as it is known. */
  readonly missing?: number | undefined;
}

/** The order in which causes with the same number of machines are listed. */
const ORDER: readonly Obstacle['cause'][] = [
  'claimed-by-better',
  'claimed-by-equals',
  'failed',
  'out-of-stock',
  'provider-unreachable',
  'provider-denies',
  'frozen',
  'quarantined',
  'backing-off',
  'call-lost',
  'awaiting-report',
  'released',
  'blocked',
  'in-transit',
  'claimed-by-worse',
  'unused',
  'too-small',
];

/** Most machines first: the cause that would free the most. Machines that are too small come last, they never help. */
export function sortedObstacles(obstacles: readonly Obstacle[]): readonly Obstacle[] {
  const rank = (obstacle: Obstacle): number => (obstacle.cause === 'too-small' ? 1 : 0);
  return obstacles
    .filter(({ machines }) => machines > 0)
    .toSorted(
      (a, b) =>
        rank(a) - rank(b) || b.machines - a.machines || ORDER.indexOf(a.cause) - ORDER.indexOf(b.cause),
    );
}

/** `12 have failed: 8 in zone-a, 4 in zone-b; the last one: host lost.` */
export function obstacleText(obstacle: Obstacle): string {
  const { machines, cluster, provider, offering, who, error, untilMs } = obstacle;
  const one = machines === 1;
  const n = grouped(machines);
  const are = `${n} ${one ? 'is' : 'are'}`;
  const why = error === undefined || error === '' ? '' : `: ${error}`;
  const until = untilMs === undefined ? '' : ` until ${time(untilMs)}`;
  const by = who === undefined ? '' : ` by ${who}`;
  switch (obstacle.cause) {
    case 'claimed-by-better':
      return sentence(`${are} claimed by better-ranked rows${rowText(obstacle)}`);
    case 'claimed-by-equals':
      return sentence(`${are} claimed by rows of equal rank, which it may not preempt${rowText(obstacle)}`);
    case 'claimed-by-worse':
      return sentence(`${are} used by rows of lower rank and not preempted for it${rowText(obstacle)}`);
    case 'failed': {
      const last =
        error === undefined || error === ''
          ? ''
          : `${zoneText(obstacle) === '' ? ':' : ';'} the last one: ${error}`;
      return sentence(`${n} ${one ? 'has' : 'have'} failed${zoneText(obstacle)}${last}`);
    }
    case 'out-of-stock':
      return sentence(
        `${are} out of stock: ${provider} sells no ${offering}${until}${error ? ` (${error})` : ''}`,
      );
    case 'provider-unreachable':
      return sentence(`${are} at provider ${provider}, which does not answer`);
    case 'provider-denies':
      return sentence(`${are} at provider ${provider}, which denies changes${why}`);
    case 'backing-off':
      return sentence(`${are} in back-off after a failed action${until}${why}`);
    case 'quarantined':
      return sentence(`${are} quarantined${by}${why}`);
    case 'call-lost':
      return sentence(
        `${are} waiting for the provider to list ${one ? 'it' : 'them'} after a lost call${why}`,
      );
    case 'frozen':
      return sentence(
        `${n} ${one ? 'serves' : 'serve'} cluster ${cluster}, which is frozen${by}${until}${why}`,
      );
    case 'awaiting-report':
      return sentence(`${are} kept for a cluster that has not reported since the shard started`);
    case 'released':
      return sentence(
        `${n} ${one ? 'was' : 'were'} blocked in the last cycle and ${one ? 'is' : 'are'} free for the next one`,
      );
    case 'blocked':
      return sentence(
        `${are} blocked${why === '' ? ' by back-off, quarantine, freeze or an empty stock' : why}`,
      );
    case 'in-transit':
      return sentence(`${are} in transit for no row, and can be acquired after that`);
    case 'unused':
      return sentence(
        error === ''
          ? `${are} free and not needed`
          : `${are} free, but ${error ?? `the Need may not take ${one ? 'it' : 'them'}`}`,
      );
    case 'too-small':
      return sentence(`${n} ${one ? 'meets' : 'meet'} the requirements and cannot hold the largest pod`);
  }
}

/** What to do, most helpful first; each a sentence. */
export function adviceFor(need: AdvisedNeed, obstacles: readonly Obstacle[]): readonly string[] {
  // What is under way will meet it.
  if (need.reason === 'preempting') return [];
  const own = unmetAdvice(need.reason);
  // Machines are not what it lacks.
  if (need.reason === 'spend-limit') return [own];
  const ofObstacles = advised(sortedObstacles(obstacles), need).map((obstacle) =>
    obstacleAdvice(obstacle, need),
  );
  return [...new Set([own, ...ofObstacles])].filter((text) => text !== '').slice(0, MAX_ADVICE);
}

const CLAIMED: ReadonlySet<Obstacle['cause']> = new Set(['claimed-by-better', 'claimed-by-equals']);

/**
 * Of machines that other rows claim, those that the reason names, or where they are too few those of better-ranked rows:
 * advice for both would name two priorities to raise to.
 */
function advised(obstacles: readonly Obstacle[], { reason, missing = 0 }: AdvisedNeed): readonly Obstacle[] {
  const claimed = obstacles.filter(({ cause }) => CLAIMED.has(cause));
  const named = claimed.find(({ cause }) => cause === reason);
  const better = claimed.find(({ cause }) => cause === 'claimed-by-better');
  const isTooFew = named !== undefined && named.machines < missing;
  const chosen = (isTooFew ? better : undefined) ?? named ?? claimed[0];
  return obstacles.filter((obstacle) => !CLAIMED.has(obstacle.cause) || obstacle === chosen);
}

/** Maximum number of sentences of advice. */
const MAX_ADVICE = 4;

function obstacleAdvice(obstacle: Obstacle, { priority, isHighest, reason }: AdvisedNeed): string {
  switch (obstacle.cause) {
    case 'claimed-by-better':
    case 'claimed-by-equals': {
      const most = Math.max(priority, ...(obstacle.rows ?? []).map((row) => row.priority));
      const raise = isHighest ? '' : `, raise its priority above ${grouped(most)}`;
      return `Add machines that fit it${raise}, or let the rows that use them ask for less.`;
    }
    case 'failed':
      return 'Repair or replace the failed machines: see "bigfleet get machines --state FAILED".';
    case 'out-of-stock':
      return `Wait for ${obstacle.provider} to have stock again, or let the Need use other types and zones.`;
    case 'provider-unreachable':
      return `Bring provider ${obstacle.provider} back: see "bigfleet get providers".`;
    case 'provider-denies':
      return `Permit this shard to change machines at provider ${obstacle.provider}.`;
    case 'quarantined':
      return 'Check the quarantined machines, then release each with "bigfleet retry MACHINE".';
    case 'frozen':
      return `Lift the freeze, if its machines may be preempted: "bigfleet unfreeze cluster:${obstacle.cluster}".`;
    case 'backing-off':
    case 'call-lost':
    case 'awaiting-report':
    case 'released':
    case 'in-transit':
      return 'Wait: some machines are tried again or come free without help.';
    case 'blocked':
      return 'See which machines are blocked and why: "bigfleet get machines".';
    case 'too-small':
      return reason === 'no-fitting-supply' ? '' : 'A smaller largest pod would fit more machines.';
    case 'claimed-by-worse':
    case 'unused':
      return '';
  }
}

/** Why a Need does not take machines that are free; '' if it is met and needs no more. */
export function whyUnused({ satisfiable, unmet }: Pick<Verdict, 'satisfiable' | 'unmet'>): string {
  if (unmet === null) return '';
  if (unmet.reason === 'set-aside') return 'the size of the Need is not known';
  if (unmet.reason === 'cluster-disconnected') return 'its cluster cannot take machines now';
  if (unmet.reason === 'spend-limit') return 'the ceiling on spending is reached';
  if (unmet.reason === 'preempting') return 'the Need waits for machines that drain for it';
  if (satisfiable !== null) return 'a gang takes machines of one domain, and all it needs or none';
  return 'its spread allows no more where they are';
}

function rowText({ rows = [], rowsTotal = rows.length }: Obstacle): string {
  if (rows.length === 0) return '';
  const named = rows.map(
    ({ id, priority, machines }) => `${id} (${grouped(machines)} at priority ${grouped(priority)})`,
  );
  const rest = rowsTotal - rows.length;
  return `: ${named.join(', ')}${rest > 0 ? ` and ${grouped(rest)} more ${rest === 1 ? 'row' : 'rows'}` : ''}`;
}

function zoneText({ zones = [] }: Obstacle): string {
  const named = zones
    .filter(({ zone }) => zone !== '')
    .map(({ zone, machines }) => `${grouped(machines)} in ${zone}`);
  return named.length === 0 ? '' : `: ${named.join(', ')}`;
}

function sentence(text: string): string {
  const ended = /[.!?…]$/.test(text) ? text : `${text}.`;
  return ended.charAt(0).toUpperCase() + ended.slice(1);
}

function time(ms: number): string {
  return new Date(ms).toISOString().replace(/\.\d+Z$/, 'Z');
}
