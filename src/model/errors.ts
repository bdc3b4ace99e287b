// The one error catalogue. Every refusal in BigFleet has a stable code from here; `docs/reference/errors.md` is
// made from this file and `bigfleet explain CODE` prints an entry.

interface CatalogueEntry {
  /** What went wrong, in one line. */
  readonly summary: string;
  /** What the person who meets it should do. */
  readonly remedy: string;
}

/** The catalogue: a one-line summary and a remedy for every code. */
export const ERRORS = {
  BF_QUANTITY_SYNTAX: {
    summary: 'A resource quantity does not follow the Kubernetes grammar.',
    remedy:
      'Write a number with an optional suffix: n u m k M G T P E, Ki Mi Gi Ti Pi Ei, or an exponent such as e3.',
  },
  BF_QUANTITY_NEGATIVE: {
    summary: 'A resource quantity is below zero where only zero or more makes sense.',
    remedy: 'Demand and capacity are never negative; report 0 or leave the resource out.',
  },
  BF_QUANTITY_OVERFLOW: {
    summary:
      'A resource quantity is larger than 2^53 - 1 units (milli-units for cpu), so it cannot be counted exactly.',
    remedy: 'Split the demand, or check the unit: 2^53 bytes are 8 PiB.',
  },
  BF_RESOURCE_NAME: {
    summary: 'A resource has an empty name.',
    remedy: 'Name the resource, for example cpu, memory or nvidia.com/gpu.',
  },
  BF_DIMENSION_LIMIT: {
    summary: 'The fleet uses more resource names than the ledger can count.',
    remedy: 'Leave out resources that no decision needs; up to 16 names may be in use at a time.',
  },
  BF_OPERATOR_UNKNOWN: {
    summary: 'A requirement uses an operator that this version does not know.',
    remedy: 'Use In, NotIn, Exists, DoesNotExist or Same.',
  },
  BF_REQUIREMENT_KEY: {
    summary: 'A requirement or a spread term has no key.',
    remedy: 'Name the label, for example topology.kubernetes.io/zone.',
  },
  BF_BUCKET_RANGE: {
    summary: 'A penalty bucket is outside 0 to 27.',
    remedy: 'Send a PenaltyBucket value; 27 means pinned.',
  },
  BF_PENALTY_NOT_A_NUMBER: {
    summary: 'A penalty in dollars is not a number.',
    remedy: 'Give dollars as a number; negative counts as zero, anything above 8,388,608 means pinned.',
  },
  BF_CLUSTER_EMPTY: {
    summary: 'A message names no cluster.',
    remedy: 'Set cluster_id; it must be the cluster the session belongs to.',
  },
  BF_CLUSTER_MISMATCH: {
    summary: 'A roll-up names another cluster than the session it came through.',
    remedy: 'A cluster reports its own demand only; check the cluster id of the operator.',
  },
  BF_MACHINE_ID_EMPTY: {
    summary: 'A machine record has no id.',
    remedy: 'The provider must give each machine an id that stays the same for its whole life.',
  },
  BF_MACHINE_STATE_UNSPECIFIED: {
    summary: 'A machine record has no state.',
    remedy: 'Report one of the eight machine states.',
  },
  BF_MACHINE_STATE_UNKNOWN: {
    summary: 'A machine record has a state number that this version does not know.',
    remedy: 'Report one of the eight machine states (1 to 8); check that both sides speak the same version.',
  },
  BF_MACHINE_CAPACITY_TYPE_UNKNOWN: {
    summary: 'A machine record has a capacity type number that this version does not know.',
    remedy: 'Report bare metal, reserved, on-demand or spot (1 to 4), or leave it unset (0).',
  },
  BF_MACHINE_HOST_FORBIDDEN: {
    summary: 'A Speculative or Creating machine has a host; nothing exists yet in those states.',
    remedy: 'Attach the host when the machine reaches Idle.',
  },
  BF_MACHINE_HOST_MISSING: {
    summary: 'A machine past Creating has no host.',
    remedy: 'Report the host of every Idle, Configuring, Configured, Draining or Deleting machine.',
  },
  BF_MACHINE_CLUSTER_FORBIDDEN: {
    summary: 'A machine that cannot be bound names a cluster.',
    remedy: 'Clear the cluster in Speculative, Creating, Idle and Deleting.',
  },
  BF_MACHINE_CLUSTER_MISSING: {
    summary: 'A Configured or Draining machine names no cluster.',
    remedy: 'Report the cluster given to Configure until the drain has reached Idle.',
  },
  BF_MACHINE_ERROR_MISSING: {
    summary: 'A Failed machine has no error text.',
    remedy: 'Say in last_error what failed.',
  },
  BF_MACHINE_LIMIT: {
    summary: 'A machine record has a name that is too long, or too many labels or resources.',
    remedy:
      'Shorten the name or leave labels out; the limit is in the message. The last good record of the machine stays in force.',
  },
  BF_MACHINE_PRICE: {
    summary: 'A machine price is negative, infinite or not a number.',
    remedy: 'Report USD per hour, finite and at least 0.',
  },
  BF_MACHINE_PROBABILITY: {
    summary: 'An interruption probability is outside 0 to 1 or not a number.',
    remedy: 'Report the chance of an interruption within an hour, between 0 and 1.',
  },
  BF_MOVE_ILLEGAL: {
    summary: 'A command is not allowed in the state of its machine.',
    remedy: 'See the table of commands in docs/internals/architecture.md; the machine keeps its state.',
  },
  BF_MACHINE_UNKNOWN: {
    summary: 'A change names a machine that is not on record.',
    remedy: 'The machine left the fleet, or was never listed; the change was dropped.',
  },
  BF_STAMP_MISPLACED: {
    summary: 'A stamp is for a row of a cluster that the machine is not bound to.',
    remedy:
      'Only bound machines are stamped, each for its own cluster; the machine moved since, or the row is wrong.',
  },
  BF_TARGET_MISPLACED: {
    summary: 'A new target is for a machine that does not drain.',
    remedy: 'Only a draining machine whose row is gone gets another row as target; the machine moved since.',
  },
  BF_DRAIN_SECONDS: {
    summary: 'A measured drain time is negative, infinite or not a number.',
    remedy: 'Report seconds, finite and at least 0.',
  },
  BF_JOURNAL_FULL: {
    summary: 'More changes are pending than may be kept in memory.',
    remedy:
      'Pending changes are applied by the next cycle; if this persists, cycles do not keep up with reports.',
  },
  BF_TOKEN_STALE: {
    summary: 'A fencing token is not newer than the last one from this shard for this machine.',
    remedy:
      'Another process acts for this shard, or a call was repeated with its old number: stop the older process, and use a new sequence number for every attempt.',
  },
  BF_REQUEST_MACHINE_EMPTY: {
    summary: 'A call to a provider names no machine.',
    remedy: 'Set the id of the machine, as List reports it.',
  },
  BF_REQUEST_GRACE: {
    summary: 'A grace period is negative.',
    remedy: 'Give the seconds that pods get to leave, 0 or more; nothing was drained.',
  },
  BF_REQUEST_STATE: {
    summary: 'A List asks for a state that this version does not know.',
    remedy: 'Use the states 1 to 8, or none for all machines.',
  },
  BF_REQUEST_LIMIT: {
    summary: 'A List asks for a negative number of machines.',
    remedy: 'Use 0 for all machines, or a number above 0.',
  },
  BF_LIST_TOO_LARGE: {
    summary: 'A list of machines does not fit one message.',
    remedy: 'List one state at a time, or only what changed since the last revision.',
  },
  BF_LIST_DUPLICATE: {
    summary: 'A list names one machine twice.',
    remedy: 'The provider must list each id once; the last good record of the machine stays in force.',
  },
  BF_LIST_REVISION: {
    summary:
      'The revision of a list is invalid: it did not change with the machines, went back, or is too long.',
    remedy:
      'The provider must give every change a revision of its own; a full list was read instead of the changes.',
  },
  BF_CALL_FENCED: {
    summary: 'A provider refused a call because a newer process acts for this shard.',
    remedy:
      'Never repeat it. Stop the older process; if there is none, calls for one machine overtook each other.',
  },
  BF_CALL_NOT_FOUND: {
    summary: 'A provider does not know the machine of a call.',
    remedy: 'Read a full List; the machine left the provider.',
  },
  BF_CALL_UNIMPLEMENTED: {
    summary: 'A provider does not offer a call.',
    remedy: 'Do not call it again; some providers cannot delete hosts.',
  },
  BF_CALL_INVALID: {
    summary: 'A provider refused the content of a call.',
    remedy: 'Correct what the message names; nothing was changed.',
  },
  BF_CALL_POSITION: {
    summary: 'A provider refused a transition because the machine is in another state.',
    remedy: 'Read the machine with Get and decide again.',
  },
  BF_CALL_DENIED: {
    summary: 'A provider does not accept the identity of this process.',
    remedy: 'Check the certificate: a shard calls as bigfleet://shard/ID, with the id in its token.',
  },
  BF_CALL_THROTTLED: {
    summary: 'A provider throttles this caller.',
    remedy: 'Wait and try again; start fewer transitions at a time if it lasts.',
  },
  BF_CALL_TOO_LARGE: {
    summary: 'A request or response of a provider exceeds the size limit of a message.',
    remedy: 'Lists are split by state by themselves; if one state alone is too large, split the provider.',
  },
  BF_CALL_UNAVAILABLE: {
    summary: 'A provider cannot be reached, or the connection broke before its answer.',
    remedy: 'Check that it runs and that the address is right; the call may or may not have taken effect.',
  },
  BF_CALL_DEADLINE: {
    summary: 'A provider did not answer in time.',
    remedy: 'Check its load and that of its cloud; the call may or may not have taken effect.',
  },
  BF_CALL_CANCELLED: {
    summary: 'A call was cancelled by its caller.',
    remedy: 'Nothing to do; it may or may not have taken effect.',
  },
  BF_CALL_MALFORMED: {
    summary: 'The response of a provider is malformed: invalid bytes, or an invalid record.',
    remedy: 'Run the conformance suite against the provider; the last good state was kept.',
  },
  BF_CALL_INTERNAL: {
    summary: 'A provider failed a call, or refused it without a reason.',
    remedy: 'See the log of the provider, and read the machine with Get before deciding again.',
  },
  BF_OUT_OF_STOCK: {
    summary: 'The cloud has no more hosts of an instance type in a zone.',
    remedy: 'Wait, or offer other types or zones; shards block the offering for a while and then try again.',
  },
  BF_BACKEND_FAILED: {
    summary: 'The cloud of a provider failed to create, configure, drain or delete a machine.',
    remedy:
      'The text after the code is from the cloud; repair the cause, then recover the machine in the provider.',
  },
  BF_PROVIDER_LIMIT: {
    summary: 'An id, the metadata or the bootstrap blob of a call exceeds the limit of the provider.',
    remedy: 'Send less; the message names the limit, and nothing was changed.',
  },
  BF_PROVIDER_NO_DELETE: {
    summary: 'This provider cannot delete hosts.',
    remedy: 'Keep the machine Idle for the next cluster; its owner takes it out of service by hand.',
  },
  BF_PROVIDER_STOPPED: {
    summary: 'The provider is stopping and accepts no more calls.',
    remedy: 'Retry when it has been restarted.',
  },
  BF_STORE_FAILED: {
    summary: 'A provider or a shard could not write to its store and has stopped.',
    remedy:
      'Nothing was acknowledged that is not on disk. Free some space if the disk is full, or repair the disk or its permissions, then restart the process.',
  },
  BF_OUTPUT_FAILED: {
    summary: 'Standard output or standard error cannot be written to.',
    remedy: 'Free some space if the disk is full, or send the output elsewhere.',
  },
  BF_STORE_UNREADABLE: {
    summary: 'A state file cannot be opened or read, or is not one.',
    remedy:
      'Check the path, and restore the file from a backup. Without one, a provider may start with a new file if no host is running; a shard may too, and then loses freezes, quarantines and the targets of its machines.',
  },
  BF_STORE_LOCKED: {
    summary: 'Another process uses this state file or data directory.',
    remedy: 'Run one process per state file and data directory; stop the other one first.',
  },
  BF_JOURNAL_UNREADABLE: {
    summary: 'The journal of a shard is missing or cannot be read.',
    remedy:
      'Give the data directory of the shard with --data-dir; that of "bigfleet up" is .bigfleet/up/shard. A damaged journal is renamed when the shard starts, and a new one is created.',
  },
  BF_JOURNAL_RANGE: {
    summary: 'The journal of a shard does not reach back to what was asked for.',
    remedy: 'Ask for a later time, or keep more of it: journal.maxBytes and journal.maxAge.',
  },
  BF_REDECIDE_BUSY: {
    summary: 'Another past cycle is being decided again.',
    remedy: 'A shard decides one past cycle at a time; ask again soon.',
  },
  BF_REDECIDE_LATE: {
    summary: 'A past cycle could not be decided again in time.',
    remedy:
      'Ask for a cycle that is closer to a checkpoint, or run "bigfleet replay --cycle N" on the data directory of the shard, which has no limit.',
  },
  BF_WHATIF_UNKNOWN: {
    summary: 'A what-if question names an instance type that the fleet does not have.',
    remedy:
      'Stock is added like machines that exist; name one of their types, or add a machine to an exported scenario.',
  },
  BF_WHATIF_BUSY: {
    summary:
      'The shard cannot answer a what-if question, or explain a Need of a large fleet, at this moment.',
    remedy:
      'It answers one at a time, and first has to copy its fleet, some seconds for a large one; ask again soon.',
  },
  BF_DATA_DIR: {
    summary: 'The directory for the state of a shard cannot be made or written to.',
    remedy: 'Give a directory that this user may write to with --data-dir, or --dir of "bigfleet up".',
  },
  BF_UP_DIR_FOREIGN: {
    summary:
      'The directory for "bigfleet up" was not made by it: it has other files, or is a system directory.',
    remedy: 'Give a directory that is empty or not there yet with --dir. Nothing was changed or removed.',
  },
  BF_UP_DIR_NEWER: {
    summary: 'The directory for "bigfleet up" was written by a newer version.',
    remedy:
      'Use the version that wrote it, or give another directory with --dir. Nothing was changed or removed.',
  },
  BF_EPOCH_LOST: {
    summary: 'The epoch file of a shard is missing or damaged while its other files exist.',
    remedy:
      'Restore the file named "epoch" from a backup. Without one, find the highest epoch this shard has used (it is in the log of every start) and start once with --epoch-at-least and a number above it; too low a number is refused by the providers as that of an older process.',
  },
  BF_OFFERINGS_INVALID: {
    summary: 'A backend described invalid machines.',
    remedy: 'Correct the offerings listed; until then the last good description stays in force.',
  },
  BF_OFFERING_DUPLICATE: {
    summary: 'Two offerings have the same id.',
    remedy: 'Give each machine its own id, the same at every description.',
  },
  BF_OFFERING_TYPE: {
    summary: 'An offering has no instance type.',
    remedy: 'Name the type in instanceType; a label does not replace it.',
  },
  BF_OFFERING_ZONE: {
    summary: 'An offering has no zone although zones are in use.',
    remedy: 'Name the zone of every machine as soon as there is more than one.',
  },
  BF_OFFERING_LABEL: {
    summary: 'A label repeats a field of the machine.',
    remedy: 'Leave out labels for instance type, zone and capacity type; they have fields of their own.',
  },
  BF_TLS_PARTIAL: {
    summary: 'Only some of the three TLS files were given.',
    remedy: 'Give --tls-cert, --tls-key and --tls-ca, or none of them for plaintext on loopback.',
  },
  BF_TLS_UNREADABLE: {
    summary: 'A certificate, key or authority cannot be read, or key and certificate do not belong together.',
    remedy: 'Check the three paths and their permissions; each file holds PEM.',
  },
  BF_KUBECONFIG: {
    summary: 'The settings of the connection to an API server cannot be used.',
    remedy: 'Check the kubeconfig and its context with kubectl, or run in a pod with a service account.',
  },
  BF_CERT_EXISTS: {
    summary: 'A certificate or key is already there, and would have been overwritten.',
    remedy:
      'Use another directory, or --replace to issue a new leaf for a running process. An authority is never replaced.',
  },
  BF_CERT_AUTHORITY: {
    summary: 'There is no authority to sign with, or its certificate and key do not belong together.',
    remedy: 'Make one with bigfleet certs init, and give the same --dir.',
  },
  BF_PLAINTEXT_REFUSED: {
    summary: 'Plaintext was requested on an address that is not loopback.',
    remedy:
      'Give the three TLS files, listen on 127.0.0.1, or use --insecure if the network itself is trusted.',
  },
  BF_API_WITHOUT_IDENTITY: {
    summary: 'The API would serve other hosts without knowing who calls.',
    remedy:
      'Give the three TLS files, so that callers present certificates, or apiTokensFile, or keep the API on loopback.',
  },
  BF_API_TOKENS_INVALID: {
    summary: 'The file with the tokens of API callers cannot be used.',
    remedy:
      'Make its entries with bigfleet certs token, and let only its owner write it: chmod 600. docs/operate/security.md has the format.',
  },
  BF_IDENTITY_DENIED: {
    summary: 'The certificate of a caller does not allow the call.',
    remedy:
      'A caller has exactly one URI name such as bigfleet://shard/shard-0; a shard acts under its own id only, and reads are open to bigfleet://admin and bigfleet://readonly too.',
  },
  BF_SESSION_HELLO: {
    summary: 'A session does not begin with a hello that names its cluster.',
    remedy: 'Send a hello with the cluster id as the first frame, within ten seconds of connecting.',
  },
  BF_SESSION_REPLACED: {
    summary: 'A newer session of the same cluster has taken over.',
    remedy: 'Run one operator per cluster; if there is only one, it reconnected and no action is needed.',
  },
  BF_SESSION_LIMIT: {
    summary: 'The shard has reached its limit of sessions, clusters, or streams without a hello.',
    remedy:
      'Send a hello on the open streams, or assign the cluster to another shard; the message names the limit.',
  },
  BF_SESSION_RATE: {
    summary: 'A cluster opens sessions faster than the limit of the shard.',
    remedy:
      'Wait as long as the message says, and longer each time; check that only one operator runs for the cluster.',
  },
  BF_SESSION_SLOW: {
    summary: 'An operator does not read what the shard sends.',
    remedy: 'Check its load and the network; everything it missed is sent again when it connects.',
  },
  BF_SESSION_STOPPED: {
    summary: 'The shard accepts no sessions, because it is stopping or could not write to its store.',
    remedy: 'Reconnect later; see the log of the shard if this persists.',
  },
  BF_FRAME_SIZE: {
    summary: 'A frame of a session exceeds the limit of the shard.',
    remedy: 'Send less, or raise limits.frameBytes of the shard; the message names the limit.',
  },
  BF_FRAME_STALLED: {
    summary: 'A frame of a session has begun to arrive and did not complete in time.',
    remedy: 'Check the load of the operator and the network; reconnect and send the whole frame.',
  },
  BF_READ_LIMIT: {
    summary: 'The limit of concurrent InspectNeeds calls is reached.',
    remedy: 'Retry later, or ask for one cluster; the message names the limit.',
  },
  BF_DEMAND_LIMIT: {
    summary: 'A roll-up would exceed the limit of rows or bytes for all clusters of the shard.',
    remedy:
      'Assign clusters to another shard, or raise limits.demandRows and limits.demandMebibytes if the machine has the memory. The last good roll-up stays.',
  },
  BF_NAME_LENGTH: {
    summary:
      'A name of a peer, or the row or record that contains it, has more bytes than the shard accepts.',
    remedy:
      'Names follow the limits of Kubernetes: 253 bytes for a cluster id, 317 for a key or resource name, 63 for a value, 1,024 for a group.',
  },
  BF_ROLLUP_BASE: {
    summary: 'A roll-up was passed on as a difference from another one than its reader has.',
    remedy:
      'Nothing to do: the reader keeps the last demand and asks for the whole roll-up. Report it as a defect.',
  },
  BF_ROLLUP_LIMIT: {
    summary: 'A roll-up has more rows, requirements, values or resources than the shard accepts.',
    remedy: 'Report one row per profile, not per pod; the message names the limit. The last good one stays.',
  },
  BF_WIRE_MALFORMED: {
    summary: 'Bytes are not a valid protobuf message.',
    remedy:
      'Check that the sender speaks bigfleet.v1alpha1; the message was dropped and the last good state kept.',
  },
  BF_INPUT_UNREADABLE: {
    summary: 'An input file cannot be read or parsed.',
    remedy: 'Check the path and the format named in the message.',
  },
  BF_OUTPUT_UNWRITABLE: {
    summary: 'A file of results cannot be written.',
    remedy: 'Check that the folder exists or can be made, and that it may be written to.',
  },
  BF_INPUT_INVALID: {
    summary: 'An input file does not have the expected shape.',
    remedy: 'Correct the fields listed; each is named by its path.',
  },
  BF_CONFIG_INVALID: {
    summary: 'The configuration of a shard or an operator cannot be used.',
    remedy:
      'Correct everything listed; docs/reference/configuration.md and docs/reference/operator-configuration.md have every setting.',
  },
  BF_USAGE: {
    summary: 'Invalid arguments.',
    remedy: 'Run the command with --help to see its arguments and examples.',
  },
  BF_TLS_FAILED: {
    summary: 'The peers disagree on TLS, or one does not trust the certificate of the other.',
    remedy: 'Certificates, and who needs which: docs/operate/security.md.',
  },
  BF_KUBE_FAILED: {
    summary: 'The API server of a cluster did not answer, or refused a request.',
    remedy: 'Check the kubeconfig, its context and your rights with kubectl, then try again.',
  },
  BF_UNEXPECTED: {
    summary: 'A command failed with an unexpected error.',
    remedy: 'This is a bug: report the message, the command and the version.',
  },
  BF_LISTEN_FAILED: {
    summary: 'An address cannot be listened on.',
    remedy: 'Choose HOST:PORT with an address of this machine and a port that is free.',
  },
  BF_TARGET_UNREACHABLE: {
    summary: 'No provider answers at the address that was given.',
    remedy: 'Check the address, the certificates and that the provider is running.',
  },
  BF_SHARD_ENDED: {
    summary: 'The shard ended by itself.',
    remedy: 'The message says why. If another process acts for the same shard, stop one of the two.',
  },
  BF_SHARD_UNREACHABLE: {
    summary: 'No shard answers at the address that was given.',
    remedy:
      'Start one with "npm start" or "bigfleet shard", or give its address with --shard URL or BIGFLEET_SHARD.',
  },
  BF_SHARD_REFUSED: {
    summary: 'A shard refused the request of a command.',
    remedy: 'See what the shard has with "bigfleet get needs", "get machines" and the like.',
  },
  BF_START_FAILED: {
    summary: 'The start command did not start a provider.',
    remedy: 'Run the command by hand with a port and a state file, and see what it prints.',
  },
  BF_KILL_MISSED: {
    summary: 'A provider survived SIGKILL, because it is not in the process group of its start command.',
    remedy:
      'The start command must run the provider itself, for example with "exec", without setsid, a daemon, a container or a service manager in between.',
  },
  BF_NODE_VERSION: {
    summary: 'The command was started with a Node older than 24.',
    remedy: 'Use Node 24 or newer; in a checkout, npm scripts bring their own.',
  },
} as const satisfies Record<string, CatalogueEntry>;

