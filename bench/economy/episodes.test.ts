import { describe, expect, it } from 'vitest';
import type { NeedKey, Profile } from '../../src/model/index.ts';
import { podGroup } from '../../testing/support/economy.ts';
import { amountsOf } from './amounts.ts';
import { type ClusterState, Episodes } from './episodes.ts';
import { Pod } from './placement.ts';

const RULES = { stuckSeconds: 300, emptySeconds: 120, openEpisodes: 2 };
const { profile } = podGroup([]);
const STUCK_MS = 300_000;

function pod(cores: number, gib: number, of: Profile = profile): Pod {
  return new Pod(of, amountsOf(cores, gib, 0), 0, 0);
}

/** A cluster in which every Need is met, with one machine, and that machine has pods. */
function state(nowMs: number, pending: readonly Pod[], parts: Partial<ClusterState> = {}): ClusterState {
  return { nowMs, pending, claimsOf: () => ['m'], podsOn: () => 1, hasPods: () => true, ...parts };
}

/** Episodes of which one is open, since `STUCK_MS`. */
function withOneOpen(): Episodes {
  const episodes = new Episodes('c', RULES);
  episodes.update(state(STUCK_MS, [pod(1, 1)]));
  return episodes;
}

describe('episodes', () => {
  it('given pods pending for the time, then their sum and their largest become a Need of the same profile', () => {
    const episodes = new Episodes('c', RULES);
    const pending = [pod(2, 1), pod(1, 4)];
    expect(episodes.update(state(STUCK_MS - 1, pending)).isChanged).toBe(false);
    expect(episodes.needs()).toEqual([]);
    expect(episodes.update(state(STUCK_MS, pending)).isChanged).toBe(true);
    const [need] = episodes.needs();
    expect(need).toMatchObject({ cluster: 'c', profile, group: 'stuck:0', firstSeenMs: STUCK_MS });
    expect(Object.fromEntries(need!.aggregate)).toEqual({ cpu: 3000, memory: 5 * 2 ** 30 });
    expect(Object.fromEntries(need!.minUnit)).toEqual({ cpu: 2000, memory: 4 * 2 ** 30 });
  });

  it('given a Need that is not met, then its pods are not stuck', () => {
    const episodes = new Episodes('c', RULES);
    expect(episodes.update(state(STUCK_MS, [pod(1, 1)], { claimsOf: () => null })).isChanged).toBe(false);
  });

  it('given an open episode, then its pods have the time once more before another is opened', () => {
    const episodes = new Episodes('c', RULES);
    const pending = [pod(1, 1)];
    episodes.update(state(STUCK_MS, pending));
    episodes.update(state(STUCK_MS + 299_000, pending));
    expect(episodes.open).toBe(1);
    episodes.update(state(2 * STUCK_MS, pending));
    expect(episodes.needs().map(({ group }) => group)).toEqual(['stuck:0', 'stuck:1']);
  });

  it('given the limit of open episodes, then no more are opened', () => {
    const episodes = new Episodes('c', RULES);
    const profiles = [1, 2, 3].map((priority) => podGroup([], '', priority).profile);
    episodes.update(
      state(
        STUCK_MS,
        profiles.map((each) => pod(1, 1, each)),
      ),
    );
    expect([episodes.open, episodes.opened]).toEqual([2, 2]);
  });

  it('given that all machines of its verdict are empty for the time, then an episode ends, and no earlier', () => {
    const episodes = withOneOpen();
    const busy = new Set(['n']);
    const claims = (key: NeedKey): readonly string[] => (key.group === 'stuck:0' ? ['m', 'n'] : []);
    const at = (nowMs: number) =>
      episodes.update(
        state(nowMs, [], { claimsOf: claims, podsOn: (machine) => (busy.has(machine) ? 1 : 0) }),
      ).ended;
    expect(at(400_000)).toEqual([]);
    busy.delete('n');
    expect(at(500_000)).toEqual([]);
    busy.add('m');
    expect(at(560_000)).toEqual([]);
    busy.delete('m');
    expect(at(600_000)).toEqual([]);
    expect(at(719_000)).toEqual([]);
    expect(at(720_000)).toEqual([{ cluster: 'c', fingerprint: profile.fingerprint, group: 'stuck:0' }]);
    expect(episodes.open).toBe(0);
  });

  it('given that its profile has no pods, then an episode ends at once', () => {
    expect(withOneOpen().update(state(STUCK_MS + 1, [], { hasPods: () => false })).ended).toHaveLength(1);
  });
});
