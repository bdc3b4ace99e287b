// Counters of the sessions since the start of the process. None is by cluster, which bounds their number. Raised in
// sessions/ and demand/; telemetry/session-metrics.ts exports them.

export class SessionCounters {
  // Sessions.
  /** Connections that failed before a session, or broke: no valid certificate, not HTTP/2, reset. */
  connectionsBroken = 0;
  sessionsOpened = 0;
  sessionsClosed = 0;
  sessionsReplaced = 0;
  /** By a limit, a missing hello, or because the shard is stopping. */
  sessionsRefused = 0;
  /** Of those: streams refused because those of their connection or certificate, or all, fill the places before a hello. */
  greetingsRefused = 0;
  /** Of those: streams without a hello that had to give way to another connection. */
  greetingsEvicted = 0;
  identityRejected = 0;
  /** Refused because the cluster had opened too many in a short while. */
  sessionsThrottled = 0;
  /** Ended because the operator read nothing for too long. */
  sessionsStalled = 0;

  // Frames from operators.
  framesUnknown = 0;
  framesMalformed = 0;
  /** Dropped because they are too large; with them the session, before its hello or beyond what the transport takes. */
  framesOversized = 0;
  /** Sessions ended because their incomplete frame was the largest when those of all sessions filled their room. */
  framesOverrun = 0;
  /** Sessions ended because a frame stayed incomplete without another byte. */
  framesStalled = 0;
  /** Answers to requests that are not, or no longer, open. */
  answersUnknown = 0;
  /** Reports of nodes that were passed to the controller. */
  nodeReports = 0;
  /** Reports without a machine or of an unknown kind, and those beyond the rate of a session. */
  nodeReportsDropped = 0;

  // Roll-ups.
  rollupsAccepted = 0;
  rollupsUnchanged = 0;
  rollupsQuarantined = 0;
  rollupsRefused = 0;
  /** Never read, because a newer one of the cluster came first. */
  rollupsSuperseded = 0;
  /** Refused because there was no room for it, among those that wait or in the demand of all clusters. */
  rollupsShed = 0;
  storeFailures = 0;

  // Frames to operators.
  framesSent = 0;
  framesCoalesced = 0;
  /** Frames for clusters without a session; the resync of the next session replaces them. */
  framesUndelivered = 0;
  /** Sessions ended because their outbox was full. */
  outboxOverflows = 0;
  /** Requests and instructions sent again to a new session. */
  asksReissued = 0;
  /** Outstanding requests evicted because a cluster had too many; they are not sent to a new session. */
  asksForgotten = 0;
}
