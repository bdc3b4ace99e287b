import { describe, expect, it } from 'vitest';
import { WIRE_UNMET_REASON } from './decision.ts';

describe('WIRE_UNMET_REASON', () => {
  it('given a reason that the wire has too, then it has the wire number', () => {
    expect(WIRE_UNMET_REASON['priority-starved']).toBe(1);
    expect(WIRE_UNMET_REASON['no-matching-supply']).toBe(2);
    expect(WIRE_UNMET_REASON['topology-unsatisfiable']).toBe(3);
    expect(WIRE_UNMET_REASON['preemption-exhausted']).toBe(4);
  });

  it('given a finer reason of ours, then it is sent as the nearest one and never as unspecified', () => {
    expect(WIRE_UNMET_REASON['no-fitting-supply']).toBe(2);
    expect(WIRE_UNMET_REASON['spread-unsatisfiable']).toBe(3);
    for (const number of Object.values(WIRE_UNMET_REASON)) expect([1, 2, 3, 4]).toContain(number);
  });
});
