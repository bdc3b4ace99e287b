// What-if questions: changes to a copy of a fleet, and what the engine would decide differently.

export type { WhatIfAction, WhatIfAnswer, WhatIfCost, WhatIfVerdict } from './answer.ts';
export type { World } from './change-fleet.ts';
export type { Changes, WhatIfRequest } from './changes.ts';
export { whatIfOn } from './on-input.ts';
export { CHANGES, WHAT_IF_REQUEST } from './request.ts';
export type { MachineFacts } from './selection.ts';
export type { AskHooks } from './what-if.ts';
export { WhatIf } from './what-if.ts';
