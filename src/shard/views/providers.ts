// Schemas of `/v1/providers` and of the providers in `/v1/status`: state of a provider's calls and health of its machines, by
// zone.

import * as z from 'zod';
import { count, errorClass, page, timeMs, type View, view } from './schema.ts';

const healthState = z.enum(['fine', 'degraded', 'failing']);

const healthCounts = {
  machines: count.describe('Machines with a host.'),
  failing: count,
  failedPurchases: count.describe('Of the failing machines, those whose purchase failed.'),
};

export const ZoneHealth = view('ZoneHealth', 'The machines of a provider in one zone.', {
  zone: z.string(),
  state: healthState.describe(
    '`failing`: at least half of its machines are failing. `degraded`: at least a fifth.',
  ),
  ...healthCounts,
  errorClass: errorClass.describe('The class that most of the errors have.'),
  error: z.string().describe('The newest error of that class, in the words of the provider.'),
});
export type ZoneHealth = View<typeof ZoneHealth>;

export const ProviderHealth = view(
  'ProviderHealth',
  'The condition of the machines of a provider, whether or not its calls are answered. A machine is failing while it is Failed, and for five minutes after it left that state, was lost, or its purchase failed, unless it has worked since.',
  {
    state: healthState.describe(
      '`failing`: at least half of its machines are failing. `degraded`: at least a twentieth, or a zone that is not fine.',
    ),
    ...healthCounts,
    zones: z.array(ZoneHealth).describe('Zones with failing machines, the worst first; at most 20.'),
  },
);
export type ProviderHealth = View<typeof ProviderHealth>;

export const ProviderView = view('ProviderView', 'A provider.', {
  name: z.string(),
  breaker: z.enum(['closed', 'open', 'half-open']).describe('The circuit breaker of its calls.'),
  denial: z
    .string()
    .describe('Why the provider refuses changes by this shard, in its own words; empty if it accepts them.'),
  machines: count,
  waiting: count.describe('Calls in the queue of the provider.'),
  hasListed: z.boolean(),
  lastListMs: timeMs.nullable(),
  lastError: z.string().describe('Error of the last List; empty if it succeeded.'),
  heldLosses: count.describe(
    'Machines missing from a List that lost many of them; they are kept until the List is confirmed.',
  ),
  health: ProviderHealth,
});
export type ProviderView = View<typeof ProviderView>;

export const ProviderPage = page('ProviderPage', ProviderView);
