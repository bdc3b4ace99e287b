// What sessions may cost a shard. Each limit is generous for a real operator and keeps a broken or hostile one from
// filling memory; what lies beyond is refused or ended with its number in the message, and counted.

/** What depends on the size of the machine that a shard runs on; settings `limits.*`. */
export interface SessionLimits {
  /** Clusters with a session at the same time. */
  readonly sessions: number;
  /** Streams without a hello, of all connections; a shard that has just started is dialled by all operators at once. */
  readonly greeting: number;
  /**
   * Streams without a hello of one connection, and under TLS of one identity. An operator has one or two; a proxy that
   * puts the streams of many operators on one connection needs more.
   */
  readonly greetingPerPeer: number;
  /** Clusters that demand is remembered of, with a session or without. They are never forgotten. */
  readonly clusters: number;
  /** Rows of one roll-up, by their weight (see `RollupSize`); realistic ones have a few hundred. */
  readonly rollupRows: number;
  /** Rows of all clusters together, by their weight. A row costs about a kilobyte in sessions, controller and engine. */
  readonly demandRows: number;
  /** Bytes of all accepted and held roll-ups, which are kept to compare the next ones with. */
  readonly demandBytes: number;
  /** Bytes of one frame. A roll-up of 10,000 rows is about 3 MB. */
  readonly frameBytes: number;
  /** Bytes of roll-ups that wait for their turn or are being read. */
  readonly waitingBytes: number;
  /** Least time between two roll-ups of one cluster that are read. Small: one cluster can keep the reader busy. */
  readonly rollupIntervalMs: number;
}

const MIB = 1024 * 1024;

/** For a shard of 2,000 clusters with a few hundred rows each, and twice that again. */
export const DEFAULT_HANDS_LIMITS: SessionLimits = {
  sessions: 5000,
  greeting: 5000,
  greetingPerPeer: 16,
  clusters: 10_000,
  rollupRows: 50_000,
  demandRows: 2_000_000,
  demandBytes: 1024 * MIB,
  frameBytes: 64 * MIB,
  waitingBytes: 256 * MIB,
  rollupIntervalMs: 1000,
};

/** The least and the largest `frameBytes` that can be set. */
export const FRAME_BYTES_RANGE = { min: MIB, max: 256 * MIB } as const;

/** All limits, with defaults for those that are not given. */
export function sessionLimits(given: Partial<SessionLimits> = {}): SessionLimits {
  const { frameBytes = DEFAULT_HANDS_LIMITS.frameBytes } = given;
  return { ...DEFAULT_HANDS_LIMITS, waitingBytes: roomForFrames(frameBytes), ...given };
}

/** Bytes that frames of all sessions may take together, while they arrive and again while they wait: two of the largest. */
export function roomForFrames(frameBytes: number): number {
  return Math.max(256 * MIB, 2 * frameBytes);
}

/**
 * The largest frame that the transport takes. What lies between the two limits is dropped and the session stays; a frame
 * beyond this ends its session.
 */
export function transportBytes(frameBytes: number): number {
  return Math.min(2 * frameBytes, FRAME_BYTES_RANGE.max + MIB);
}

/** What an operator is told to wait that was refused for want of room. Room comes when another cluster goes. */
export const FULL_RETRY_MS = 30_000;

/** What an operator is told to wait whose stream found no place to say hello in. Places are free after seconds. */
export const GREETING_RETRY_MS = 5_000;

/** The first frame of a stream: 64 KiB. A hello has less than a hundred bytes, and its sender is not known yet. */
export const MAX_FIRST_FRAME_BYTES = 64 * 1024;

/** How long a connection may stay without a hello. Longer than any network, shorter than a flood needs. */
export const HELLO_TIMEOUT_MS = 10_000;

/** How long a frame may stay incomplete without another byte. Then its session is ended and its bytes are let go. */
export const FRAME_STALL_MS = 60_000;

/**
 * Streams of one connection at the same time, sessions and readers together; HTTP/2 lets clients wait for more. Far more
 * than operators and readers have, and little enough that one connection costs no more than a few megabytes.
 */
export const MAX_STREAMS_PER_CONNECTION = 1000;

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
