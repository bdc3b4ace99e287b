// Words that the parts of the operator which handle nodes share: Events, counters, the log, and which nodes are managed.
// Used by nodes/, drain/, verdicts/ and episodes/; the process wires in the real ones.

/** What an Event is about. */
export interface ObjectReference {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly namespace?: string;
  readonly uid?: string;
}

/** Writes Kubernetes Events. Never throws and never blocks; the implementation limits the rate and merges repetitions. */
export interface EventSink {
  event(object: ObjectReference, type: 'Normal' | 'Warning', reason: string, message: string): void;
}

/** Counters, gauges and durations by their full name, such as `bigfleet_operator_drains_total`. */
export interface OperatorMetrics {
  count(name: string, labels?: Readonly<Record<string, string>>, by?: number): void;
  gauge(name: string, value: number, labels?: Readonly<Record<string, string>>): void;
  observe(name: string, seconds: number, labels?: Readonly<Record<string, string>>): void;
}

/** One line of the log; `event` is a stable name. */
export type OperatorLog = (
  level: 'debug' | 'info' | 'warn' | 'error',
  event: string,
  fields?: Readonly<Record<string, unknown>>,
) => void;

/** The nodes of machines that the shard has given to this cluster. */
export interface ManagedNodes {
  /** The machine of a node; null if BigFleet does not manage the node. */
  machineOf(nodeName: string): string | null;
  /** Calls the listener whenever `machineOf` of a node changes, with the name of the node. Returns the end of it. */
  onManagedChange(listener: (nodeName: string) => void): () => void;
}

/** On nodes: the machine, set by the bootstrap or by the operator once it has tied the node by another id. */
export const MACHINE_LABEL = 'bigfleet.lucy.sh/machine';

export function nodeReference(name: string, uid = ''): ObjectReference {
  // Events on nodes are found by name; kubectl describe expects the name as uid where none is known.
  return { apiVersion: 'v1', kind: 'Node', name, uid: uid === '' ? name : uid };
}
