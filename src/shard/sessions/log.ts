// Log events of the sessions. Names are stable: people search and alert by them.

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

/** Must never receive a bootstrap blob or another secret. */
export type SessionLog = (
  level: LogLevel,
  event: SessionLogEvent,
  fields: Readonly<Record<string, unknown>>,
) => void;
