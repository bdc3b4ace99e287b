import { describe, expect, it } from 'vitest';
import { OTHER_NEED, record } from '../../../testing/support/actuation-scene.ts';
import { Fleet } from '../../fleet/index.ts';
import { keyOf, MachineState } from '../../model/index.ts';
import { VirtualClock } from '../../runtime/virtual-clock.ts';
import { MachineLedger } from '../inventory/machine-ledger.ts';
import { AWAIT_MS, AwaitedMachines } from './awaited-machines.ts';

const { Idle, Draining } = MachineState;
/** A row of c2. */
const target = keyOf(OTHER_NEED);

function scene() {
  const clock = new VirtualClock(1000);
  const ledger = new MachineLedger(new Fleet());
  const reported = new Set<string>();
  const heldElsewhere = new Set<string>();
  const awaited = new AwaitedMachines({
    ...{ ledger, clock },
    hasReported: (cluster) => reported.has(cluster),
    isBlocked: (machine) => heldElsewhere.has(machine),
  });
  const report = (cluster: string): void => {
    reported.add(cluster);
    awaited.reported(cluster);
  };
  const isBlocked = (id: string): boolean => ledger.statusOf(id)!.blocked;
  return { clock, ledger, heldElsewhere, report, isBlocked };
}

describe('after a start', () => {
  it('given a machine in flight to a cluster, then it is kept until the cluster has reported', () => {
    const { ledger, report, isBlocked } = scene();
    ledger.observe({ ...record('m', Idle), target }, 'p', 1000);
    report('c1');

    expect(isBlocked('m')).toBe(true);
    report('c2');
    expect(isBlocked('m')).toBe(false);
  });

  it('given a machine that still drained for a cluster, then it is kept as well', () => {
    const { ledger, report, isBlocked } = scene();
    ledger.observe({ ...record('m', Draining), target }, 'p', 1000);
    ledger.observe(record('m', Idle), 'p', 2000);

    expect(isBlocked('m')).toBe(true);
    report('c2');
    expect(isBlocked('m')).toBe(false);
  });

  it('given a cluster that stays silent, then the wait has an end', async () => {
    const { clock, ledger, isBlocked } = scene();
    ledger.observe({ ...record('m', Idle), target }, 'p', 1000);
    await clock.advance(AWAIT_MS);

    expect(isBlocked('m')).toBe(false);
  });

  it('given a machine that is blocked for another reason, then it stays blocked', () => {
    const { ledger, heldElsewhere, report, isBlocked } = scene();
    heldElsewhere.add('m');
    ledger.observe({ ...record('m', Idle), target }, 'p', 1000);
    report('c2');

    expect(isBlocked('m')).toBe(true);
  });

  it('given machines without a target, or of clusters that have reported, then they are free', () => {
    const { ledger, report, isBlocked } = scene();
    report('c2');
    ledger.observe({ ...record('m-1', Idle), target }, 'p', 1000);
    ledger.observe(record('m-2', Idle), 'p', 1000);

    expect([isBlocked('m-1'), isBlocked('m-2')]).toEqual([false, false]);
  });
});
