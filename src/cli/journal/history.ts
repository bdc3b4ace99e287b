// `bigfleet history machine|need|cluster X`: its events and their reasons, in order, from the journal of a shard.

import { Argument, Command, Option } from 'commander';
import { BigFleetError, printable } from '../../model/index.ts';
import type { HistoryItem, Subject } from '../../shard/index.ts';
import { journalFileIn } from '../../shard/journal/format.ts';
import { history } from '../../shard/journal/history.ts';
import { JournalReader } from '../../shard/journal/journal-reader.ts';
import { isNeedId } from '../remote/explain-need.ts';
import { foldLosses } from './fold-losses.ts';
import { itemText } from './history-text.ts';
import { type JournalIo, PROCESS_IO } from './io.ts';
import { type SpanFlags, spanOf, spanOptions, timedLines } from './times.ts';

interface Flags extends SpanFlags {
  readonly output: 'text' | 'json';
}

export function historyCommand(io: JournalIo = PROCESS_IO): Command {
  const command = new Command('history')
    .description('print the history of a machine, a Need or a cluster, with reasons')
    .addArgument(new Argument('<kind>', 'what it is').choices(['machine', 'need', 'cluster']))
    .argument('<name>', 'its id; of a Need as "bigfleet get needs" shows it')
    .addOption(new Option('-o, --output <format>', 'text or json').choices(['text', 'json']).default('text'));
  for (const option of spanOptions()) command.addOption(option);
  return command
    .addHelpText(
      'after',
      `
Reads the journal in the data directory, whether the shard runs or not. Times are UTC.
Exit code 0: found. 1: the journal has nothing about it. 2: invalid arguments, or no journal.

Examples:
  bigfleet history machine cloud-17 --data-dir /var/lib/bigfleet
  bigfleet history need ml/00ff00ff00 --from 2h
  bigfleet history cluster web --from 2026-03-01T12:00:00Z --to 2026-03-01T13:00:00Z -o json`,
    )
    .action((kind: Subject['kind'], name: string, flags: Flags) => run({ kind, name }, flags, io));
}

function run(subject: Subject, flags: Flags, io: JournalIo): void {
  if (subject.kind === 'need' && !isNeedId(subject.name))
    throw new BigFleetError(
      'BF_USAGE',
      `"${printable(subject.name)}" is not a Need, which is CLUSTER/TEN-HEX-DIGITS; "bigfleet get needs" lists them.`,
    );
  const reader = new JournalReader(journalFileIn(flags.dataDir));
  try {
    const items = history(reader, subject, spanOf(flags));
    if (!items.some(isAboutIt)) io.exitCode(1);
    io.out(flags.output === 'json' ? asJson(items) : asText(subject, items));
  } finally {
    reader.close();
  }
}

function isAboutIt({ kind }: HistoryItem): boolean {
  return kind !== 'started' && kind !== 'gap';
}

function asJson(items: readonly HistoryItem[]): string {
  return `${JSON.stringify(items, (_name, value: unknown) => (value instanceof Map ? Object.fromEntries(value) : value), 2)}\n`;
}

function asText({ kind, name }: Subject, items: readonly HistoryItem[]): string {
  if (!items.some(isAboutIt))
    return `The journal has nothing about ${kind} ${printable(name)} in that time.\n`;
  return foldLosses(items)
    .map((item) => timedLines(item.atMs, itemText(item)))
    .join('');
}
