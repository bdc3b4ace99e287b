import { describe, expect, it } from 'vitest';
import { ColumnGroup } from '../../collections/table.ts';
import { Fleet } from '../../fleet/index.ts';
import { Cycle } from '../cycle.ts';
import { SharedStatePublisher, sharedGroups, WorkerCycle } from './shared-state.ts';

/** Column groups of all tables that can be reached from an object by public fields, by path. */
function groupsBelow(root: object): Map<ColumnGroup, string> {
  const groups = new Map<ColumnGroup, string>();
  const seen = new Set<object>();
  const visit = (value: unknown, path: string): void => {
    if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value) || seen.has(value)) return;
    seen.add(value);
    if (value instanceof ColumnGroup) groups.set(value, path);
    else for (const [name, field] of Object.entries(value)) visit(field, `${path}.${name}`);
  };
  visit(root, 'cycle');
  return groups;
}

describe('the state that worker threads share', () => {
  it('given a cycle, then every column of its tables and of its fleet is shared that a worker reads', () => {
    const cycle = new Cycle(new Fleet());
    const shared = new Set(sharedGroups(cycle));

    const missing = [...groupsBelow(cycle)].filter(([group]) => !shared.has(group)).map(([, path]) => path);

    expect(missing).toEqual(['cycle.pass.byPlace', 'cycle.result.bySlot', 'cycle.actions.byPlace']);
    expect(shared.size).toBeGreaterThan(15);
  });

  it('given an update, when a worker takes it over, then it has the same columns and the next update is none', () => {
    const fleet = new Fleet();
    const cycle = new Cycle(fleet);
    const publisher = new SharedStatePublisher(cycle);
    const worker = new WorkerCycle();
    fleet.machines.bySlot.reserve(10);

    worker.takeOver(publisher.changesSinceLast()!);

    const columns = sharedGroups(cycle).flatMap((group) => group.columns());
    const taken = sharedGroups(worker.cycle).flatMap((group) => group.columns());
    expect(taken.every((column, i) => column === columns[i])).toBe(true);
    expect(taken).toHaveLength(columns.length);
    expect(publisher.changesSinceLast()).toBeNull();
  });

  it('given a table that grew, then only then is there another update', () => {
    const fleet = new Fleet();
    const publisher = new SharedStatePublisher(new Cycle(fleet));
    publisher.changesSinceLast();

    fleet.demand.byRow.reserve(1000);

    expect(publisher.changesSinceLast()).not.toBeNull();
    expect(publisher.changesSinceLast()).toBeNull();
  });
});
