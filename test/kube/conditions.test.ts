// The condition of CapacityRequests on the fake control plane.

import { describeOn } from '../../testing/kube/suite.ts';
import { CONDITION_CASES } from './condition-cases.ts';

describeOn('fake', 'conditions of CapacityRequests', CONDITION_CASES);
