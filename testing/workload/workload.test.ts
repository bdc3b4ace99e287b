import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { loadProfile } from '../../bench/profiles/load.ts';
import { RACK_KEY } from '../../src/demo/workload/row-objects.ts';
import { machineShares } from '../../src/demo/workload/sizing.ts';
import { Fleet } from '../../src/fleet/index.ts';
import { type LedgerMachine, MachineState, machineProblems, type Need } from '../../src/model/index.ts';
import { type Beginning, Workload } from './workload.ts';

const workloadOf = (name: string, seed = 1, beginning: Beginning = 'quiet') =>
  new Workload(loadProfile(name), seed, beginning);

/** SHA-256 of all records and rows of a fleet, machines first. No generated machine is on hold, so that field is left out. */
function digestOf(workload: Workload): string {
  const hash = createHash('sha256');
  const plain = (_: string, value: unknown) => (value instanceof Map ? [...value] : value);
  for (const { unclaimedSinceMs, ...machine } of workload.machines()) {
    expect(unclaimedSinceMs).toBeNull();
    hash.update(JSON.stringify(machine, plain));
  }
  for (let cluster = 0; cluster < workload.profile.clusters; cluster++) {
    hash.update(JSON.stringify(workload.needsOf(cluster), plain));
  }
  return hash.digest('hex').slice(0, 16);
}

describe('a generated fleet', () => {
  it.each([
    ['dev-50', 'quiet', 'a0bdc8552fdecea6'],
    ['dev-50', 'full', '000e7e96ed5fd85a'],
    ['uber-5k', 'quiet', 'bca62a22780229e0'],
    ['uber-5k', 'full', 'acc2928664ae3587'],
    ['uber-5k', 'cold', '32bbd3ff4904600c'],
  ] as const)('given %s, %s and seed 1, then its bytes are the recorded ones', (name, beginning, digest) => {
    expect(digestOf(workloadOf(name, 1, beginning))).toBe(digest);
    expect(digestOf(workloadOf(name, 1, beginning))).toBe(digest);
    expect(digestOf(workloadOf(name, 2, beginning))).not.toBe(digest);
  });
});

describe.each(['dev-50', 'dev-500', 'scaleway-50k', 'uber-5k', 'uber-5k-racks', 'uber-5k-jitter'])(
  '%s',
  (name) => {
    const workload = workloadOf(name);
    const { profile } = workload;
    const machines = [...workload.machines()];

    it('given its profile, then it has exactly the declared machines and Needs', () => {
      const byState = Map.groupBy(machines, ({ state }) => state);
      expect(byState.get(MachineState.Configured)?.length).toBe(profile.configured);
      expect(byState.get(MachineState.Idle)?.length ?? 0).toBe(profile.idle);
      expect(byState.get(MachineState.Speculative)?.length ?? 0).toBe(profile.speculative);
      expect(new Set(machines.map(({ id }) => id)).size).toBe(workload.machineCount);
      const fleet = workload.newFleet();
      expect(fleet.machines.count).toBe(workload.machineCount);
      expect(fleet.demand.count).toBe(profile.needs);
      expect(fleet.clusters.size - 1).toBe(profile.clusters);
    });

    it.each(['quiet', 'full', 'cold'] as const)(
      'given the start %s, then all records are valid',
      (beginning) => {
        const all = [...workloadOf(name, 3, beginning).machines()];
        expect(all.flatMap((machine) => machineProblems(machine))).toEqual([]);
        expect(all.length).toBe(workload.machineCount);
      },
    );

    it('given a cold start, then nothing is bound', () => {
      const all = [...workloadOf(name, 1, 'cold').machines()];
      expect(all.filter(({ cluster, stamp }) => cluster !== '' || stamp !== null)).toEqual([]);
    });

    it('given the number of a machine, then its id is that of the record', () => {
      for (const ordinal of [0, 1, profile.configured - 1]) {
        expect(workload.machineId(ordinal)).toBe(machines[ordinal]!.id);
      }
    });
  },
);

// Of the larger rungs only the sums over their clusters are checked; the benchmark generates them in full.
describe.each(['uber-50k', 'uber-500k', 'uber-50k-racks', 'uber-500k-racks', 'uber-500k-jitter'])(
  '%s',
  (name) => {
    it('given its profile, then its clusters have exactly the declared size', () => {
      const workload = workloadOf(name);
      const { clusters, needs, configured } = workload.profile;
      expect(needs % clusters).toBe(0);
      expect(configured % clusters).toBe(0);
      for (const cluster of [0, Math.floor(clusters / 2), clusters - 1]) {
        const { rows, holdings } = workload.planOf(cluster);
        expect(rows.length).toBe(needs / clusters);
        expect(holdings.reduce((sum, { machines }) => sum + machines, 0)).toBe(configured / clusters);
      }
    });
  },
);

