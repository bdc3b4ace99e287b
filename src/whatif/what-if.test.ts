// What a caller of a question can rely on beside the answer: pauses, and when the answer is passed on.

import { describe, expect, it } from 'vitest';
import { aMachine, aNeed, anInput, resources } from '../../testing/support/fleets.ts';
import { fleetOf } from '../fleet/index.ts';
import { keyText, type LedgerMachine, MachineState } from '../model/index.ts';
import { requireValid } from '../runtime/validation.ts';
import { WHAT_IF_REQUEST } from './request.ts';
import { WhatIf } from './what-if.ts';

const MACHINES = 5000;
const CLUSTERS = 50;
const CLASSES = 40;

interface Pauses {
  readonly asking: number;
  readonly undoing: number;
}

/** Counts the pauses of a question about changes of a fleet. */
function pausesOn(machines: readonly LedgerMachine[]): (changes: object) => Pauses {
  const input = anInput(machines, [aNeed({ aggregate: resources({ cpu: 4 * MACHINES }) })]);
  const facts = { providerOf: () => '', hasFailedHost: () => false };
  const whatIf = new WhatIf(fleetOf(input), { facts, nameOf: keyText });
  return (changes) => {
    const request = requireValid(WHAT_IF_REQUEST, { changes }, 'BF_INPUT_INVALID', 'question');
    const counts = { asking: 0, undoing: 0 };
    let phase: keyof typeof counts = 'asking';
    const onAnswer = (): void => {
      phase = 'undoing';
    };
    const pause = (): void => {
      counts[phase]++;
    };
    whatIf.ask(input.nowMs, input.options, request, { pause, onAnswer });
    return counts;
  };
}

describe('a what-if question about a large fleet', () => {
  it('given changes of thousands of machines in use, then it pauses while it makes them and while it undoes them', () => {
    // Given
    const pausesOf = pausesOn(
      Array.from({ length: MACHINES }, (_, i) => aMachine(`m${i}`, MachineState.Configured)),
    );
    // When
    const nothing = pausesOf({});
    const all = pausesOf({ without: [{ state: 'configured' }] });
    // Then every 1,024 writes are followed by a pause
    expect(all.asking - nothing.asking).toBeGreaterThanOrEqual(4);
    expect(all.undoing - nothing.undoing).toBeGreaterThanOrEqual(4);
  });

  it('given changes of free machines of many classes, then it pauses before each class', () => {
    // Given
    const machines = Array.from({ length: CLASSES }, (_, i) =>
      aMachine(`m${i}`, MachineState.Speculative, { pricePerHour: 1 + i }),
    );
    const pausesOf = pausesOn(machines);
    const match = { state: 'speculative' };
    // When
    const nothing = pausesOf({});
    const removed = pausesOf({ without: [match] });
    const repriced = pausesOf({ prices: [{ match, times: 2 }] });
    // Then
    expect(removed.asking - nothing.asking).toBeGreaterThanOrEqual(CLASSES);
    expect(removed.undoing - nothing.undoing).toBeGreaterThanOrEqual(CLASSES);
    expect(repriced.asking - nothing.asking).toBeGreaterThanOrEqual(2 * CLASSES);
    expect(repriced.undoing - nothing.undoing).toBeGreaterThanOrEqual(2 * CLASSES);
  });

  it('given many clusters to decide on, then it pauses after each of them', () => {
    // Given
    const needs = Array.from({ length: CLUSTERS }, (_, i) => aNeed({ cluster: `c${i}` }));
    const input = anInput([aMachine('m', MachineState.Idle)], needs);
    const facts = { providerOf: () => '', hasFailedHost: () => false };
    const whatIf = new WhatIf(fleetOf(input), { facts, nameOf: keyText });
    let pauses = 0;
    // When
    whatIf.prepare(input.nowMs, input.options, () => {
      pauses++;
    });
    // Then
    expect(pauses).toBeGreaterThanOrEqual(CLUSTERS);
  });
});
