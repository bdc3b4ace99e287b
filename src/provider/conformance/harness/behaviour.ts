// A behaviour: one requirement on a provider, with a stable id, a title and one check function. The files in
// behaviours/ define them, one for each area; registry.ts lists them all and run.ts runs them.

import type { Trial } from './trial.ts';

/** Profiles a provider may claim. `cloud` and `spot` only mark some of the core behaviours. */
export const PROFILES = ['core', 'cloud', 'spot', 'fault', 'durable', 'scale'] as const;
/** One of `PROFILES`. */
export type Profile = (typeof PROFILES)[number];

/** The kind of provider that a behaviour runs against; targets.ts opens one target of each kind. */
export type TargetKind = 'core' | 'fault' | 'durable' | 'scale';

/** The areas of the contract by which behaviours are grouped. */
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
/** One of `AREAS`. */
export type Area = (typeof AREAS)[number];

export interface Behaviour {
  readonly id: string;
  readonly area: Area;
  readonly targetKind: TargetKind;
  readonly profiles: readonly Profile[];
  /** One line: what must hold. */
  readonly title: string;
  /** Returns if it holds; throws `Failure` if not, `Skip` if this target cannot show it. */
  readonly run: (trial: Trial) => Promise<void>;
}

type Check = Behaviour['run'];

/** Returns a factory with the fields that the behaviours of one file share. */
export function inArea(area: Area, targetKind: TargetKind, ...common: readonly Profile[]) {
  return (id: string, title: string, run: Check, ...more: readonly Profile[]): Behaviour => ({
    id,
    area,
    targetKind,
    profiles: [...common, ...more],
    title,
    run,
  });
}

/** The provider violated the behaviour. */
export class Failure extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'Failure';
  }
}

/** The target did not answer; the runner then checks whether it still runs. */
export class NoAnswer extends Failure {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'NoAnswer';
  }
}

/** The behaviour cannot be checked on this target; not a pass. */
export class Skip extends Error {
  constructor(reason: string) {
    super(reason);
    this.name = 'Skip';
  }
}

/**
 * A skip that does not prevent certification: the contract leaves the subject to the provider, or the suite cannot trigger
 * it from outside. It is still reported as a skip, with its reason.
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
