// The end-to-end cases of the operator on the fake control plane.

import { describeCases } from './describe-cases.ts';
import { END_TO_END } from './end-to-end-cases.ts';
import { FRAGMENT_CASES } from './fragment-cases.ts';

// The longest one first.
describeCases('fake', 'the operator end to end', [...FRAGMENT_CASES, ...END_TO_END]);
