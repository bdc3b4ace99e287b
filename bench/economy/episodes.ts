// What an operator does about pods of one cluster that the scheduler cannot place although their Need is met: an episode, which
// is a Need of its own with the profile of the pods, their sum once more and their largest as min_unit. It is open until all
// machines that its verdict claims have been empty for a while, or until its profile has no pods.

import { keyOf, type Need, type NeedKey, type Profile } from '../../src/model/index.ts';
import type { Parameters } from './parameters.ts';
import type { Pod } from './placement.ts';
import { needOf } from './rows.ts';

interface Episode {
  readonly need: Need;
  /** null while a machine of it has pods, and before its first verdict. */
  emptySinceMs: number | null;
}

export type EpisodeRules = Pick<Parameters['endToEnd'], 'stuckSeconds' | 'emptySeconds' | 'openEpisodes'>;

/** What episodes read of a cluster after a cycle. */
export interface ClusterState {
  readonly nowMs: number;
  readonly pending: Iterable<Pod>;
  /** Machines that the verdict on a Need claims; null if the Need is not met or has no verdict yet. */
  readonly claimsOf: (key: NeedKey) => readonly string[] | null;
  readonly podsOn: (machine: string) => number;
  readonly hasPods: (profile: Profile) => boolean;
}

export class Episodes {
  readonly #cluster: string;
  readonly #rules: EpisodeRules;
  #open: Episode[] = [];
  opened = 0;

  constructor(cluster: string, rules: EpisodeRules) {
    this.#cluster = cluster;
    this.#rules = rules;
  }

  get open(): number {
    return this.#open.length;
  }

  needs(): Need[] {
    return this.#open.map(({ need }) => need);
  }

  keys(): NeedKey[] {
    return this.#open.map(({ need }) => keyOf(need));
  }

  /** Ends and opens episodes. Returns the keys of those that ended, and whether anything changed. */
  update(state: ClusterState): { readonly ended: readonly NeedKey[]; readonly isChanged: boolean } {
    const before = this.opened;
    const ended = this.#open.filter((episode) => this.#isOver(episode, state));
    this.#open = this.#open.filter((episode) => !ended.includes(episode));
    this.#openFor(state);
    return {
      ended: ended.map(({ need }) => keyOf(need)),
      isChanged: ended.length > 0 || this.opened > before,
    };
  }

  #isOver(episode: Episode, { claimsOf, hasPods, nowMs, podsOn }: ClusterState): boolean {
    if (!hasPods(episode.need.profile)) return true;
    const claims = claimsOf(keyOf(episode.need));
    const isEmpty = claims?.every((machine) => podsOn(machine) === 0) ?? false;
    episode.emptySinceMs = isEmpty ? (episode.emptySinceMs ?? nowMs) : null;
    const { emptySinceMs } = episode;
    return emptySinceMs !== null && nowMs - emptySinceMs >= this.#rules.emptySeconds * 1000;
  }

  #openFor({ claimsOf, nowMs, pending }: ClusterState): void {
    const stuck = Map.groupBy(
      [...pending].filter((pod) => nowMs - pod.pendingSinceMs >= this.#rules.stuckSeconds * 1000),
      ({ profile }) => profile,
    );
    for (const [profile, pods] of stuck) {
      if (this.#open.length >= this.#rules.openEpisodes) return;
      const key = { cluster: this.#cluster, fingerprint: profile.fingerprint, group: '' };
      if (claimsOf(key) === null) continue;
      const sizes = pods.map(({ amounts }) => amounts);
      const need = needOf(this.#cluster, { profile }, sizes, `stuck:${this.opened++}`, nowMs);
      this.#open.push({ need, emptySinceMs: null });
      // They have the time of a newly pending pod to be placed on the machines of the episode.
      for (const pod of pods) pod.pendingSinceMs = nowMs;
    }
  }
}
