// Schemas of what machines cost per hour. telemetry/cost.ts computes it. Used by status.ts and clusters.ts.

import * as z from 'zod';
import { COST_PARTS } from '../telemetry/cost.ts';
import { view } from './schema.ts';

const dollars = z.number();

export const Cost = view(
  'Cost',
  'US dollars per hour of machines that have a host; amounts are whole micro-dollars.',
  {
    perHour: dollars.describe('The sum of `byPart`.'),
    byPart: z
      .record(z.enum(COST_PARTS), dollars)
      .describe('By what the machines do. `failed`: Failed machines that still have a host.'),
  },
);

export const costPerHour = dollars.describe('The total of `cost`.');

export const ownedCost = Cost.nullable().describe(
  'Cost of machines that the fleet owns, at the prices of the setting `ownedPrices`, which appear on no bill; null unless it is set.',
);
