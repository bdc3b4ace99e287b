// The questions that are measured. `main.ts` asks them.

import {
  CapacityType,
  DEFAULT_SCORE_WEIGHTS,
  type DecisionOptions,
  SHARED_OPTIONS,
} from '../../src/model/index.ts';
import { requireValid } from '../../src/runtime/validation.ts';
import type { WhatIfRequest } from '../../src/whatif/index.ts';
import { WHAT_IF_REQUEST } from '../../src/whatif/request.ts';

export const NOW_MS = Date.UTC(2026, 0, 1);

export const OPTIONS: DecisionOptions = {
  readyClusters: null,
  cannotBind: new Set(),
  releaseHoldSeconds: new Map([
    [CapacityType.OnDemand, 600],
    [CapacityType.Spot, 60],
  ]),
  weights: DEFAULT_SCORE_WEIGHTS,
  retiring: new Set(),
  ...SHARED_OPTIONS,
};

function request(changes: object, settle = 0): WhatIfRequest {
  return requireValid(WHAT_IF_REQUEST, { changes, settle }, 'BF_INPUT_INVALID', 'question');
}

export const QUESTIONS: Readonly<Record<string, WhatIfRequest>> = {
  nothing: request({}),
  'without a capacity type': request({ without: [{ capacityType: 'on-demand' }] }),
  'price of a capacity type': request({ prices: [{ match: { capacityType: 'on-demand' }, times: 2 }] }),
  'demand of a tenth of the clusters': request({ demand: [{ cluster: '*7', times: 1.5 }] }),
  'priority of a cluster': request({ priorities: [{ cluster: '*0007', set: 900_000 }] }),
  'sharing off': request({ options: { sharing: 'off' } }),
  'demand of a tenth of the clusters, settled': request({ demand: [{ cluster: '*7', times: 1.5 }] }, 20),
};
