// Kubernetes objects, as far as the operator reads or writes them. Fields that the API server may leave out are optional;
// nothing here is validated, so readers must expect any text in a field.

export interface ObjectMeta {
  readonly name: string;
  readonly namespace?: string;
  readonly uid?: string;
  readonly resourceVersion?: string;
  readonly creationTimestamp?: string;
  readonly deletionTimestamp?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly ownerReferences?: readonly OwnerReference[];
  readonly finalizers?: readonly string[];
}

interface OwnerReference {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
  readonly controller?: boolean;
}

export interface KubeObject {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly metadata: ObjectMeta;
}

export interface KubeList<T extends KubeObject> {
  readonly metadata: {
    readonly resourceVersion: string;
    readonly continue?: string;
    readonly remainingItemCount?: number;
  };
  readonly items: readonly T[];
}

/** Resource name to quantity text; JSON numbers occur as well. */
export type ResourceList = Readonly<Record<string, string | number>>;

export interface ResourceRequirements {
  readonly requests?: ResourceList;
  readonly limits?: ResourceList;
}

export interface Container {
  readonly name: string;
  readonly resources?: ResourceRequirements;
  /** 'Always' on an init container makes it a sidecar. */
  readonly restartPolicy?: string;
  readonly ports?: readonly { readonly hostPort?: number }[];
}

export interface ContainerStatus {
  readonly name: string;
  readonly allocatedResources?: ResourceList;
  readonly resources?: ResourceRequirements;
}

export interface LabelSelector {
  readonly matchLabels?: Readonly<Record<string, string>>;
  readonly matchExpressions?: readonly SelectorExpression[];
}

/** Of label selectors and of node affinity, which has `Gt` and `Lt` as well. */
export interface SelectorExpression {
  readonly key: string;
  readonly operator: string;
  readonly values?: readonly string[];
}

export interface NodeSelectorTerm {
  readonly matchExpressions?: readonly SelectorExpression[];
  readonly matchFields?: readonly SelectorExpression[];
}

export interface PodAffinityTerm {
  readonly labelSelector?: LabelSelector;
  readonly topologyKey: string;
  readonly namespaces?: readonly string[];
  readonly namespaceSelector?: LabelSelector;
}

export interface TopologySpreadConstraint {
  readonly maxSkew: number;
  readonly topologyKey: string;
  readonly whenUnsatisfiable: string;
  readonly labelSelector?: LabelSelector;
  readonly minDomains?: number;
}

export interface Toleration {
  readonly key?: string;
  readonly operator?: string;
  readonly value?: string;
  readonly effect?: string;
}

export interface NodeTaint {
  readonly key: string;
  readonly value?: string;
  readonly effect: string;
}

export interface Condition {
  readonly type: string;
  readonly status: string;
  readonly reason?: string;
  readonly message?: string;
  readonly lastTransitionTime?: string;
  /** Of conditions of nodes. */
  readonly lastHeartbeatTime?: string;
}

export interface Pod extends KubeObject {
  readonly spec: {
    readonly nodeName?: string;
    readonly containers: readonly Container[];
    readonly initContainers?: readonly Container[];
    readonly resources?: ResourceRequirements;
    readonly overhead?: ResourceList;
    readonly nodeSelector?: Readonly<Record<string, string>>;
    readonly affinity?: {
      readonly nodeAffinity?: {
        readonly requiredDuringSchedulingIgnoredDuringExecution?: {
          readonly nodeSelectorTerms?: readonly NodeSelectorTerm[];
        };
      };
      readonly podAffinity?: {
        readonly requiredDuringSchedulingIgnoredDuringExecution?: readonly PodAffinityTerm[];
      };
      readonly podAntiAffinity?: {
        readonly requiredDuringSchedulingIgnoredDuringExecution?: readonly PodAffinityTerm[];
      };
    };
    readonly topologySpreadConstraints?: readonly TopologySpreadConstraint[];
    readonly tolerations?: readonly Toleration[];
    readonly volumes?: readonly PodVolume[];
    readonly resourceClaims?: readonly unknown[];
    readonly priority?: number;
    readonly priorityClassName?: string;
    readonly schedulingGates?: readonly { readonly name: string }[];
    readonly terminationGracePeriodSeconds?: number;
    readonly hostNetwork?: boolean;
  };
  readonly status?: {
    readonly phase?: string;
    readonly conditions?: readonly Condition[];
    readonly containerStatuses?: readonly ContainerStatus[];
    readonly initContainerStatuses?: readonly ContainerStatus[];
    readonly resize?: string;
    /** Of pod-level resources, while they are resized in place. */
    readonly resources?: ResourceRequirements;
    readonly allocatedResources?: ResourceList;
  };
}

interface PodVolume {
  readonly name: string;
  readonly persistentVolumeClaim?: { readonly claimName: string };
  readonly ephemeral?: unknown;
}

export interface Node extends KubeObject {
  readonly spec?: {
    readonly providerID?: string;
    readonly unschedulable?: boolean;
    readonly taints?: readonly NodeTaint[];
  };
  readonly status?: {
    readonly allocatable?: ResourceList;
    readonly capacity?: ResourceList;
    readonly conditions?: readonly Condition[];
  };
}

export interface Namespace extends KubeObject {}

export interface DaemonSet extends KubeObject {
  readonly spec: {
    readonly template: { readonly metadata?: Partial<ObjectMeta>; readonly spec: Pod['spec'] };
  };
}

export interface PersistentVolumeClaim extends KubeObject {
  readonly spec: { readonly volumeName?: string; readonly storageClassName?: string };
}

export interface PersistentVolume extends KubeObject {
  readonly spec: {
    readonly nodeAffinity?: {
      readonly required?: { readonly nodeSelectorTerms: readonly NodeSelectorTerm[] };
    };
  };
}

export interface PodDisruptionBudget extends KubeObject {
  readonly spec: {
    readonly selector?: LabelSelector;
    /** `AlwaysAllow` or, by default, `IfHealthyBudget`. */
    readonly unhealthyPodEvictionPolicy?: string;
  };
  readonly status?: {
    readonly disruptionsAllowed?: number;
    readonly currentHealthy?: number;
    readonly desiredHealthy?: number;
  };
}

export interface PriorityClass extends KubeObject {
  readonly value: number;
  readonly globalDefault?: boolean;
}

export interface CapacityRequest extends KubeObject {
  readonly spec: {
    readonly requirements?: readonly SelectorExpression[];
    readonly resources: ResourceList;
    readonly priority: number;
    readonly topologySpread?: readonly {
      readonly maxSkew: number;
      readonly topologyKey: string;
      readonly whenUnsatisfiable: string;
    }[];
    readonly coLocation?: { readonly topologyKey: string; readonly labelSelector?: LabelSelector };
    readonly interruptionPenalty?: string | number;
    readonly reclamationPenalty?: string | number;
  };
  readonly status?: {
    readonly phase?: string;
    readonly acknowledgedAt?: string;
    readonly conditions?: readonly Condition[];
  };
}

/** An error answer of the API server. */
export interface KubeStatus {
  readonly kind: 'Status';
  readonly status?: string;
  readonly message?: string;
  readonly reason?: string;
  readonly code?: number;
  readonly details?: {
    readonly name?: string;
    readonly kind?: string;
    readonly retryAfterSeconds?: number;
    readonly causes?: readonly {
      readonly reason?: string;
      readonly message?: string;
      readonly field?: string;
    }[];
  };
}
