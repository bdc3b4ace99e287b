// A value or the reasons for its refusal. Used where a refusal is an ordinary outcome and an exception would discard
// the valid records beside it.

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
