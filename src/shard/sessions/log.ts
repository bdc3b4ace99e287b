// What the sessions say of themselves. Names of events are stable: people search and alert by them.

export type LogLevel = 'info' | 'warn' | 'error';

export type SessionLogEvent =
  | 'session-opened'
  | 'session-closed'
  | 'session-refused'
  | 'frame-unknown'
  | 'frame-oversized'
  | 'frame-failed'
  | 'rollup-refused'
  | 'rollup-remarks'
  | 'rollup-shed'
  | 'rollup-held'
  | 'rollup-shrunk'
  | 'asks-forgotten'
  | 'store-failed';

/** Never given a bootstrap blob or anything else that is secret. */
export type SessionLog = (
  level: LogLevel,
  event: SessionLogEvent,
  fields: Readonly<Record<string, unknown>>,
) => void;
