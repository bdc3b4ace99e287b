// A value or the reasons for its refusal. Returned by the validator (runtime/validation.ts), the readers of scenario
// and settings files and the decoder of machine records, where a refusal is an ordinary outcome and an exception would
// discard the valid records beside it.

import type { Problem } from './errors.ts';

export type Result<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly problems: readonly Problem[] };

export function ok<T>(value: T): Result<T> {
  return { ok: true, value };
}

export function refused<T>(problems: readonly Problem[]): Result<T> {
  return { ok: false, problems };
}
