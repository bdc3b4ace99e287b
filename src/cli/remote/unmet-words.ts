// Why a Need is not met, in words for somebody who has not read how decisions are made.

import type { UnmetReason } from '../../model/index.ts';

export interface UnmetWords {
  readonly why: string;
  /** '' where there is nothing to do but wait. */
  readonly remedy: string;
}

export const UNMET_WORDS: Readonly<Record<UnmetReason, UnmetWords>> = {
  'set-aside': {
    why: 'Its size is beyond what the shard can count; it keeps the machines it has.',
    remedy:
      'Ask for less in one Need, or split it into groups; a shard counts 16 resource names, and up to 2^53 - 1 of each.',
  },
  preempting: {
    why: 'Machines are being drained for it. It is met as soon as the work on them has left.',
    remedy: '',
  },
  'cluster-disconnected': {
    why: 'Its cluster cannot take machines now, so none is bought or moved for it; it keeps what it has.',
    remedy: 'See "bigfleet get clusters": bring its operator back, or lift its freeze.',
  },
  'topology-unsatisfiable': {
    why: 'All its machines must stand in one domain, and no single domain has enough for all of it.',
    remedy: 'Add machines to one of the domains below, or let the work be split.',
  },
  'no-matching-supply': {
    why: 'No machine in any state meets its requirements; none that could be bought does either.',
    remedy: 'Check its requirements for a misspelt label, zone or type, or offer machines that meet them.',
  },
  'no-fitting-supply': {
    why: 'Machines meet its requirements, but none is as large as its largest pod.',
    remedy: 'Offer a larger machine, or make the pod smaller.',
  },
  'preemption-exhausted': {
    why: 'Less important work is moved out for it, but all of that together is not enough.',
    remedy: 'Add capacity; there is nothing less important left to take from.',
  },
  'spread-unsatisfiable': {
    why: 'Free machines fit, but all of them are in domains where its spread allows no more.',
    remedy: 'Add machines in the other domains, or loosen the spread (maxSkew).',
  },
  'priority-starved': {
    why: 'What it could use is held by others that come first.',
    remedy: 'Add capacity, raise its priority, or shrink what is ahead of it.',
  },
  'insufficient-supply': {
    why: 'There is too little of what it could use, and work ahead of it does not hold enough to make up for it.',
    remedy: 'Offer more machines like those that fit, or ask for less.',
  },
};
