// The table of pod shapes against the scheduler of the fake control plane. It keeps a core busy, so it has a process of its
// own.

import { describeCases } from './describe-cases.ts';
import { SHAPE_CASES } from './shape-cases.ts';

describeCases('fake', 'the shapes of pods', SHAPE_CASES);
