// The exit code of every command, by one rule: 2 if its input cannot be used, so that a retry without a change is
// pointless; 1 if the command itself failed. docs/reference/errors.md has the rule for users. Used by main.ts and
// output-errors.ts.

import { CommanderError } from 'commander';
import { BigFleetError, type ErrorCode } from '../model/index.ts';

/** Failures of a running command; every other code rejects arguments, files, directories or addresses. */
const FAILURES: ReadonlySet<ErrorCode> = new Set([
  'BF_SHARD_UNREACHABLE',
  'BF_SHARD_REFUSED',
  'BF_SHARD_ENDED',
  'BF_STORE_FAILED',
  'BF_OUTPUT_FAILED',
  'BF_TLS_FAILED',
  'BF_KUBE_FAILED',
  'BF_UNEXPECTED',
]);

export function exitCodeOf(error: unknown): 0 | 1 | 2 {
  // The parser also throws after --help, with exit code 0.
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
  return error instanceof BigFleetError && !FAILURES.has(error.code) ? 2 : 1;
}
