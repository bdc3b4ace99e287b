import { describe, expect, it } from 'vitest';
import { ChangeRing } from './change-ring.ts';

function since(ring: ChangeRing, position: number): number[] {
  const entries: number[] = [];
  for (let at = position; at < ring.end; at++) entries.push(ring.at(at));
  return entries;
}

describe('a ring of changes', () => {
  it('given a reader, then it reads the entries since its last position', () => {
    const ring = new ChangeRing();
    ring.add(7);
    const position = ring.end;
    expect(since(ring, position)).toEqual([]);

    ring.add(3);
    ring.add(-7);

    expect(since(ring, position)).toEqual([3, -7]);
    expect(since(ring, 0)).toEqual([7, 3, -7]);
  });

  it('given more changes than the ring holds, then a reader behind the oldest entry has lost some and a later one none', () => {
    const ring = new ChangeRing();
    for (let i = 0; i < 65_536; i++) ring.add(i);
    expect(ring.hasLost(0)).toBe(false);
    expect(ring.at(0)).toBe(0);

    ring.add(65_536);

    expect(ring.hasLost(0)).toBe(true);
    expect(ring.hasLost(1)).toBe(false);
    expect(ring.at(1)).toBe(1);
    expect(ring.at(65_536)).toBe(65_536);
  });
});
