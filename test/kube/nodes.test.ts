// Nodes of fake kubelets, on the fake control plane. nodes-real.test.ts runs the same cases on a real one.

import { NODE_CASES } from '../../testing/kube/node-cases.ts';
import { describeOn } from '../../testing/kube/suite.ts';

// The fake shares an event loop with the kubelets, so that neither can be late alone.
describeOn('fake', 'nodes', NODE_CASES, { nodeMonitorGraceSeconds: 10 });
