// The texts for reasons why a Need is not met: one sentence each, with the figures of the verdict. Every surface shows these
// (the shard sends them with its answers, so that the web page needs no table of its own).

import type { FittingSupply, UnmetReason } from './decision.ts';

/** What to do where the reason alone says it; obstacles have advice of their own (obstacle-text.ts). */
interface ReasonWords {
  /** A sentence without its full stop, so that it can end a line after a colon. `fitting` is null where it is not known. */
  readonly why: (fitting: FittingSupply | null) => string;
  /** '' where the machines in the way say it better, or where waiting is all there is to do. */
  readonly advice: string;
}

const REASONS: Readonly<Record<UnmetReason, ReasonWords>> = {
  'set-aside': {
    why: () => 'its size is beyond what the shard can count; it keeps the machines it has',
    advice:
      'Ask for less in one Need, or split it into groups; a shard counts 16 resource names, and up to 2^53 - 1 of each.',
  },
  preempting: {
    why: () => 'lower-priority work is being drained from machines for it',
    advice: '',
  },
  'topology-unsatisfiable': {
    why: () =>
      'all its machines must be in one domain, and no domain has enough, even with every machine in it',
    advice: 'Add machines to one of its domains, or let the work be split.',
  },
  'no-matching-supply': {
    why: () => 'no machine in the catalogue meets its requirements',
    advice: 'Check its requirements for a misspelt label, zone or type, or offer machines that meet them.',
  },
  'no-fitting-supply': {
    why: () => 'no machine that matches holds its largest pod',
    advice: 'Offer a larger machine, or make the pod smaller.',
  },
  'cluster-disconnected': {
    why: () => 'its cluster cannot take machines now; it keeps what it has',
    advice: 'Bring its operator back, or lift its freeze: see "bigfleet get clusters".',
  },
  'spend-limit': {
    why: () => 'machines could be bought for it, and the ceiling on spending is reached',
    advice: 'Raise guardrails.maxPurchasedPerHour, or that of its cluster, or let work of a better rank end.',
  },
  'preemption-exhausted': {
    why: () => 'lower-priority work is drained for it, but all of that is not enough',
    advice: 'Add capacity; no lower-priority work is left to preempt.',
  },
  'spread-unsatisfiable': {
    why: () => 'free machines fit, but all of them are in domains where its spread allows no more',
    advice: 'Add machines in the other domains, or loosen the spread (maxSkew).',
  },
  'insufficient-supply': {
    why: (fitting) =>
      fitting === null
        ? 'the machines that fit are too few for it, even if all were free'
        : `${countedFit(fitting.total)} too few for it, even if all were free`,
    advice: 'Offer more machines like those that fit, or ask for less.',
  },
  'priority-starved': {
    why: () => 'better-ranked rows claim the machines it could use',
    advice: '',
  },
  'claimed-by-equals': {
    why: () => 'rows of equal rank that came first claim the machines it could use',
    advice: '',
  },
  'claimed-elsewhere': {
    why: () => 'the machines that fit are in use by other rows that keep them, or on their way to one',
    advice: '',
  },
  'supply-failed': {
    why: (fitting) =>
      fitting === null
        ? 'machines that fit have failed'
        : `${ofThoseThatFit(fitting.failed, fitting)} ${fitting.failed === 1 ? 'has' : 'have'} failed`,
    advice: '',
  },
  'supply-blocked': {
    why: (fitting) =>
      fitting === null
        ? 'machines that fit cannot be acquired now'
        : `${ofThoseThatFit(fitting.blocked + fitting.deleting, fitting)} cannot be acquired now`,
    advice: '',
  },
};

/** `4 of the 9 machines that fit have failed`: why a Need is not met, without a full stop. */
export function unmetText(reason: UnmetReason, fitting: FittingSupply | null = null): string {
  // A journal of a newer version may have a reason that this one does not know.
  return REASONS[reason]?.why(fitting) ?? reason;
}

/** What to do about a reason; '' where only the machines in the way tell. */
export function unmetAdvice(reason: UnmetReason): string {
  return REASONS[reason]?.advice ?? '';
}

/** All reasons why a Need may be unmet. */
export const UNMET_REASONS = Object.keys(REASONS) as readonly UnmetReason[];

function countedFit(total: number): string {
  return total === 1 ? 'the one machine that fits is' : `the ${grouped(total)} machines that fit are`;
}

function ofThoseThatFit(count: number, { total }: FittingSupply): string {
  if (total === 1) return 'the one machine that fits';
  return count === total
    ? `all ${grouped(total)} machines that fit`
    : `${grouped(count)} of the ${grouped(total)} machines that fit`;
}

/** `12,345`. */
export function grouped(count: number): string {
  return count.toLocaleString('en-US');
}
