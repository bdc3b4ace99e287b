// The end-to-end cases of the operator on the fake control plane.

import { describeCases } from './describe-cases.ts';
import { END_TO_END } from './end-to-end-cases.ts';

describeCases('fake', 'the operator end to end', END_TO_END);
