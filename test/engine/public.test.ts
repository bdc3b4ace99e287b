// The entry point `bigfleet/engine` on plain values; the rules of a decision have tests of their own.

import { describe, expect, it } from 'vitest';
import { type DecisionInput, decide, explain } from '../../src/engine/public.ts';
import { BigFleetError, keyOf, type MachineState } from '../../src/model/index.ts';
import { parseScenario } from '../../src/scenario/index.ts';

function inputOf(text: string): DecisionInput {
  const scenario = parseScenario(text);
  if (!scenario.ok) throw new Error(JSON.stringify(scenario.problems));
  return scenario.value.input;
}

const input = inputOf(`
now: 2026-01-01T00:00:00Z
machines:
  - { id: m-1, state: IDLE, zone: a, instanceType: small, resources: { cpu: 4 } }
needs:
  - { cluster: web, priority: 10, aggregateResources: { cpu: 3 }, minUnit: { cpu: 1 } }
  - { cluster: batch, aggregateResources: { cpu: 3 }, minUnit: { cpu: 1 } }
`);

function refusal(broken: DecisionInput): BigFleetError {
  try {
    decide(broken);
  } catch (error) {
    if (error instanceof BigFleetError) return error;
    throw error;
  }
  throw new Error('It was decided.');
}

describe('bigfleet/engine', () => {
  it('given one machine and two Needs, when decided, then the better-ranked one gets it and the other has a reason', () => {
    const { actions, verdicts, claims } = decide(input);
    expect(actions).toMatchObject([{ kind: 'Bootstrap', machine: 'm-1', cluster: 'web' }]);
    expect(verdicts.map(({ satisfied, unmet }) => [satisfied, unmet?.reason])).toEqual([
      [true, undefined],
      [false, 'priority-starved'],
    ]);
    expect(claims.get('m-1')).toEqual(keyOf(input.needs[0]!));
  });

  it('given an unmet Need, when explained, then the row that blocks it is named, and an unknown key has no answer', () => {
    const key = keyOf(input.needs[1]!);
    expect(explain(input, key)?.obstacles.machines['claimed-by-better']).toBe(1);
    expect(explain(input, { ...key, group: 'other' })).toBeNull();
  });

  it('given several mistakes, when decided, then one error names all of them with their paths', () => {
    const [machine] = input.machines;
    const [need] = input.needs;
    const error = refusal({
      ...input,
      nowMs: Number.NaN,
      machines: [
        machine!,
        { ...machine!, host: null },
        { ...machine!, id: 'm-2', state: 9 as MachineState },
        { ...machine!, id: 'm-3', resources: new Map([['cpu', 0.5]]) },
      ],
      needs: [need!, { ...need!, aggregate: new Map([['cpu', -1]]) }, { ...need!, cluster: '' }],
    });
    expect(error.code).toBe('BF_INPUT_INVALID');
    expect(error.problems.map(({ path }) => path)).toEqual([
      'machines[1].host',
      'machines[1].id',
      'machines[2].state',
      'machines[3].resources["cpu"]',
      'needs[1]',
      'needs[1].aggregate["cpu"]',
      'needs[2].cluster',
      'nowMs',
    ]);
    expect(error.message).toContain('machines[1].id: Another machine has the id "m-1".');
  });
});
