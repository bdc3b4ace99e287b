// Strict decoding with a generated message type. ts-proto's reader replaces invalid UTF-8 by U+FFFD, so that two
// different keys could become equal; it also stops silently at a stray zero or end-group tag. Go refuses both, and so
// does this decoder. `decodeStrict` is used by service.ts for every message that has no other codec, by rollup.ts for
// rows and by provider/client for machine records; `decodeText` by frames.ts and rollup-layout.ts.

import { BinaryReader, type BinaryWriter } from '@bufbuild/protobuf/wire';
import { WireFormatError } from './errors.ts';

/** The part of a generated message type that encodes and decodes. */
export interface MessageType<T> {
  encode(message: T, writer?: BinaryWriter): BinaryWriter;
  decode(input: BinaryReader | Uint8Array, length?: number): T;
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
const decodeUtf8 = (bytes: Uint8Array): string => utf8.decode(bytes);

/** `base` is added to offsets in errors, for a message that is embedded in a larger one. */
export function decodeStrict<T>(type: MessageType<T>, bytes: Uint8Array, base = 0): T {
  const reader = new BinaryReader(bytes, decodeUtf8);
  let message: T;
  try {
    message = type.decode(reader);
  } catch (cause) {
    const expected = isUtf8Error(cause) ? 'UTF-8 text before this byte' : 'a complete field';
    throw new WireFormatError(base + Math.min(reader.pos, bytes.length), expected, { cause });
  }
  if (reader.pos !== bytes.length) throw new WireFormatError(base + reader.pos, 'a field tag');
  return message;
}

/** UTF-8 text of a part of `bytes`. */
export function decodeText(bytes: Uint8Array, from: number, to: number): string {
  try {
    return utf8.decode(bytes.subarray(from, to));
  } catch (cause) {
    throw new WireFormatError(from, 'UTF-8 text', { cause });
  }
}

function isUtf8Error(error: unknown): boolean {
  return error instanceof TypeError && 'code' in error && error.code === 'ERR_ENCODING_INVALID_ENCODED_DATA';
}
