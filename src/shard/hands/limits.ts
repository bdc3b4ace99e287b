// What sessions may cost a shard. Each limit is generous for a real operator and keeps a broken or hostile one from
// filling memory; what lies beyond is refused or ended with its number in the message, and counted.

/** What depends on the size of the machine that a shard runs on; settings `limits.*`. */
export interface HandsLimits {
  /** Clusters with a session at the same time. */
  readonly sessions: number;
  /** Connections that have not said hello yet; a shard that has just started is dialled by everybody at once. */
  readonly greeting: number;
  /** Clusters that demand is remembered of, with a session or without. They are never forgotten. */
  readonly clusters: number;
  /** Rows of one roll-up, by their weight (see `RollupSize`); realistic ones have a few hundred. */
  readonly rollupRows: number;
  /** Rows of all clusters together, by their weight. A row costs about a kilobyte in hands, brain and engine. */
  readonly demandRows: number;
  /** Bytes of all accepted and held roll-ups, which are kept to compare the next ones with. */
  readonly demandBytes: number;
  /** Bytes of roll-ups that wait for their turn or are being read. */
  readonly waitingBytes: number;
  /** Least time between two roll-ups of one cluster that are read. Small: one cluster can keep the reader busy. */
  readonly rollupIntervalMs: number;
}

const MIB = 1024 * 1024;

/** For a shard of 2,000 clusters with a few hundred rows each, and twice that again. */
export const DEFAULT_HANDS_LIMITS: HandsLimits = {
  sessions: 5000,
  greeting: 5000,
  clusters: 10_000,
  rollupRows: 50_000,
  demandRows: 2_000_000,
  demandBytes: 1024 * MIB,
  waitingBytes: 256 * MIB,
  rollupIntervalMs: 1000,
};

/** What an operator is told to wait that was refused for want of room. Room comes when another cluster goes. */
export const FULL_RETRY_MS = 30_000;

/** A cluster id, in characters. Kubernetes names have at most 253. */
export const MAX_CLUSTER_ID = 1024;

/** How long a connection may stay without a hello. Longer than any network, shorter than a flood needs. */
export const HELLO_TIMEOUT_MS = 10_000;

/** A frame from an operator: 16 MiB. A roll-up of 10,000 rows is about 3 MB. */
export const MAX_FRAME_BYTES = 16 * 1024 * 1024;

/**
 * Frames that wait for a slow reader, by session. A resync sends one for each machine of the cluster at once, so this
 * must be more than the largest cluster has; frames with equal keys count once.
 */
export const MAX_OUTBOX_FRAMES = 32_768;

/** How long a reader may take nothing while frames wait. Then its session is ended and the frames are let go. */
export const STALL_TIMEOUT_MS = 60_000;

/** Questions and instructions to one cluster that are open at the same time. */
export const MAX_ASKS = 8192;

/** Keys of one cluster that are remembered although it no longer reports them. */
export const MAX_ABSENT = 20_000;

/** Characters of such keys: a key has a few hundred as a rule, but may have a quarter of a million. */
export const MAX_ABSENT_CHARACTERS = 4 * MIB;

/** A bootstrap blob: 1 MiB. Clouds take far less as user data, and the blobs of all machines that join wait in memory. */
export const MAX_BLOB_BYTES = 1024 * 1024;

/** Why an operator cannot answer, in characters; the rest is cut off. */
export const MAX_ERROR_TEXT = 1000;
