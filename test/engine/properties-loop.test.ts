// The properties of the definition that need several cycles: fleets decided repeatedly, with moves of equal or of
// individual duration. `npm run verify:seeds` runs the same checks on more fleets, and `npm run soak:engine` for as
// long as requested.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { startLoop } from '../../testing/loop/loop.ts';
import { onEngine } from './compare.ts';
import { checkNamed } from './loop-checks.ts';
import { plentifulFleets } from './loop-fleets.ts';
import { runToRest } from './rest.ts';

/** Runs a check of loop-checks.ts on `numRuns` fleets. */
function holds(name: string, numRuns: number): void {
  const { fleets, problems } = checkNamed(name);
  fc.assert(
    fc.property(fleets(), fc.nat(1e9), (input, seed) => {
      expect(problems(input, seed)).toEqual([]);
    }),
    { numRuns: Number(process.env['BIGFLEET_RUNS'] ?? numRuns) },
  );
}

describe('the closed loop', { timeout: 600_000 }, () => {
  // P17 of the specification.
  it('given any fleet, then engine and oracle agree at every step', () =>
    holds('engine equals oracle in a loop', 150));

  it('given any changes between cycles, then an incremental engine decides like a new one', () =>
    holds('incremental equals full in a loop', 100));

  // P21 of the specification.
  it('given any fleet, then it is at rest within 2 × (rows + 2) cycles after the last transition', () =>
    holds('settles', 200));

  // P21 of the specification.
  it('given equal machines and no gangs, then it is at rest within (priority levels in use + 2) cycles', () =>
    holds('settles within the bound', 250));

  it('given equal machines that are at rest and meet all rows, none Idle with a target, when the facts about them change, then no machine moves', () =>
    holds('rests with other facts', 150));

  // P22 of the specification.
  it('given equal machines with replacements and k of them lost, then k are acquired, with uneven delays if rows share no cluster', () =>
    holds('replaces what is lost', 200));

  // P22 of the specification.
  it('given equal machines that are not protected and k short, then k are preempted in total, with uneven delays if rows share no cluster', () =>
    holds('preempts what is short', 200));

  it('given three priorities and protected machines, then at most twice as many are preempted as are short', () =>
    holds('preempts around protected machines', 200));

  it('given rows that share machines and k machines lost, then k are acquired, whatever the delays', () =>
    holds('replaces what is lost, shared', 150));

  it('given rows that share machines that are not protected and k short, then k are preempted in total, whatever the delays', () =>
    holds('preempts what is short, shared', 150));

  // P23 of the specification.
  it('given one row with nothing in flight at first, then it never acquires while a machine leaves that would add to it', () =>
    holds('one row never binds and reclaims', 200));

  // P24 of the specification.
  it('given a gang served by its own machines, with none elsewhere, then it stays whatever happens to free machines', () =>
    holds('served gangs stay', 250));

  it('given the fleets that lose machines, then all their rows are met at first', () => {
    fc.assert(
      fc.property(plentifulFleets(), (input) => {
        const { steps } = runToRest(startLoop(input), { decide: onEngine, delays: 0 });
        expect(steps.at(-1)!.plan.verdicts.filter(({ satisfied }) => !satisfied)).toEqual([]);
      }),
      { numRuns: 100 },
    );
  });
});
