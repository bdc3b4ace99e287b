// One engine, or one pool of threads, reused for one fleet after the other. Used by the tests of incremental cycles,
// lanes and threads, and by `npm run verify:oracle`.

import type { Engine } from '../../src/engine/index.ts';
import type { Fleet } from '../../src/fleet/index.ts';
import { type DecisionInput, keyOf, keyText, type LedgerMachine, type Need } from '../../src/model/index.ts';

/** Replaces the content of a fleet with exactly the input. */
export function replaceContent(fleet: Fleet, before: DecisionInput | undefined, input: DecisionInput): void {
  for (const { id } of before?.machines ?? []) fleet.machines.remove(id);
  fleet.machines.load(input.machines);
  for (const cluster of new Set([...(before?.needs ?? []), ...input.needs].map((need) => need.cluster))) {
    fleet.demand.replace(
      cluster,
      input.needs.filter((need) => need.cluster === cluster),
    );
  }
}

/** Replaces parts of `from` with those of `to`: machines by id, rows by cluster; the rest is unchanged. */
export function blend(
  from: DecisionInput,
  to: DecisionInput,
  moves: (name: string) => boolean,
): DecisionInput {
  const machines = new Map<string, LedgerMachine>(from.machines.map((machine) => [machine.id, machine]));
  for (const machine of to.machines) if (moves(machine.id)) machines.set(machine.id, machine);
  for (const { id } of from.machines) {
    if (moves(id) && !to.machines.some((machine) => machine.id === id)) machines.delete(id);
  }
  const rows = (input: DecisionInput, moved: boolean): Need[] => {
    return input.needs.filter(({ cluster }) => moves(cluster) === moved);
  };
  const needs = [...rows(from, false), ...rows(to, true)];
  return { ...to, machines: [...machines.values()], needs: needs.map((need) => flipped(need, moves)) };
}

/** Sets some ordinary rows aside and makes some set-aside rows ordinary; most stay the same objects. */
function flipped(need: Need, moves: (name: string) => boolean): Need {
  const text = keyText(keyOf(need));
  if (!moves(`a ${text}`) || !moves(`b ${text}`)) return need;
  const { setAside, ...ordinary } = need;
  return setAside === true ? ordinary : { ...need, setAside: true };
}

/** Selects about a third of the names, by `dice`. */
export function diceThrow(dice: Iterator<number>): (name: string) => boolean {
  const moved = new Map<string, boolean>();
  return (name) => {
    if (!moved.has(name)) moved.set(name, dice.next().value < 3);
    return moved.get(name)!;
  };
}

/**
 * Turns a fleet into the next input, writing only what differs; a given engine overlaps its work with the writes of
 * rows.
 */
export function updateFleet(
  fleet: Fleet,
  before: DecisionInput,
  input: DecisionInput,
  engine?: Engine,
): void {
  fleet.machines.batch(() => {
    for (const { id } of before.machines) {
      if (!input.machines.some((machine) => machine.id === id)) fleet.machines.remove(id);
    }
    for (const machine of input.machines) if (!before.machines.includes(machine)) fleet.machines.put(machine);
  });
  const rowsOf = ({ needs }: DecisionInput, name: string): Need[] =>
    needs.filter(({ cluster }) => cluster === name);
  const clusters = new Set([...before.needs, ...input.needs].map((need) => need.cluster));
  const reporting = [...clusters].filter((name) => {
    const [old, now] = [rowsOf(before, name), rowsOf(input, name)];
    return old.length !== now.length || old.some((need, i) => need !== now[i]);
  });
  const end = engine?.overlap(new Set(reporting.map((name) => fleet.clusters.find(name))));
  for (const name of reporting) fleet.demand.replace(name, rowsOf(input, name));
  end?.();
}

/** Waits until all threads of an engine have started; until then a cycle runs without them. */
export async function threadsStarted(engine: Engine, workers: number): Promise<void> {
  while (engine.threads < workers) await new Promise((resolve) => setTimeout(resolve, 5));
}
