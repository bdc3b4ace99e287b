// What a behaviour is: one thing a provider must do, with a stable id, told as given / when / then in its title and
// checked by one function. The files named after an area hold them; registry.ts lists them all.

import type { Trial } from './trial.ts';

/** What a provider may claim to be. `cloud` and `spot` only mark some of the core behaviours. */
export const PROFILES = ['core', 'cloud', 'spot', 'fault', 'durable', 'scale'] as const;
export type Profile = (typeof PROFILES)[number];

/** Where a behaviour runs: each lane has its own kind of target. */
export type Lane = 'core' | 'fault' | 'durable' | 'scale';

export const AREAS = [
  'baseline',
  'lifecycle',
  'transitions',
  'fencing',
  'concurrency',
  'metadata',
  'fields',
  'lists',
  'properties',
  'faults',
  'durability',
  'scale',
] as const;
export type Area = (typeof AREAS)[number];

export interface Behaviour {
  readonly id: string;
  readonly area: Area;
  readonly lane: Lane;
  readonly profiles: readonly Profile[];
  /** One line: what must hold. */
  readonly title: string;
  /** Returns if it holds; throws `Failure` if not, `Skip` if this target cannot show it. */
  readonly run: (trial: Trial) => Promise<void>;
}

type Check = Behaviour['run'];

/** Adds what the behaviours of one file have in common. */
export function inArea(area: Area, lane: Lane, ...common: readonly Profile[]) {
  return (id: string, title: string, run: Check, ...more: readonly Profile[]): Behaviour => ({
    id,
    area,
    lane,
    profiles: [...common, ...more],
    title,
    run,
  });
}

/** The provider did something else than it must. */
export class Failure extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'Failure';
  }
}

/** The target did not answer at all; whether it is still there is for the runner to find out. */
export class NoAnswer extends Failure {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'NoAnswer';
  }
}

/** The behaviour cannot be shown on this target; that is no pass. */
export class Skip extends Error {
  constructor(reason: string) {
    super(reason);
    this.name = 'Skip';
  }
}

/**
 * A skip that does not keep a provider from being certified: the contract leaves the subject to the provider, or nothing
 * outside of the provider can bring it about. It is still reported as a skip, with its reason.
 */
export class ExcusedSkip extends Skip {
  /** A provider that claims this profile has promised the subject, and is not excused. */
  readonly claimedBy: Profile | undefined;

  constructor(reason: string, claimedBy?: Profile) {
    super(reason);
    this.name = 'ExcusedSkip';
    this.claimedBy = claimedBy;
  }
}

/** Delete is optional; the profile `cloud` is the claim to have it. */
export function withoutDelete(): ExcusedSkip {
  return new ExcusedSkip('the provider answers Delete with UNIMPLEMENTED', 'cloud');
}
