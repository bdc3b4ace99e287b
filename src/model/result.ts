// A value or the reason why there is none. Used where a refusal is an ordinary outcome and throwing
// would cost the neighbours their data.

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
