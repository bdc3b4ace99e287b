import { describe, expect, it } from 'vitest';
import { loadProfile, profileNames } from '../../bench/profiles/load.ts';
import { parseScaleProfile } from './scale-profile.ts';

/** Name, clusters, Needs, machine records. */
const LADDER: readonly (readonly [string, number, number, number])[] = [
  ['dev-50', 2, 200, 920],
  ['dev-500', 5, 300, 3050],
  ['scaleway-50k', 50, 800, 60_000],
  ['scaleway-500k', 50, 800, 500_000],
  ['scaleway-500k-bound', 50, 800, 500_000],
  ['uber-5k', 20, 7759, 22_500],
  ['uber-5k-regions', 20, 7759, 22_500],
  ['uber-5k-racks', 20, 7759, 22_500],
  ['uber-5k-jitter', 20, 7759, 22_500],
  ['uber-50k', 200, 77_600, 225_000],
  ['uber-50k-regions', 200, 77_600, 225_000],
  ['uber-50k-racks', 200, 77_600, 225_000],
  ['uber-50k-jitter', 200, 77_600, 225_000],
  ['uber-500k', 2000, 776_000, 2_250_000],
  ['uber-500k-regions', 2000, 776_000, 2_250_000],
  ['uber-500k-racks', 2000, 776_000, 2_250_000],
  ['uber-500k-jitter', 2000, 776_000, 2_250_000],
];

describe('the ladder', () => {
  it('given the profiles on disk, then each is in the table of this test', () => {
    expect(profileNames()).toEqual(LADDER.map(([name]) => name).sort());
  });

  it.each(LADDER)(
    'given %s, then it has %i clusters, %i Needs and %i machines',
    (name, clusters, needs, machines) => {
      const profile = loadProfile(name);
      expect(profile.name).toBe(name);
      expect(profile.clusters).toBe(clusters);
      expect(profile.needs).toBe(needs);
      expect(profile.configured + profile.idle + profile.speculative).toBe(machines);
      expect(profile.about).not.toBe('');
    },
  );
});

describe('parseScaleProfile', () => {
  const text = 'name: x\nabout: y\ncatalogue: realistic\nclusters: 1\nneeds: 10\n';

  it('given omitted fields, then they have their defaults', () => {
    const parsed = parseScaleProfile(text);
    expect(parsed.ok && parsed.value).toMatchObject({
      density: 100,
      groups: true,
      racksPerZone: 10,
      jitter: 0,
    });
  });

  it('given several mistakes, then all are reported', () => {
    const parsed = parseScaleProfile(
      `${text.replace('realistic', 'unreal')}jitter: 2\nspeed: fast\nthresholds: [{regime: fast, p99Ms: 1}]\n`,
    );
    const paths = parsed.ok ? [] : parsed.problems.map(({ path }) => path);
    expect(paths.sort()).toEqual([
      'catalogue',
      'jitter',
      'speed',
      'thresholds[0].regime',
      'thresholds[0].why',
    ]);
  });
});
