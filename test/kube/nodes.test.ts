// Nodes of fake kubelets, on both control planes. Two control planes of each kind may run at once.

import { GRACE_SECONDS, NODE_CASES } from '../../testing/kube/node-cases.ts';
import { describeOn } from '../../testing/kube/suite.ts';

const OPTIONS = { nodeMonitorGraceSeconds: GRACE_SECONDS };

describeOn('fake', 'nodes', NODE_CASES, OPTIONS);
describeOn('real', 'nodes', NODE_CASES, OPTIONS);
