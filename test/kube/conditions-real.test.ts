// The condition of CapacityRequests on a real control plane, where there is one.

import { describeOn } from '../../testing/kube/suite.ts';
import { CONDITION_CASES, REFERENCE_CASES } from './condition-cases.ts';

describeOn('real', 'conditions of CapacityRequests', [...CONDITION_CASES, ...REFERENCE_CASES]);
