// API semantics and workloads on the fake control plane. api-real.test.ts runs the same cases on a real one.

import { REFLECTOR_CASES } from '../../testing/kube/reflector-cases.ts';
import { SCHEMA_CASES } from '../../testing/kube/schema-cases.ts';
import { API_CASES } from '../../testing/kube/shared-cases.ts';
import { describeOn } from '../../testing/kube/suite.ts';
import { WORKLOAD_CASES } from '../../testing/kube/workload-cases.ts';

describeOn('fake', 'the API', [...API_CASES, ...WORKLOAD_CASES, ...REFLECTOR_CASES, ...SCHEMA_CASES]);
