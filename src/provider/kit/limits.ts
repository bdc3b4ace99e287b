// What one request may bring. Each limit is generous for a real caller and keeps a broken or hostile one from filling
// memory or disk; each is refused with its number before anything has changed.

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

/** `last_error`, in characters; what a cloud says beyond that is cut off. */
export const MAX_ERROR_CHARACTERS = 4096;

/**
 * Fencing marks kept for machines that are not on record. Such a call still advances a mark, so anybody who may call
 * could fill memory with made-up ids; past this number the marks longest untouched are forgotten.
 */
export const MAX_STRAY_MARKS = 100_000;

/** Shards with a mark on one machine; past this number the mark longest untouched is forgotten. */
export const MAX_SHARDS_PER_MACHINE = 256;
