// `bigfleet history machine|need|cluster X`: its events and their reasons, in order: from a running shard over its API, or
// from the journal in a data directory, which also has what changed in the ledger from cycle to cycle.

import { Argument, Command, Option } from 'commander';
import { printable } from '../../model/index.ts';
import type { HistoryEvent, HistoryItem, Subject } from '../../shard/index.ts';
import { positiveNumber } from '../flags.ts';
import { currentContext } from '../remote/contexts.ts';
import { eventText, readHistory } from '../remote/events.ts';
import { addShardFlags, clientOf, type ShardFlags } from '../remote/flags.ts';
import { isNeedId, notANeed } from '../remote/needs.ts';
import { foldLosses } from './fold-losses.ts';
import { itemText } from './history-text.ts';
import { type JournalIo, PROCESS_IO } from './io.ts';
import { DEFAULT_DATA_DIR, dataDirOption, type SpanFlags, spanOf, spanOptions, timedLines } from './times.ts';

interface Flags extends SpanFlags, ShardFlags {
  readonly dataDir?: string;
  readonly limit: number;
  readonly output: 'text' | 'json';
}

export function historyCommand(io: JournalIo = PROCESS_IO): Command {
  const command = new Command('history')
    .description('print the history of a machine, a Need or a cluster, with reasons')
    .addArgument(new Argument('<kind>', 'what it is').choices(['machine', 'need', 'cluster']))
    .argument('<name>', 'its id; of a Need as "bigfleet get needs" shows it')
    .addOption(new Option('-o, --output <format>', 'text or json').choices(['text', 'json']).default('text'));
  for (const option of [dataDirOption(), ...spanOptions()]) command.addOption(option);
  command.addOption(
    new Option('--limit <n>', 'over the API: the newest events, at most this many')
      .argParser(positiveNumber)
      .default(1000),
  );
  return addShardFlags(command)
    .addHelpText(
      'after',
      `
Where a shard is given, by a flag, BIGFLEET_SHARD or a context, its API answers; with --data-dir, or
without a shard, the journal in the data directory does, whether the shard runs or not. Only the
journal has what changed from cycle to cycle besides the events. Times are UTC.
Exit code 0: found. 1: nothing is known about it, or no shard answers. 2: invalid arguments, or no
journal.

Examples:
  bigfleet history machine cloud-17 --shard http://127.0.0.1:8780
  bigfleet history machine cloud-17 --data-dir /var/lib/bigfleet
  bigfleet history need ml/00ff00ff00 --from 2h
  bigfleet history cluster web --from 2026-03-01T12:00:00Z --to 2026-03-01T13:00:00Z -o json`,
    )
    .action(async (kind: Subject['kind'], name: string, flags: Flags) => {
      if (kind === 'need' && !isNeedId(name)) throw notANeed(name);
      if (await asksShard(flags)) await overApi({ kind, name }, flags, io);
      else await fromDisk({ kind, name }, flags, io);
    });
}

async function asksShard({ dataDir, shard = '' }: Flags): Promise<boolean> {
  if (dataDir !== undefined) return false;
  return shard !== '' || (await currentContext()) !== null;
}

async function overApi({ kind, name }: Subject, flags: Flags, io: JournalIo): Promise<void> {
  const client = await clientOf(flags);
  const { from, to, limit } = flags;
  const span = { since: from?.toString(), until: to?.toString() };
  const newestFirst = await readHistory(client, { [kind]: name, ...span }, limit);
  const events: readonly HistoryEvent[] = newestFirst.toReversed();
  if (events.length === 0) io.exitCode(1);
  if (flags.output === 'json') return io.out(`${JSON.stringify(events, null, 2)}\n`);
  if (events.length === 0)
    return io.out(`The shard knows of nothing about ${kind} ${printable(name)} in that time.\n`);
  if (events.length === limit) io.out(`The newest ${limit} events; --limit shows more.\n`);
  io.out(events.map((event) => timedLines(event.atMs, eventText(event))).join(''));
}

/** Loaded on demand: over the API no SQLite is needed. */
async function fromDisk(subject: Subject, flags: Flags, io: JournalIo): Promise<void> {
  const { journalFileIn } = await import('../../shard/journal/format.ts');
  const { history } = await import('../../shard/journal/history.ts');
  const { JournalReader } = await import('../../shard/journal/journal-reader.ts');
  const reader = new JournalReader(journalFileIn(flags.dataDir ?? DEFAULT_DATA_DIR));
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
