// Actions: what a plan asks the shard to do with one machine. Made by the engine, carried out by the shard's actuation;
// `ACTION_WORDS` are their names for people.

import type { NeedKey } from './need.ts';

/**
 * Bootstrap: Idle → bound. Provision: Speculative → created → bound. Preempt: drain for a row of higher
 * priority. Reclaim: drain, because no row claims it. Delete: return the host.
 */
export type ActionKind = 'Bootstrap' | 'Provision' | 'Preempt' | 'Reclaim' | 'Delete';

/** The phase of a decision that an action comes from, and why it was taken there. */
export type ActionReason =
  | 'phase1.idle'
  | 'phase1.speculative'
  | 'phase2.inversion'
  | 'phase2.excess'
  | 'phase3.excess'
  | 'phase3.release';

/** One step of a plan: what the shard is to do with one machine. */
export interface Action {
  readonly kind: ActionKind;
  readonly machine: string;
  /** The destination for Bootstrap and Provision, the origin for Preempt and Reclaim, '' for Delete. */
  readonly cluster: string;
  readonly reason: ActionReason;
  /** Drain grace period; 0 unless Preempt or Reclaim. */
  readonly graceSeconds: number;
  /** Priority of the row a Preempt is for; 0 otherwise. */
  readonly preemptorPriority: number;
  /** The row it is for: Bootstrap, Provision, Preempt. It becomes the machine's in-flight target. */
  readonly need: NeedKey | null;
}

/**
 * What people call each kind, on every surface but JSON, metrics and the wire: the verb, and both tenses. A purchase is
 * `ordered` until a host exists; the other kinds are under way until their machine is where it was to go.
 */
export const ACTION_WORDS: Readonly<Record<ActionKind, ActionWords>> = {
  Bootstrap: { verb: 'bind', doing: 'binding', done: 'bound' },
  Provision: { verb: 'buy', doing: 'ordered', done: 'bought' },
  Preempt: { verb: 'preempt', doing: 'preempting', done: 'preempted' },
  Reclaim: { verb: 'reclaim', doing: 'reclaiming', done: 'reclaimed' },
  Delete: { verb: 'release', doing: 'releasing', done: 'released' },
};

export interface ActionWords {
  readonly verb: string;
  readonly doing: string;
  readonly done: string;
}

/** All kinds of action, in the order in which surfaces list them. */
export const ACTION_KINDS: readonly ActionKind[] = ['Bootstrap', 'Provision', 'Preempt', 'Reclaim', 'Delete'];

/** The kind that a word names, as the wire or as people spell it, in any case; undefined if it names none. */
export function actionKindOf(word: string): ActionKind | undefined {
  const wanted = word.toLowerCase();
  return ACTION_KINDS.find((kind) => kind.toLowerCase() === wanted || ACTION_WORDS[kind].verb === wanted);
}
