// The operator among faults of all kinds, on the fake control plane.

import { BAD_INPUT_CASES } from './bad-input-cases.ts';
import { CHAOS_CASES } from './chaos-cases.ts';
import { describeCases } from './describe-cases.ts';
import { FAULT_CASES } from './fault-cases.ts';

describeCases('fake', 'the operator among faults', [...CHAOS_CASES, ...FAULT_CASES, ...BAD_INPUT_CASES]);
