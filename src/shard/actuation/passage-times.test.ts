import { describe, expect, it } from 'vitest';
import { MachineState } from '../../model/index.ts';
import { PassageTimes } from './passage-times.ts';

const { Creating, Draining } = MachineState;

describe('the usual time in a transitional state', () => {
  it('given passages, then it is the median of the last ones, by provider and state', () => {
    const times = new PassageTimes();
    expect(times.usualMs('p', Creating)).toBeNull();
    for (const seconds of [5, 1, 600]) times.add('p', Creating, seconds);
    times.add('q', Creating, 9);
    times.add('p', Draining, 2);
    expect(times.usualMs('p', Creating)).toBe(5000);
    for (let i = 0; i < 40; i++) times.add('p', Creating, 3);
    expect(times.usualMs('p', Creating)).toBe(3000);
  });

  it('given a clock that was set back meanwhile, then that passage does not count', () => {
    const times = new PassageTimes();
    times.add('p', Creating, -3600);
    expect(times.usualMs('p', Creating)).toBeNull();
  });
});