describe('the realistic mix', () => {
  const workload = workloadOf('uber-5k');
  const { archetypes } = workload.profile.catalogue;
  const shares = machineShares(archetypes, workload.profile.density);

  it('given its pools, then they have the shares of the catalogue', () => {
    const slots = [...workload.machines()].filter(({ state }) => state === MachineState.Speculative);
    const gpus = slots.filter(({ instanceType }) => /^a[23]/.test(instanceType)).length / slots.length;
    const declared = archetypes.reduce((sum, { sizes }, i) => sum + (sizes[0]!.gpus > 0 ? shares[i]! : 0), 0);
    expect(gpus).toBeCloseTo(declared, 2);
    expect(gpus).toBeGreaterThan(0.1);
    expect(gpus).toBeLessThan(0.2);
  });

  it('given its rows, then most are small groups, which fold', () => {
    let groups = 0;
    let rows = 0;
    for (let cluster = 0; cluster < workload.profile.clusters; cluster++) {
      groups += workload.planOf(cluster).rows.filter(({ group }) => group !== '').length;
      rows += workload.rowsAfterFold(cluster);
    }
    expect(groups / workload.profile.needs).toBeGreaterThan(0.55);
    expect(rows / workload.profile.needs).toBeLessThan(0.5);
  });

  it('given its bound machines, then most are general compute', () => {
    const bound = [...workload.machines()].filter(({ state }) => state === MachineState.Configured);
    const share = bound.filter(({ instanceType }) => /^([mc]6i|n2)/.test(instanceType)).length / bound.length;
    expect(share).toBeGreaterThan(0.78);
    expect(share).toBeLessThan(0.88);
  });
});

describe('the harder variants', () => {
  it('given racks, then hardly a row folds, no gang fits a machine, and a rack has about 50 machines', () => {
    const workload = workloadOf('uber-5k-racks');
    let rows = 0;
    for (let cluster = 0; cluster < workload.profile.clusters; cluster++)
      rows += workload.rowsAfterFold(cluster);
    expect(rows).toBe(workload.profile.needs);
    const racks = Map.groupBy(workload.machines(), ({ labels }: LedgerMachine) => labels.get(RACK_KEY)!);
    expect(workload.machineCount / racks.size).toBeCloseTo(50, 0);
    expect(Math.max(...[...racks.values()].map(({ length }) => length))).toBeLessThan(75);
  });

  it('given jitter, then no two machines have the same class', () => {
    const fleet = new Fleet();
    fleet.machines.load([...workloadOf('uber-5k-jitter').machines()]);
    expect(fleet.classes.count).toBe(fleet.machines.count);
    const plain = new Fleet();
    plain.machines.load([...workloadOf('uber-5k').machines()]);
    expect(plain.classes.count).toBeLessThan(1500);
  });
});

describe('a profile with regions', () => {
  const workload = new Workload(loadProfile('uber-5k-regions'), 1, 'quiet');
  const regionOf = ({ profile }: Need): readonly string[] | undefined =>
    profile.requirements.find(({ key }) => key === 'topology.kubernetes.io/region')?.values;

  it('given a cluster, then its rows are bound to its region, except for about two of a hundred', () => {
    const needs = Array.from({ length: 20 }, (_, cluster) => workload.needsOf(cluster)).flat();
    const roaming = needs.filter((need) => regionOf(need) === undefined).length;
    expect(roaming / needs.length).toBeGreaterThan(0.005);
    expect(roaming / needs.length).toBeLessThan(0.05);
    expect(new Set(workload.needsOf(3).flatMap((need) => regionOf(need) ?? []))).toEqual(
      new Set(['region-3']),
    );
  });

  it('given its machines, then those of a cluster are in its region, and free ones are in all', () => {
    const regions = new Set<string>();
    for (const { cluster, labels } of workload.machines()) {
      const region = labels.get('topology.kubernetes.io/region')!;
      if (cluster === '') regions.add(region);
      else expect(region).toBe(`region-${Number(cluster.split('-')[1]) % 8}`);
    }
    expect(regions.size).toBe(8);
  });
});
