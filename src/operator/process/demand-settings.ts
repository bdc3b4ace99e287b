// Settings of the translation from pods to demand: which pods count, and what is added to what they ask for. One section
// of settings.ts. Types and defaults are those of pods/settings.ts, which reads them.

import * as z from 'zod';
import type { SelectorExpression } from '../kube/objects.ts';
import { DEFAULT_TRANSLATION, type PenaltyDefaults, type TaintRule } from '../pods/settings.ts';
import { duration, oneOf, SWITCH, section, setting, structured } from './setting-types.ts';

const labelKey = z.string().min(1).max(317);
const labelValue = z.string().max(63);

const expression = z
  .strictObject({
    key: labelKey,
    operator: z.literal(['In', 'NotIn', 'Exists', 'DoesNotExist']),
    values: z.array(labelValue).max(1024).optional(),
  })
  .refine(({ operator, values = [] }) => operator.endsWith('In') === values.length > 0, {
    message: 'In and NotIn have values, Exists and DoesNotExist have none.',
    path: ['values'],
  });

const selector = z
  .strictObject({
    matchLabels: z.record(labelKey, labelValue).optional(),
    matchExpressions: z.array(expression).max(16).optional(),
  })
  .refine(
    ({ matchLabels = {}, matchExpressions = [] }) =>
      Object.keys(matchLabels).length + matchExpressions.length > 0,
    { message: 'A selector without conditions would taint every node.' },
  );

const taint = z.strictObject({
  key: labelKey,
  value: labelValue.optional(),
  effect: z.literal(['NoSchedule', 'PreferNoSchedule', 'NoExecute']),
});

const penalty = z.union([z.string().max(64), z.number().min(0)]);

const EXPRESSIONS = structured<readonly SelectorExpression[]>(
  'a list of { key, operator, values }',
  z.array(expression).max(32) as unknown as z.ZodType<readonly SelectorExpression[]>,
);

const TAINT_RULES = structured<readonly TaintRule[]>(
  'a list of { selector, taints }',
  z
    .array(z.strictObject({ selector, taints: z.array(taint).min(1).max(16) }))
    .max(32) as unknown as z.ZodType<readonly TaintRule[]>,
);

const PENALTIES = structured<Readonly<Record<string, PenaltyDefaults>>>(
  'by name of a PriorityClass: { interruptionPenalty, reclamationPenalty } in dollars',
  z.record(
    z.string(),
    z.strictObject({ interruptionPenalty: penalty.optional(), reclamationPenalty: penalty.optional() }),
  ) as unknown as z.ZodType<Readonly<Record<string, PenaltyDefaults>>>,
);

const LABELS = structured<Readonly<Record<string, string>>>('labels by key', z.record(labelKey, labelValue));
const VALUES = structured<Readonly<Record<string, readonly string[]>>>(
  'lists of values by label key',
  z.record(labelKey, z.array(labelValue).max(1024)),
);

export const DEMAND_SECTION = section({
  mode: setting(
    oneOf('all', 'opt-in'),
    'all' as const,
    'Which pods that wait for a node count. `opt-in`: only those with the label bigfleet.lucy.sh/opt-in=true on the pod or its namespace, while another autoscaler serves the rest.',
  ),
  defaultRequirements: setting(
    EXPRESSIONS,
    DEFAULT_TRANSLATION.defaultRequirements,
    'Added to what a pod asks for if the pod says nothing about that label. Without one for the architecture, images for amd64 may land on cheaper arm64 machines.',
  ),
  taints: setting(
    TAINT_RULES,
    DEFAULT_TRANSLATION.taints,
    'Taints of nodes by their labels. New nodes register with them, and pods that do not tolerate them do not ask for such machines.',
  ),
  priorityClassDefaults: setting(
    PENALTIES,
    DEFAULT_TRANSLATION.priorityClassDefaults,
    'Penalties of pods without the annotations, in dollars.',
  ),
  nodeLabels: setting(
    LABELS,
    DEFAULT_TRANSLATION.nodeLabels,
    'Labels of every node that BigFleet adds; they decide which DaemonSets will run there.',
  ),
  knownValues: setting(
    VALUES,
    DEFAULT_TRANSLATION.knownValues,
    'Values that labels of machines have, for the operators Gt and Lt before a node with one of them was seen.',
  ),
  countPods: setting(
    SWITCH,
    DEFAULT_TRANSLATION.countPods,
    'Whether each pod also asks for one unit of the resource pods. Only for providers whose machines declare it.',
  ),
  alternativePatience: setting(
    duration('10s'),
    5 * 60_000,
    'How long a row may stay short before its pods ask for the next term of their node affinity. With a shard that does not say which rows are short, twice nodes.joinTimeout if that is longer.',
  ),
});
