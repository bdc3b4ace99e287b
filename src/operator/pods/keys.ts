// Names of labels and annotations that the translation of pods reads.

export const HOSTNAME_KEY = 'kubernetes.io/hostname';
/** Labels under which the scheduler finds the zone of a volume. */
export const ZONE_KEY_OF_NODES = ['topology.kubernetes.io/zone', 'failure-domain.beta.kubernetes.io/zone'];
export const REGION_KEY = ['topology.kubernetes.io/region', 'failure-domain.beta.kubernetes.io/region'];

export const INTERRUPTION_PENALTY = 'bigfleet.lucy.sh/interruption-penalty';
export const RECLAMATION_PENALTY = 'bigfleet.lucy.sh/reclamation-penalty';
/** On a pod or namespace, as label or annotation: BigFleet does not provide capacity for it. */
export const IGNORE = 'bigfleet.lucy.sh/ignore';
/** On a pod or namespace, as label: counts in mode `opt-in`. */
export const OPT_IN = 'bigfleet.lucy.sh/opt-in';
/** On a CapacityRequest: uid of the pod that it was made for. */
export const OWNED_BY_POD = 'bigfleet.lucy.sh/owned-by-pod';
