// What the API server fills into objects when they are created, as far as the operator or a scheduler reads it.

import { ApiError, invalid } from './api-errors.ts';
import type { ApiResource, StoredObject } from './api-resources.ts';
import type { Json } from './patches.ts';

interface DefaultingContext {
  priorityClasses(): Iterable<StoredObject>;
  nowMs: number;
}

type Fields = Record<string, unknown>;

export function withDefaults(
  resource: ApiResource,
  object: StoredObject,
  context: DefaultingContext,
): StoredObject {
  switch (resource.plural) {
    case 'pods':
      return podDefaults(object, context);
    case 'namespaces':
      return {
        ...object,
        metadata: {
          ...object.metadata,
          labels: { ...object.metadata.labels, 'kubernetes.io/metadata.name': object.metadata.name },
        },
        status: { phase: 'Active' },
      };
    case 'events':
      return eventViews(resource, object);
    default:
      return object;
  }
}

function podDefaults(pod: StoredObject, context: DefaultingContext): StoredObject {
  const spec = (pod['spec'] ?? {}) as Fields;
  const containers = spec['containers'];
  if (!Array.isArray(containers) || containers.length === 0)
    throw invalid('Pod', pod.metadata.name, 'spec.containers', 'Required value');
  const grace = (spec['terminationGracePeriodSeconds'] as number | undefined) ?? 30;
  const gates = (spec['schedulingGates'] ?? []) as readonly unknown[];
  const gated = {
    type: 'PodScheduled',
    status: 'False',
    reason: 'SchedulingGated',
    message: 'Scheduling is blocked due to non-empty scheduling gates',
    lastTransitionTime: new Date(context.nowMs).toISOString().replace(/\.\d+Z/, 'Z'),
  };
  return {
    ...pod,
    spec: {
      restartPolicy: 'Always',
      schedulerName: 'default-scheduler',
      ...spec,
      terminationGracePeriodSeconds: grace,
      containers: containers.map(containerDefaults),
      ...(Array.isArray(spec['initContainers'])
        ? { initContainers: spec['initContainers'].map(containerDefaults) }
        : {}),
      tolerations: tolerations(spec),
      ...priority(pod, spec, context),
    },
    status: { phase: 'Pending', ...(gates.length > 0 ? { conditions: [gated] } : {}) },
  };
}

/** Limits without requests are requests as well. */
function containerDefaults(container: unknown): unknown {
  const { resources, ...rest } = container as Fields & { resources?: { limits?: Json; requests?: Json } };
  if (resources?.limits === undefined) return container;
  return { ...rest, resources: { ...resources, requests: { ...resources.limits, ...resources.requests } } };
}

/** Pods stay on an unreachable node for five minutes. */
function tolerations(spec: Fields): unknown {
  const own = (spec['tolerations'] ?? []) as readonly { key?: string; effect?: string; operator?: string }[];
  const missing = ['node.kubernetes.io/not-ready', 'node.kubernetes.io/unreachable'].filter(
    (key) =>
      !own.some(
        (each) =>
          (each.key === key || (each.key === undefined && each.operator === 'Exists')) &&
          (each.effect === undefined || each.effect === 'NoExecute'),
      ),
  );
  return [
    ...own,
    ...missing.map((key) => ({ key, operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 300 })),
  ];
}

function priority(pod: StoredObject, spec: Fields, context: DefaultingContext): Fields {
  const name = spec['priorityClassName'] as string | undefined;
  const classes = [...context.priorityClasses()];
  const found =
    name === undefined
      ? classes.find((each) => each['globalDefault'] === true)
      : classes.find((each) => each.metadata.name === name);
  if (name !== undefined && found === undefined)
    throw new ApiError(
      403,
      'Forbidden',
      `pods "${pod.metadata.name}" is forbidden: no PriorityClass with name ${name} was found`,
    );
  return {
    priority: (found?.['value'] as number | undefined) ?? 0,
    ...(found === undefined ? {} : { priorityClassName: found.metadata.name }),
    preemptionPolicy: found?.['preemptionPolicy'] ?? 'PreemptLowerPriority',
  };
}

/** Events are one object with two views: v1 and events.k8s.io/v1. The fake keeps the fields of both. */
function eventViews(resource: ApiResource, event: StoredObject): StoredObject {
  if (resource.group === '') {
    const source = (event['source'] ?? {}) as { component?: string };
    return {
      ...event,
      note: event['message'],
      regarding: event['involvedObject'],
      reportingController: event['reportingComponent'] ?? source.component,
    };
  }
  for (const field of ['eventTime', 'reportingController', 'reportingInstance', 'action', 'reason'])
    if ((event[field] ?? '') === '') throw invalid('Event', event.metadata.name, field, 'Required value');
  if (((event['note'] ?? '') as string).length > 1024)
    throw invalid('Event', event.metadata.name, 'note', 'can have at most 1024 bytes');
  const regarding = (event['regarding'] ?? {}) as { namespace?: string };
  if ((regarding.namespace ?? 'default') !== event.metadata.namespace)
    throw invalid('Event', event.metadata.name, 'regarding.namespace', 'does not match event.namespace');
  return {
    ...event,
    message: event['note'],
    involvedObject: event['regarding'],
    reportingComponent: event['reportingController'],
  };
}
