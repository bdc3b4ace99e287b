// Nodes of fake kubelets, on a real control plane, where there is one.

import { GRACE_SECONDS, NODE_CASES } from '../../testing/kube/node-cases.ts';
import { describeOn } from '../../testing/kube/suite.ts';

describeOn('real', 'nodes', NODE_CASES, { nodeMonitorGraceSeconds: GRACE_SECONDS });
