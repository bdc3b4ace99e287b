// Flags of `bigfleet decide` that set how Phase 1 is computed: threads, retries and lanes. None of them changes a
// decision; a scenario file may give defaults for the first two.

import { type Command, InvalidArgumentError, Option } from 'commander';
import type { EngineOptions as ScenarioDefaults } from '../scenario/index.ts';

export interface Phase1Options {
  /** Threads that share the work; 1 starts none. */
  readonly workers: number;
  /** How often a row in conflict is solved again before it waits for the barrier. */
  readonly retries: number;
  /** Rows that acquire free machines at the same time. */
  readonly lanes: number | 'auto';
}

export interface Phase1Flags {
  readonly phase1Workers?: number;
  readonly phase1Retries?: number;
  readonly phase1Lanes: number | 'auto';
}

/** Limits as in scenario files. */
const MAX_WORKERS = 1024;
const MAX_RETRIES = 1000;
/** More lanes than threads gain nothing; this many are for tests of the concurrent path. */
const MAX_LANES = 1024;

export function addPhase1Flags(command: Command): Command {
  const whole = (min: number, max: number) => {
    return (text: string): number => wholeNumberWithin(text, min, max);
  };
  return command
    .addOption(
      new Option(
        '--phase1-workers <n>',
        'threads, 1 starts none (default: as the file says, or 1)',
      ).argParser(whole(1, MAX_WORKERS)),
    )
    .addOption(
      new Option(
        '--phase1-retries <n>',
        'looks of a lane that waits before it parks (default: as the file says, or 10)',
      ).argParser(whole(0, MAX_RETRIES)),
    )
    .addOption(
      new Option('--phase1-lanes <lanes>', 'lanes that serve rows: auto or fixed:N')
        .argParser(lanesOf)
        .default('auto'),
    );
}

export const PHASE1_EXAMPLES = `  bigfleet decide large.json --phase1-workers 2
  bigfleet decide large.json --phase1-workers 4 --phase1-lanes fixed:4 --phase1-retries 3`;

export function phase1Of(flags: Phase1Flags, defaults: ScenarioDefaults): Phase1Options {
  return {
    workers: flags.phase1Workers ?? defaults.workers,
    retries: flags.phase1Retries ?? defaults.retries,
    lanes: flags.phase1Lanes,
  };
}

function wholeNumberWithin(text: string, min: number, max: number): number {
  const value = /^\d+$/.test(text) ? Number(text) : Number.NaN;
  if (value >= min && value <= max) return value;
  throw new InvalidArgumentError(`Expected a whole number from ${min} to ${max}.`);
}

function lanesOf(text: string): number | 'auto' {
  if (text === 'auto') return text;
  if (text.startsWith('fixed:')) return wholeNumberWithin(text.slice('fixed:'.length), 1, MAX_LANES);
  throw new InvalidArgumentError('Expected auto, or fixed:N as in fixed:4.');
}
