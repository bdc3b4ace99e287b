// All catalogues by name, as the scale profiles of benchmarks (bench/profiles) refer to them.

import type { Catalogue } from './catalogue.ts';
import { COST_ROUTING } from './cost-routing.ts';
import { REALISTIC } from './realistic.ts';
import { REALISTIC_DEV } from './realistic-dev.ts';
import { REALISTIC_RACKS } from './realistic-racks.ts';
import { SIX_ARCHETYPES } from './six-archetypes.ts';

const CATALOGUES: readonly Catalogue[] = [
  REALISTIC,
  REALISTIC_DEV,
  REALISTIC_RACKS,
  COST_ROUTING,
  SIX_ARCHETYPES,
];

export const CATALOGUE_NAMES: readonly string[] = CATALOGUES.map(({ name }) => name);

export function catalogueOf(name: string): Catalogue | undefined {
  return CATALOGUES.find((catalogue) => catalogue.name === name);
}
