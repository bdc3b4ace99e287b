// What-if questions about scenario files. A separate file, loaded by commands.ts, because loading the engine costs more than
// the rest of the command.

import { needId } from '../../shard/planning/queries/need-names.ts';
import { whatIfOn } from '../../whatif/index.ts';
import type { Answerer } from './command.ts';

export const ANSWERER: Answerer = (input, request) => whatIfOn(input, request, needId);
