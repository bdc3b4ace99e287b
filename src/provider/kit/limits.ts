// Limits of the kit: on what a request may carry (requests.ts rejects a larger one before anything has changed), on
// fencing marks (fences.ts evicts the least recently used) and on error texts (provider.ts truncates them). Each is
// generous for a real caller and keeps a faulty or hostile one from filling memory or disk.

/** Machine, shard and cluster ids, in UTF-8 bytes. Kubernetes names have at most 253. */
export const MAX_ID_BYTES = 1024;

/** Keys in shard_metadata. A shard writes five. */
export const MAX_METADATA_KEYS = 4096;

/**
 * Keys and values of shard_metadata together, in UTF-8 bytes: 3 MiB. They are part of every record that is read back,
 * and a reader with the default limit of gRPC takes no message above 4 MiB.
 */
export const MAX_METADATA_BYTES = 3 * 1024 * 1024;

/** A bootstrap blob: 16 MiB. Clouds take far less as user data; a blob is never part of a record. */
export const MAX_BLOB_BYTES = 16 * 1024 * 1024;

/** `last_error`, in characters; a longer text of the cloud is truncated. */
export const MAX_ERROR_CHARACTERS = 4096;

/**
 * Fencing marks kept for unknown machines. A call for one still advances a mark, so a caller could fill memory with
 * invented ids; above this number the least recently used marks are evicted.
 */
export const MAX_STRAY_MARKS = 100_000;

/** Shards with a mark on one machine; above this number the least recently used mark is evicted. */
export const MAX_SHARDS_PER_MACHINE = 256;
