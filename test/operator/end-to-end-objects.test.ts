// The objects of the operator, replicas and retired clusters, on the fake control plane.

import { describeCases } from './describe-cases.ts';
import { OBJECT_CASES } from './object-cases.ts';
import { REPLICA_CASES } from './replica-cases.ts';

describeCases('fake', 'the operator as it is installed', [...REPLICA_CASES, ...OBJECT_CASES]);
