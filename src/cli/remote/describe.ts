// `bigfleet describe machine|need|cluster|provider|cycle NAME`: everything about one thing on one screen, with its recent
// events. Also used by the live screen (top/).

import { Argument, Command, Option } from 'commander';
import { BigFleetError, printable } from '../../model/index.ts';
import type { HistoryEvent, MachineView, NeedExplanation, StatusView } from '../../shard/index.ts';
import { epochNumber } from '../flags.ts';
import { asCalledHere } from '../invocation.ts';
import type { Query, ShardClient } from './client.ts';
import { clusterLines, clusterStory } from './cluster-story.ts';
import { EVENT_TABLE, readHistory } from './events.ts';
import { explanationLines, explanationOf } from './explain-need.ts';
import { addShardFlags, clientOf, EXIT_CODES, PROCESS_IO, type RemoteIo, type ShardFlags } from './flags.ts';
import { yamlOf } from './formats.ts';
import { machineLines, machinePath } from './machines.ts';
import { isNeedId, notANeed } from './needs.ts';
import { type PastCycleFlags, pastCycle, pastCycleLines } from './past-cycle.ts';
import { describedProvider } from './provider-story.ts';
import { type OutputOptions, sectionLines, table, titled } from './tables.ts';

/** Singular, plural and short names, as of `bigfleet get`. */
const KINDS = {
  machine: ['machine', 'machines', 'mc'],
  need: ['need', 'needs', 'nd'],
  cluster: ['cluster', 'clusters', 'cl'],
  provider: ['provider', 'providers', 'pv'],
  cycle: ['cycle', 'cycles', 'cy'],
} as const;
type DescribedKind = keyof typeof KINDS;

const MAX_EVENTS = 15;
const LAST_CYCLE = '"bigfleet get status" shows the number of the last one.';

interface Flags extends ShardFlags, PastCycleFlags {
  readonly output: 'text' | 'json' | 'yaml';
}

export function describeCommand(io: RemoteIo = PROCESS_IO): Command {
  const command = new Command('describe')
    .description(
      'show everything about one machine, Need, cluster, provider or past cycle, with its recent events',
    )
    .addArgument(
      new Argument('<kind>', 'machine, need, cluster, provider or cycle, also in short, or KIND/NAME'),
    )
    .argument('[name]', 'its id or name, as "bigfleet get" shows it; of a cycle its number')
    .option(
      '--epoch <n>',
      'of a cycle: of the start of the shard with this epoch, not the last one',
      epochNumber,
    )
    .option('--again', 'of a cycle: also decides it again and compares, which changes nothing')
    .addOption(
      new Option('-o, --output <format>', 'text, json or yaml')
        .choices(['text', 'json', 'yaml'])
        .default('text'),
    );
  return addShardFlags(command)
    .addHelpText(
      'after',
      `
${EXIT_CODES}

Examples:
  bigfleet describe machine m-17
  bigfleet describe need/ml/00ff00ff00            as "get -o name" prints it
  bigfleet describe cluster web
  bigfleet describe pv cloud -o yaml
  bigfleet describe cycle 7 --again               from the journal of the shard`,
    )
    .action(async (first: string, second: string | undefined, flags: Flags) => {
      const { kind, name } = subjectOf(first, second);
      const { epoch, again } = flags;
      if (kind !== 'cycle' && (epoch !== undefined || again !== undefined))
        throw new BigFleetError('BF_USAGE', '--epoch and --again are about a cycle.');
      const client = await clientOf(flags);
      const { nowMs } = await client.get<StatusView>('/v1/status');
      const options = { paint: io.paint, isWide: false, nowMs };
      const { answer, lines } = await described(client, { kind, name, epoch, again }, options);
      if (flags.output === 'text') return io.out(`${lines.join('\n')}\n`);
      io.out(flags.output === 'json' ? `${JSON.stringify(answer, null, 2)}\n` : await yamlOf(answer));
    });
}

/** The flags are about a cycle. */
export interface DescribedSubject extends PastCycleFlags {
  readonly kind: DescribedKind;
  readonly name: string;
}

function subjectOf(first: string, second: string | undefined): DescribedSubject {
  const slash = first.indexOf('/');
  const [word, name] =
    second === undefined && slash > 0 ? [first.slice(0, slash), first.slice(slash + 1)] : [first, second];
  const found = Object.entries(KINDS).find(([, names]) => names.some((each) => each === word.toLowerCase()));
  if (found === undefined)
    throw new BigFleetError('BF_USAGE', `"${printable(word)}" is none of ${Object.keys(KINDS).join(', ')}.`);
  const kind = found[0] as DescribedKind;
  if (name === undefined || name === '')
    throw new BigFleetError(
      'BF_USAGE',
      `Which ${kind}? ${kind === 'cycle' ? LAST_CYCLE : `"bigfleet get ${KINDS[kind][1]}" lists them.`}`,
    );
  if (kind === 'need' && !isNeedId(name)) throw notANeed(name);
  return { kind, name };
}

interface Described {
  /** For programs. */
  readonly answer: object;
  /** For people. */
  readonly lines: readonly string[];
}

export async function described(
  client: ShardClient,
  { kind, name, ...flags }: DescribedSubject,
  options: OutputOptions,
): Promise<Described> {
  const events = (query: Query) => eventsOf(client, query);
  switch (kind) {
    case 'machine': {
      const machine = await client.get<MachineView>(machinePath(name));
      return withEvents(
        { machine },
        machineLines(machine, options),
        await events({ machine: name }),
        options,
      );
    }
    case 'need': {
      const explanation: NeedExplanation = await explanationOf(client, name);
      const lines = await explanationLines(client, explanation, options);
      return withEvents(explanation, lines, await events({ need: explanation.need.id }), options);
    }
    case 'cluster': {
      const story = await clusterStory(client, name);
      return withEvents(story, clusterLines(story, options), await events({ cluster: name }), options);
    }
    case 'cycle': {
      const past = await pastCycle(client, name, flags);
      const of = { cycle: name, epoch: String(past.plan.epoch) };
      return withEvents(past, pastCycleLines(past, options), await events(of), options);
    }
    case 'provider': {
      const { answer, lines } = await describedProvider(client, name, options);
      const isAbout = (event: HistoryEvent): boolean => providerOf(event) === name;
      const recent = await readHistory(client, { kind: 'log,loss' }, MAX_EVENTS * 10);
      return withEvents(answer, lines, recent.filter(isAbout).slice(0, MAX_EVENTS), options);
    }
  }
}

/** The provider that a log line or a loss is about. */
function providerOf({ event }: HistoryEvent): unknown {
  if (event.kind === 'log') return event.fields['provider'];
  if (event.kind === 'loss') return event.loss.provider;
  return event.kind === 'losses' ? event.losses.provider : undefined;
}

async function eventsOf(client: ShardClient, query: Query): Promise<readonly HistoryEvent[]> {
  return await readHistory(client, query, MAX_EVENTS);
}

function withEvents(
  answer: object,
  lines: readonly string[],
  events: readonly HistoryEvent[],
  options: OutputOptions,
): Described {
  const rows = events.map((event) => EVENT_TABLE.rowOf(event, options));
  const shown = rows.length === 0 ? [] : table(EVENT_TABLE.columns, rows, options, { indent: 2 });
  const rest =
    events.length < MAX_EVENTS ? [] : [asCalledHere('  More: bigfleet get events, or bigfleet history')];
  return {
    answer: { ...answer, events },
    lines: sectionLines([lines, titled('Recent events, newest first', [...shown, ...rest], options)]),
  };
}
