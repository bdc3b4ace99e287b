// A what-if question about the input of a decision, such as a scenario file. Used by `bigfleet whatif` and by tests.

import { type Fleet, fleetOf } from '../fleet/index.ts';
import type { DecisionInput, NeedKey } from '../model/index.ts';
import type { WhatIfAnswer } from './answer.ts';
import type { WhatIfRequest } from './changes.ts';
import type { MachineFacts } from './selection.ts';
import { WhatIf } from './what-if.ts';

export function whatIfOn(
  input: DecisionInput,
  request: WhatIfRequest,
  nameOf: (key: NeedKey) => string,
): WhatIfAnswer {
  const fleet = fleetOf(input);
  return new WhatIf(fleet, { facts: factsOf(input, fleet), nameOf }).ask(input.nowMs, input.options, request);
}

/** The provider of a machine without a host is not known. */
function factsOf(input: DecisionInput, fleet: Fleet): MachineFacts {
  const providers = new Map(input.machines.map(({ id, host }) => [id, host?.provider ?? '']));
  const hosted = new Set(input.machines.filter(({ host }) => host !== null).map(({ id }) => id));
  return {
    providerOf: (slot) => providers.get(fleet.machines.idOf(slot)) ?? '',
    hasFailedHost: (slot) => hosted.has(fleet.machines.idOf(slot)),
  };
}
