// What has changed in a fleet while it had no replica, for a feed that has to go on afterwards. Only numbers: deltas that are
// kept until the end of a window would be garbage that a shard does not have. Used by live.ts.

import type { AppliedChanges, Fleet } from '../../src/fleet/index.ts';
import type { FollowedChanges } from '../../src/shard/planning/replica-feed.ts';

/** Clusters whose whole roll-ups are made at a time. */
const AT_A_TIME = 16;

export class MissedChanges {
  readonly #slots = new Set<number>();
  readonly #clusters = new Set<number>();
  readonly #removed = new Set<string>();
  readonly #retimed = new Map<string, number>();

  add({ removed, retimed, rollUps, slots }: AppliedChanges): void {
    for (const slot of slots) this.#slots.add(slot);
    for (const cluster of rollUps.keys()) this.#clusters.add(cluster);
    for (const id of removed) this.#removed.add(id);
    for (const [instanceType, seconds] of retimed) this.#retimed.set(instanceType, seconds);
  }

  /** All of it, with whole roll-ups of some clusters at a time; there is nothing left then. */
  *taken({ demand }: Fleet): Generator<FollowedChanges> {
    const clusters = [...this.#clusters];
    const machines = {
      slots: [...this.#slots],
      removed: [...this.#removed],
      retimed: new Map(this.#retimed),
    };
    for (const each of [this.#slots, this.#clusters, this.#removed, this.#retimed]) each.clear();
    yield { ...machines, clusters: [], rollUps: new Map() };
    for (let from = 0; from < clusters.length; from += AT_A_TIME) {
      const some = clusters.slice(from, from + AT_A_TIME);
      const rollUps = new Map(some.map((cluster) => [cluster, demand.rollUpOf(cluster)]));
      yield { slots: [], removed: [], retimed: new Map(), clusters: some, rollUps };
    }
  }
}
