// The exit code of every command, by one rule: 2 if what it was given cannot be used, so that trying again in the same
// way is no use; 1 if it failed at what it set out to do. docs/reference/errors.md says it for users.

import { CommanderError } from 'commander';
import { BigFleetError, type ErrorCode } from '../model/index.ts';

/** What went wrong on the way; every other code refuses words, files, directories or addresses. */
const FAILURES: ReadonlySet<ErrorCode> = new Set([
  'BF_SHARD_UNREACHABLE',
  'BF_SHARD_REFUSED',
  'BF_SHARD_ENDED',
  'BF_STORE_FAILED',
  'BF_OUTPUT_FAILED',
  'BF_TLS_FAILED',
  'BF_UNEXPECTED',
]);

export function exitCodeOf(error: unknown): 0 | 1 | 2 {
  // Also how the parser ends after --help.
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
  return error instanceof BigFleetError && !FAILURES.has(error.code) ? 2 : 1;
}
