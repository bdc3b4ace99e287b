// What other rooms may use of the wire: typed gRPC services, operator frames, roll-ups read by
// what changed, and the conversions between messages and the model.
// Generated messages and service definitions are public too and imported from gen/ by their file.

export type { Issued, LeafSubject, Validity } from './certificates.ts';
export { issueCertificate, makeAuthority } from './certificates.ts';
export type { RpcOptions, ServiceClient } from './client.ts';
export { connect } from './client.ts';
export { watchConnections } from './connections.ts';
export type { Identity, SecurityOptions } from './credentials.ts';
export {
  clientCredentials,
  denied,
  identityOf,
  KeyPair,
  parseIdentity,
  serverCredentials,
} from './credentials.ts';
export { WIRE, WireCursor } from './cursor.ts';
export type { MessageType } from './decode.ts';
export { decodeStrict } from './decode.ts';
export { WireFormatError } from './errors.ts';
export type { OperatorFrame } from './frames.ts';
export { readOperatorFrame } from './frames.ts';
export { Inflater } from './inflating.ts';
export type { Intake, IntakeLimits, RollupProblem, RollupProblems } from './intake.ts';
export { NO_PROBLEMS, RollupIntake, SharedParts, wholeProblems } from './intake.ts';
export type { MachinesFromWire } from './machine.ts';
export { machineFromWire, machinesFromWire, machineToWire } from './machine.ts';
export { needToWire, requirementsToWire, resourcesToWire } from './need.ts';
export type { Verdict } from './receiving.ts';
export { Receiving } from './receiving.ts';
export type { RollupSize } from './rollup.ts';
export type { Handlers, HandlersFor, ReadControl } from './server.ts';
export {
  addService,
  closeWithStatus,
  connectionOf,
  inflateBy,
  readInFront,
  resetStream,
  stopServer,
} from './server.ts';
export type { Codec, Service } from './service.ts';
export {
  bindService,
  CHANNEL_OPTIONS,
  MAX_MESSAGE_BYTES,
  RpcError,
  rawBytes,
  status,
  statusOf,
} from './service.ts';
export { binderEpoch, stampFromMetadata, stampToMetadata, withBinder } from './stamp.ts';
export { finished } from './steps.ts';
export { tlsAdvice } from './tls-advice.ts';
export type { TlsFiles } from './tls-files.ts';
export { isLoopback, tlsFiles } from './tls-files.ts';
export type { FencingToken } from './token.ts';
export { isNewer, tokenFromWire } from './token.ts';