/** A code of the catalogue, such as `BF_INPUT_INVALID`. Codes are stable: none is renamed or changes its meaning. */
export type ErrorCode = keyof typeof ERRORS;

/** One thing wrong with an input: which rule, where, and the facts. A list of these refuses a whole input at once. */
export interface Problem {
  readonly code: ErrorCode;
  /** Where in the input, as a path such as `needs[3].minUnit.cpu`; empty for the input as a whole. */
  readonly path: string;
  /** What was found there, as a sentence without the remedy. */
  readonly message: string;
}

/** An error that carries its catalogue code; the message says what was wrong and what to do. */
export interface Where {
  readonly path?: string;
  /** The single facts, if the detail sums up several. */
  readonly problems?: readonly Problem[];
}

/** An error with a code of the catalogue. Its message says what was wrong, where, and what to do. */
export class BigFleetError extends Error {
  readonly code: ErrorCode;
  /** The single facts behind the error, one per thing that is wrong. */
  readonly problems: readonly Problem[];

  constructor(code: ErrorCode, detail: string, options: ErrorOptions & Where = {}) {
    const where = options.path ? `${options.path}: ` : '';
    super(`${code}: ${where}${detail} ${ERRORS[code].remedy}`, options);
    this.name = 'BigFleetError';
    this.code = code;
    this.problems = options.problems ?? [{ code, path: options.path ?? '', message: detail }];
  }
}

/**
 * An error of ours that crossed a thread, where only its message survives, as what it was. Errors of other kinds are
 * returned as they are.
 */
export function revivedError(reason: unknown): Error {
  const error = reason instanceof Error ? reason : new Error(String(reason));
  if (error instanceof BigFleetError) return error;
  const [prefix = '', code = ''] = /^(BF_[A-Z_]+): /.exec(error.message) ?? [];
  if (!isErrorCode(code)) return error;
  const detail = error.message.slice(prefix.length);
  const end = ` ${ERRORS[code].remedy}`;
  const own = detail.endsWith(end) ? detail.slice(0, -end.length) : detail;
  return new BigFleetError(code, own, { cause: error });
}

/** Whether a text is a code of the catalogue. */
export function isErrorCode(text: string): text is ErrorCode {
  return Object.hasOwn(ERRORS, text);
}
