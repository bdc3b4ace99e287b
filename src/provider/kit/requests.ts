// Validates the shape of a request before any lookup: a request rejected here has changed nothing, not even a fencing
// mark. Status codes are those of the contract; each message has the catalogue code and what to do. Called by
// provider.ts; listing.ts and store-writer.ts use `refusal`.

import { BigFleetError, type ErrorCode, printable } from '../../model/index.ts';
import { type FencingToken, RpcError, status, tokenFromWire } from '../../wire/index.ts';
import { MAX_BLOB_BYTES, MAX_ID_BYTES, MAX_METADATA_BYTES, MAX_METADATA_KEYS } from './limits.ts';

/** An error with a gRPC status whose text begins with a code of the catalogue. */
export function refusal(code: status, error: ErrorCode, detail: string, path?: string): RpcError {
  const cause = new BigFleetError(error, detail, path === undefined ? {} : { path });
  return new RpcError(code, cause.message, { cause });
}

export function checkMachineId(id: string, path: string): void {
  if (id === '') {
    throw refusal(status.INVALID_ARGUMENT, 'BF_REQUEST_MACHINE_EMPTY', 'No machine is named.', path);
  }
  checkLength(id, path);
}

/** The token of a request; null for a caller that does not fence. */
export function readToken(request: Parameters<typeof tokenFromWire>[0]): FencingToken | null {
  checkLength(request.shardId, 'shard_id');
  return tokenFromWire(request);
}

export function checkBinding(request: {
  readonly clusterId: string;
  readonly shardMetadata: ReadonlyMap<string, string>;
  readonly bootstrapBlob: Uint8Array;
}): void {
  const { clusterId, shardMetadata, bootstrapBlob } = request;
  if (clusterId === '') {
    throw refusal(status.INVALID_ARGUMENT, 'BF_CLUSTER_EMPTY', 'There is none.', 'cluster_id');
  }
  checkLength(clusterId, 'cluster_id');
  let bytes = 0;
  for (const [key, value] of shardMetadata) bytes += Buffer.byteLength(key) + Buffer.byteLength(value);
  if (shardMetadata.size > MAX_METADATA_KEYS || bytes > MAX_METADATA_BYTES) {
    const found = `There are ${shardMetadata.size} keys and ${bytes} bytes`;
    const detail = `${found}; at most ${MAX_METADATA_KEYS} keys and ${MAX_METADATA_BYTES} bytes are kept.`;
    throw refusal(status.INVALID_ARGUMENT, 'BF_PROVIDER_LIMIT', detail, 'shard_metadata');
  }
  if (bootstrapBlob.length > MAX_BLOB_BYTES) {
    const detail = `The blob has ${bootstrapBlob.length} bytes; at most ${MAX_BLOB_BYTES} are taken.`;
    throw refusal(status.RESOURCE_EXHAUSTED, 'BF_PROVIDER_LIMIT', detail, 'bootstrap_blob');
  }
}

/** The grace period as a number of seconds. */
export function readGrace(seconds: bigint): number {
  if (seconds >= 0n) return Number(seconds);
  const detail = `The grace period is ${seconds} seconds.`;
  throw refusal(status.INVALID_ARGUMENT, 'BF_REQUEST_GRACE', detail, 'grace_period_seconds');
}

function checkLength(id: string, path: string): void {
  // A UTF-16 unit takes at least one byte and at most three.
  if (id.length * 3 <= MAX_ID_BYTES || Buffer.byteLength(id) <= MAX_ID_BYTES) return;
  const detail = `"${printable(id.slice(0, 40))}…" has more than ${MAX_ID_BYTES} bytes.`;
  throw refusal(status.INVALID_ARGUMENT, 'BF_PROVIDER_LIMIT', detail, path);
}
