// Limits of sessions. Each is generous for a real operator and keeps a broken or hostile one from filling memory;
// beyond it, a frame or session is refused or ended, with the limit in the message, and counted. Used in sessions/ and
// demand/; some are settings (config/settings.ts).

/** Limits that depend on the size of the host; settings `limits.*`. */
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
  /** Clusters whose demand is kept, with a session or without. They are never evicted. */
  readonly clusters: number;
  /** Rows of one roll-up, by their weight (see `RollupSize`); realistic ones have a few hundred. */
  readonly rollupRows: number;
  /** Rows of all clusters together, by their weight. A row costs about a kilobyte in sessions, controller and engine. */
  readonly demandRows: number;
  /** Bytes of all accepted and quarantined roll-ups, which are kept to compare the next ones with. */
  readonly demandBytes: number;
  /** Bytes of one frame. A roll-up of 10,000 rows is about 3 MB. */
  readonly frameBytes: number;
  /** Bytes of roll-ups that are queued or being read. */
  readonly waitingBytes: number;
  /**
   * Minimum interval between two roll-ups of one cluster that are read. If it is small, one cluster can occupy the
   * reader.
   */
  readonly rollupIntervalMs: number;
}

const MIB = 1024 * 1024;

/** For a shard of 2,000 clusters with a few hundred rows each, and twice that again. */
export const DEFAULT_SESSION_LIMITS: SessionLimits = {
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

/** Bounds of the setting `frameBytes`. */
export const FRAME_BYTES_RANGE = { min: MIB, max: 256 * MIB } as const;

/** All limits, with defaults for those that are not given. */
export function sessionLimits(given: Partial<SessionLimits> = {}): SessionLimits {
  const { frameBytes = DEFAULT_SESSION_LIMITS.frameBytes } = given;
  return { ...DEFAULT_SESSION_LIMITS, waitingBytes: roomForFrames(frameBytes), ...given };
}

/** Bytes that frames of all sessions may take together, while they arrive and again while they wait: two of the largest. */
export function roomForFrames(frameBytes: number): number {
  return Math.max(256 * MIB, 2 * frameBytes);
}

/**
 * The largest frame that the transport accepts. A frame between the two limits is dropped and the session stays; a
 * larger one ends its session.
 */
export function transportBytes(frameBytes: number): number {
  return Math.min(2 * frameBytes, FRAME_BYTES_RANGE.max + MIB);
}

/**
 * Retry delay sent to an operator that was refused because a limit is reached. Capacity becomes free when another
 * cluster leaves.
 */
export const FULL_RETRY_MS = 30_000;

/** Retry delay sent to an operator whose stream found no slot for its hello. Slots become free within seconds. */
export const GREETING_RETRY_MS = 5_000;

/** The first frame of a stream: 64 KiB. A hello has less than a hundred bytes, and its sender is not known yet. */
export const MAX_FIRST_FRAME_BYTES = 64 * 1024;

/** Timeout of the hello. Longer than any network round trip, shorter than a flood needs to fill all slots. */
export const HELLO_TIMEOUT_MS = 10_000;

/** Timeout of an incomplete frame without another byte. Then its session is ended and its bytes are freed. */
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

/** Timeout of a reader that accepts nothing while frames are queued. Then its session is ended and the frames are dropped. */
export const STALL_TIMEOUT_MS = 60_000;

/** Requests and instructions to one cluster that are outstanding at the same time. */
export const MAX_ASKS = 8192;

/** Keys of one cluster that are kept although it no longer reports them. */
export const MAX_ABSENT = 20_000;

/** Characters of such keys: a key has a few hundred as a rule, but may have a quarter of a million. */
export const MAX_ABSENT_CHARACTERS = 4 * MIB;

/** A bootstrap blob: 1 MiB. Clouds take far less as user data, and the blobs of all machines that join wait in memory. */
export const MAX_BLOB_BYTES = 1024 * 1024;
