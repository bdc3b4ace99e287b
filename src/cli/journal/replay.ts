// `bigfleet replay`: decides past cycles of a shard again, from its journal, and compares the results with those
// recorded.

import { Command, Option } from 'commander';
import { BigFleetError } from '../../model/index.ts';
import { decidedJson } from '../../scenario/plan-json.ts';
import type { CycleOutcome, ReplayedCycle } from '../../shard/index.ts';
import { journalFileIn } from '../../shard/journal/format.ts';
import { JournalReader } from '../../shard/journal/journal-reader.ts';
import { replay, restored } from '../../shard/journal/replay.ts';
import { kindName } from '../../web/index.ts';
import { count, countOf } from '../amounts.ts';
import { epochNumber, wholeNumber } from '../flags.ts';
import type { Style } from '../table.ts';
import { type JournalIo, PROCESS_IO } from './io.ts';
import { DEFAULT_DATA_DIR, dataDirOption, type SpanFlags, spanOf, spanOptions, timedLines } from './times.ts';

interface Flags extends SpanFlags {
  readonly dataDir: string;
  readonly cycle?: number;
  readonly epoch?: number;
  readonly plan?: true;
  readonly output: 'text' | 'json';
}

export function replayCommand(io: JournalIo = PROCESS_IO): Command {
  const command = new Command('replay')
    .description('decide past cycles of a shard again and compare the results')
    .option('--cycle <n>', 'only the cycle with this number, of the last start that has one', wholeNumber)
    .option('--epoch <n>', 'with --cycle: of the start of the shard with this epoch', epochNumber)
    .option('--plan', 'with --cycle: the whole plan as JSON')
    .addOption(new Option('-o, --output <format>', 'text or json').choices(['text', 'json']).default('text'));
  for (const option of [dataDirOption().default(DEFAULT_DATA_DIR), ...spanOptions()])
    command.addOption(option);
  return command
    .addHelpText(
      'after',
      `
A shard records the input of every cycle. A decision depends on that alone, so deciding
again must give the same digest. Cycles before the first complete snapshot are left out.
Exit code 0: all cycles gave the same result. 1: one did not. 2: invalid arguments, or no journal.

Examples:
  bigfleet replay --data-dir /var/lib/bigfleet --from 10m
  bigfleet replay --from 2026-03-01T12:00:00Z --to 2026-03-01T12:05:00Z -o json
  bigfleet replay --cycle 4711 --plan > plan.json`,
    )
    .action((flags: Flags) => run(flags, io));
}

function run(flags: Flags, io: JournalIo): void {
  if (flags.cycle === undefined && (flags.plan === true || flags.epoch !== undefined))
    throw new BigFleetError('BF_USAGE', '--plan and --epoch need --cycle.');
  const reader = new JournalReader(journalFileIn(flags.dataDir));
  try {
    const cycles = chosen(reader, flags);
    const isEqual =
      flags.plan === true
        ? printPlan(cycles, io)
        : flags.output === 'json'
          ? printJson(cycles, io)
          : printText(cycles, io);
    if (!isEqual) io.exitCode(1);
  } finally {
    reader.close();
  }
}

function* chosen(reader: JournalReader, flags: Flags): Generator<ReplayedCycle> {
  const { cycle: number, epoch = null } = flags;
  if (number === undefined) return yield* replay(reader, spanOf(flags));
  const found = reader.numbered(number, epoch);
  if (found === undefined)
    throw new BigFleetError('BF_JOURNAL_RANGE', `The journal has no cycle ${count(number)}.`);
  yield restored(reader, found.seq)();
}

function printPlan(cycles: Iterable<ReplayedCycle>, { out }: JournalIo): boolean {
  for (const { decision, isSame } of cycles) {
    out(`${JSON.stringify(decidedJson(decision.plan()), null, 2)}\n`);
    return isSame !== false;
  }
  throw new Error('No cycle was chosen.');
}

function printJson(cycles: Iterable<ReplayedCycle>, { out }: JournalIo): boolean {
  let isEqual = true;
  out('[');
  let gap = '\n';
  for (const { epoch, atMs, recorded, digest, isSame } of cycles) {
    isEqual &&= isSame !== false;
    out(`${gap}${JSON.stringify({ epoch, atMs, digest, isSame, recorded })}`);
    gap = ',\n';
  }
  out('\n]\n');
  return isEqual;
}

function printText(cycles: Iterable<ReplayedCycle>, { out, paint }: JournalIo): boolean {
  let same = 0;
  let different = 0;
  let unknown = 0;
  let start: number | null = null;
  for (const cycle of cycles) {
    const { epoch, atMs, recorded, digest, isSame } = cycle;
    if (isSame === null) unknown++;
    else if (isSame) same++;
    else different++;
    if (epoch !== start) out(`epoch ${epoch}\n`);
    start = epoch;
    const { word, style } = verdictOf(isSame);
    const number = recorded === null ? 'cycle ?' : `cycle ${recorded.cycle}`;
    const was = isSame === false ? ` (was ${recorded!.digest})` : '';
    const text = timedLines(atMs, `${number}  ${word}  ${digest}${was}  ${countsText(cycle)}`);
    out(style === null ? text : text.replace(word, paint(style, word)));
  }
  const parts = [
    `${countOf(same + different + unknown, 'cycle')}: ${count(same)} the same`,
    `${count(different)} different`,
    ...(unknown === 0 ? [] : [`${count(unknown)} without a recorded result`]),
  ];
  out(`${paint(different === 0 ? 'green' : 'red', parts.join(', '))}\n`);
  return different === 0;
}

function verdictOf(isSame: boolean | null): { readonly word: string; readonly style: Style | null } {
  if (isSame === null) return { word: 'not on record', style: 'yellow' };
  return isSame ? { word: 'ok', style: null } : { word: 'DIFFERS', style: 'red' };
}

/** `2 buy, 1 reclaim; 3 unmet; held back: 1 frozen`. */
function countsText({ recorded, decision }: ReplayedCycle): string {
  const decided = kindsText(decision.counts, kindName) || 'nothing to do';
  const unmet = decision.unmet.length === 0 ? '' : `; ${count(decision.unmet.length)} unmet`;
  return `${decided}${unmet}${waitingText(recorded)}`;
}

function waitingText(recorded: CycleOutcome | null): string {
  const waiting = kindsText(recorded?.waiting ?? {});
  return waiting === '' ? '' : `; held back: ${waiting}`;
}

function kindsText(counts: Readonly<Record<string, number>>, wordOf = (name: string) => name): string {
  return Object.entries(counts)
    .filter(([, n]) => n > 0)
    .map(([kind, n]) => `${count(n)} ${wordOf(kind)}`)
    .join(', ');
}
