// API semantics and workloads on a real control plane, where there is one: what passes here and in fake.test.ts is what the
// fake may be trusted for.

import { REFLECTOR_CASES } from '../../testing/kube/reflector-cases.ts';
import { SCHEMA_CASES } from '../../testing/kube/schema-cases.ts';
import { API_CASES } from '../../testing/kube/shared-cases.ts';
import { describeOn } from '../../testing/kube/suite.ts';
import { WORKLOAD_CASES } from '../../testing/kube/workload-cases.ts';

describeOn('real', 'the API', [...API_CASES, ...WORKLOAD_CASES, ...REFLECTOR_CASES, ...SCHEMA_CASES]);
