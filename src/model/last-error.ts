// The `last_error` of a Failed machine. The contract has no field for the kind of an error, so providers of the kit
// begin the text with a code of the catalogue: `BF_OUT_OF_STOCK: none left`. Texts of other providers have no code. The
// kit writes the code; the shard reads it (inventory/error-class.ts, sold-out.ts).

import { type ErrorCode, isErrorCode } from './errors.ts';

/** A text split into its code, if it begins with one, and the rest. */
export interface CodedText {
  readonly code: ErrorCode | null;
  readonly text: string;
}

/** `text` with its code in front. */
export function withCode(code: ErrorCode, text: string): string {
  return `${code}: ${text}`;
}

/** Reads what `withCode` wrote. gRPC puts the status in front of the text of a refused call; it is dropped as well. */
export function codedText(message: string): CodedText {
  const [prefix = '', code = ''] = /^(?:\d{1,2} [A-Z_]{2,20}: )?(BF_[A-Z_]{1,60}): /.exec(message) ?? [];
  return isErrorCode(code) ? { code, text: message.slice(prefix.length) } : { code: null, text: message };
}
