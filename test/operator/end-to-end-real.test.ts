// All end-to-end cases of the operator on a real control plane, where there is one.

import { BAD_INPUT_CASES } from './bad-input-cases.ts';
import { CHAOS_CASES } from './chaos-cases.ts';
import { describeCases } from './describe-cases.ts';
import { END_TO_END } from './end-to-end-cases.ts';
import { FAULT_CASES } from './fault-cases.ts';
import { FRAGMENT_CASES, REST_CASES } from './fragment-cases.ts';
import { INSTALL_CASES } from './install-cases.ts';
import { OBJECT_CASES } from './object-cases.ts';
import { REPLICA_CASES } from './replica-cases.ts';
import { SHAPE_CASES } from './shape-cases.ts';

describeCases('real', 'the operator end to end', [
  ...INSTALL_CASES,
  ...END_TO_END,
  ...OBJECT_CASES,
  ...REPLICA_CASES,
  ...FAULT_CASES,
  ...BAD_INPUT_CASES,
  ...CHAOS_CASES,
  ...FRAGMENT_CASES,
  ...SHAPE_CASES,
  ...REST_CASES,
]);
