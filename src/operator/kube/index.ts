// The Kubernetes client of the operator: requests, watches, reflectors, Events, and how to connect.
//
//   const connection = isInCluster() ? inClusterConnection() : loadKubeconfig({ path, context });
//   const client = new HttpKubeClient({ connection, userAgent: 'bigfleet-operator/0.1.0' });

export {
  type KubeClient,
  KubeError,
  type PatchOptions,
  type PatchType,
  type Query,
  type RequestOptions,
  type WatchEvent,
} from './client.ts';
export {
  fixedText,
  type KubeConnection,
  staticCredentials,
} from './connection.ts';
export { EventRecorder } from './events.ts';
export { HttpKubeClient } from './http-client.ts';
export { inClusterConnection, isInCluster } from './in-cluster.ts';
export { loadKubeconfig } from './kubeconfig.ts';
export type {
  Container,
  KubeList,
  KubeObject,
  LabelSelector,
  Node,
  NodeSelectorTerm,
  NodeTaint,
  PersistentVolume,
  Pod,
  PodAffinityTerm,
  PodDisruptionBudget,
  ResourceList,
  SelectorExpression,
  TopologySpreadConstraint,
} from './objects.ts';
export { apiVersionOf, pathOf, RESOURCES, type Resource } from './paths.ts';
export type { ObjectConsumer, ReflectorState } from './reflector.ts';
export { Reflector } from './reflector-loop.ts';
export {
  applyObject,
  createLease,
  evictPod,
  getLease,
  type Lease,
  microTime,
  updateLease,
} from './writes.ts';
