// What-if questions: changes to a copy of a fleet, and what the engine would decide differently. The validator of a request is
// in request.ts, which a thread that only answers does not load.

export type { Listed, WhatIfAnswer } from './answer.ts';
export type { WhatIfRequest } from './changes.ts';
export { whatIfOn } from './on-input.ts';
export { type AskHooks, WhatIf } from './what-if.ts';
