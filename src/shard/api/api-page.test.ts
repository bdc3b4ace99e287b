// The page of the API beside its routes and refusals.

import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { Refusal } from './refusal.ts';
import { ROUTES } from './routes.ts';

describe('docs/reference/api.md', () => {
  const page = readFileSync('docs/reference/api.md', 'utf8');

  it('has a section for every route, and for no other', () => {
    const sections = [...page.matchAll(/^### `((?:GET|POST|DELETE) [^`]*)`/gm)].map(([, route]) => route!);
    expect(sections.toSorted()).toEqual(ROUTES.map(({ method, path }) => `${method} ${path}`).toSorted());
  });

  it('has every refusal with its code', () => {
    const rows = [...page.matchAll(/^\| (\d{3}) \| `(\w+)` \|/gm)];
    expect(rows.length).toBeGreaterThan(8);
    for (const [, status, code] of rows)
      expect(new Refusal(Number(status) as Refusal['status'], '').code).toBe(code);
  });
});
