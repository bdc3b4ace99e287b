// Flags of `bigfleet explain pod`, apart from pod.ts, which is loaded only for pods. Used by explain.ts and pod.ts.

/** Where `bigfleet operator manifests` puts the operator. */
export const DEFAULT_OPERATOR_NAMESPACE = 'bigfleet-system';

export interface PodFlags {
  readonly output: 'text' | 'json';
  readonly kubeconfig?: string;
  readonly context?: string;
  readonly operatorNamespace?: string;
}
