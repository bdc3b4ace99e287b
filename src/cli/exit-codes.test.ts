import { CommanderError } from 'commander';
import { describe, expect, it } from 'vitest';
import { BigFleetError, type ErrorCode } from '../model/index.ts';
import { exitCodeOf } from './exit-codes.ts';

describe('exit codes', () => {
  it.each<ErrorCode>([
    'BF_USAGE',
    'BF_CONFIG_INVALID',
    'BF_LISTEN_FAILED',
    'BF_STORE_LOCKED',
    'BF_STORE_UNREADABLE',
    'BF_DATA_DIR',
    'BF_EPOCH_LOST',
    'BF_JOURNAL_UNREADABLE',
  ])('given %s, which rejects the input, then the exit code is 2', (code) => {
    expect(exitCodeOf(new BigFleetError(code, 'x.'))).toBe(2);
  });

  it.each<ErrorCode>([
    'BF_SHARD_UNREACHABLE',
    'BF_SHARD_REFUSED',
    'BF_SHARD_ENDED',
    'BF_STORE_FAILED',
    'BF_OUTPUT_FAILED',
  ])('given %s, which is a failure of the command, then the exit code is 1', (code) => {
    expect(exitCodeOf(new BigFleetError(code, 'x.'))).toBe(1);
  });

  it('given the parser, then the exit code is 0 after help and 2 after invalid arguments', () => {
    expect(exitCodeOf(new CommanderError(0, 'commander.helpDisplayed', ''))).toBe(0);
    expect(exitCodeOf(new CommanderError(1, 'commander.unknownOption', ''))).toBe(2);
  });

  it('given an unexpected error, then the exit code is 1', () => {
    expect(exitCodeOf(new TypeError('x'))).toBe(1);
  });
});
