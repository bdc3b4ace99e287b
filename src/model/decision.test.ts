import { describe, expect, it } from 'vitest';
import { WIRE_UNMET_REASON } from './decision.ts';

describe('WIRE_UNMET_REASON', () => {
  it('given a reason that the wire defines too, then it has the number of the wire', () => {
    expect(WIRE_UNMET_REASON['priority-starved']).toBe(1);
    expect(WIRE_UNMET_REASON['no-matching-supply']).toBe(2);
    expect(WIRE_UNMET_REASON['topology-unsatisfiable']).toBe(3);
    expect(WIRE_UNMET_REASON['preemption-exhausted']).toBe(4);
  });

  it('given a finer reason that the wire does not define, then it maps to the nearest one and never to unspecified', () => {
    expect(WIRE_UNMET_REASON['no-fitting-supply']).toBe(2);
    expect(WIRE_UNMET_REASON['spread-unsatisfiable']).toBe(3);
    for (const number of Object.values(WIRE_UNMET_REASON)) expect([1, 2, 3, 4]).toContain(number);
  });
});
