import { describe, expect, it } from 'vitest';
import { loadProfile } from '../../bench/profiles/load.ts';
import { Fleet } from '../../src/fleet/index.ts';
import {
  type LedgerMachine,
  MachineState,
  machineProblems,
  type Need,
  rowsAfter,
} from '../../src/model/index.ts';
import { Workload } from './workload.ts';
import { Churn } from './workload-churn.ts';

const workloadOf = () => new Workload(loadProfile('uber-5k'), 1, 'quiet');
/** Makes steps of churn, each of which is applied. */
const churnOf = (workload: Workload, change = workload.profile.churn) => {
  const fleet = new Fleet();
  workload.load(fleet);
  const churn = new Churn(workload, change, fleet);
  const next = () => {
    const step = churn.next();
    for (const delta of step.rollUps) expect(fleet.demand.apply(delta)).toBe(true);
    return step;
  };
  const needsOf = (cluster: string) => fleet.demand.needsOf(fleet.clusters.find(cluster));
  return { next, needsOf };
};
const textOf = (need: Need) =>
  JSON.stringify([need.profile.fingerprint, need.group, [...need.aggregate], [...need.minUnit]]);

describe('churn', () => {
  it('given the same seed, then the changes are the same', () => {
    const steps = [workloadOf(), workloadOf()].map((workload) => {
      const churn = churnOf(workload);
      return [churn.next(), churn.next(), churn.next()];
    });
    expect(steps[0]).toEqual(steps[1]);
  });

  it.each(['churn', 'burst'] as const)(
    'given the regime %s, then its fraction of clusters and rows changes',
    (regime) => {
      const workload = workloadOf();
      const change = workload.profile[regime];
      const churn = churnOf(workload, change);
      const last = new Map<string, Set<string>>();
      for (let cluster = 0; cluster < 20; cluster++) {
        last.set(workload.clusterName(cluster), new Set(workload.needsOf(cluster).map(textOf)));
      }
      for (let step = 0; step < 6; step++) {
        const { rollUps } = churn.next();
        expect(rollUps.length).toBe(20 * change.clusters);
        for (const { cluster, fresh } of rollUps) {
          const before = last.get(cluster)!;
          const now = new Set(churn.needsOf(cluster).map(textOf));
          expect(now.size).toBe(before.size);
          expect([...now].filter((text) => !before.has(text)).length).toBe(fresh.length);
          expect(fresh.length).toBe(Math.round(before.size * change.rows));
          last.set(cluster, now);
        }
      }
    },
  );

  it('given the delta of a roll-up, then it is the difference from the loaded or last roll-up', () => {
    const workload = workloadOf();
    const churn = churnOf(workload, { clusters: 1, rows: 0.1, machines: 0 });
    let last = Array.from({ length: 20 }, (_, cluster) => workload.needsOf(cluster));
    for (let step = 0; step < 2; step++) {
      const { rollUps } = churn.next();
      last = last.map((needs, cluster) => [...rowsAfter(needs, rollUps[cluster]!)]);
      expect(rollUps.map(({ cluster }) => churn.needsOf(cluster))).toEqual(last);
    }
  });

  it('given churn, then bound machines fail and recover', () => {
    const workload = workloadOf();
    const bound = new Map<string, LedgerMachine>();
    for (const machine of workload.machines()) {
      if (machine.state === MachineState.Configured) bound.set(machine.id, machine);
    }
    const churn = churnOf(workload, { clusters: 0.1, rows: 0.1, machines: 0.001 });
    let repaired = 0;
    for (let step = 0; step < 5; step++) {
      const { machines } = churn.next();
      expect(machines.length).toBeLessThanOrEqual(23);
      expect(machines.length).toBeGreaterThan(15);
      for (const machine of machines) {
        expect(machineProblems(machine)).toEqual([]);
        // It is the machine that was bound, with another state.
        const { instanceType, zone, labels, capacityType, pricePerHour, allocatable, host } = bound.get(
          machine.id,
        )!;
        const made = { instanceType, zone, labels, capacityType, pricePerHour, allocatable, host };
        expect(machine).toMatchObject({ ...made, cluster: '', stamp: null, target: null });
        if (machine.state === MachineState.Idle) repaired++;
      }
    }
    expect(repaired).toBeGreaterThan(20);
  });

  it('given a burst, then no machine changes', () => {
    const workload = workloadOf();
    expect(churnOf(workload, workload.profile.burst).next().machines).toEqual([]);
  });
});
