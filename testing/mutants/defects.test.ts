import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { DEFECTS } from './defects.ts';

describe('defects put back on purpose', () => {
  it.each(DEFECTS)('"$name" still has its place in the source', ({ file, text, replacement }) => {
    expect(readFileSync(file, 'utf8').split(text)).toHaveLength(2);
    expect(replacement).not.toBe(text);
  });
});
