// Log events of sessions.ts, session.ts and demand/rollups.ts, written to the shard's log through log-gate.ts (rate limit).
// Names are stable: people search and alert by them.

export type LogLevel = 'info' | 'warn' | 'error';

export type SessionLogEvent =
  | 'session-opened'
  | 'session-closed'
  | 'session-refused'
  /** A frame of a kind that this version does not have; logged once per session. */
  | 'frame-unknown'
  | 'frame-oversized'
  /** A frame that began to arrive cannot be received; the session ends. */
  | 'frame-failed'
  /** A report of a node without a machine, of an unknown kind, or one too many. */
  | 'node-report-dropped'
  | 'rollup-refused'
  /** Accepted, with remarks such as rows set aside; logged when the remarks change. */
  | 'rollup-remarks'
  /** Dropped without an ack, because too many bytes wait to be read. */
  | 'rollup-shed'
  /** Quarantined. */
  | 'rollup-held'
  /** Accepted, although most of the demand before it is gone. */
  | 'rollup-shrunk'
  /** The oldest outstanding request of a cluster was dropped, because too many are outstanding. */
  | 'asks-forgotten'
  /** The demand store cannot be written; the shard ends. */
  | 'store-failed';

/** Must never receive a bootstrap blob or another secret. */
export type SessionLog = (
  level: LogLevel,
  event: SessionLogEvent,
  fields: Readonly<Record<string, unknown>>,
) => void;
