// `bigfleet explain [NEED|machine ID|cluster ID|pod NS/NAME|WORD]`: why a Need of a running shard is met or not, who uses
// a machine and why it is here, why a cluster has what it has, why a pod waits, and what a word means that any surface
// prints: an error code, an action, a reason, a verdict, a state.

import { Command, Option } from 'commander';
import { BigFleetError, printable } from '../../model/index.ts';
import { showExplanation } from '../remote/explain-need.ts';
import { proseLines } from '../remote/facts.ts';
import { addShardFlags, EXIT_CODES, PROCESS_IO, type RemoteIo, type ShardFlags } from '../remote/flags.ts';
import { isNeedId, notANeed } from '../remote/needs.ts';
import { proseWidth } from '../table.ts';
import type { KubeFactory, showPod } from './pod.ts';
import { DEFAULT_OPERATOR_NAMESPACE, type PodFlags } from './pod-flags.ts';
import { type Entry, GROUPS, type Group, groupNamed, meaningsOf, nearWord } from './word-groups.ts';

type Flags = ShardFlags & PodFlags;

/** Followed by the id of a machine, which may look like a word. */
const MACHINE = 'machine';
/** Followed by the name of a cluster. */
const CLUSTER = 'cluster';
/** Followed by NAMESPACE/NAME. */
const POD = 'pod';

/** `connect` reaches the API server of the user's kubeconfig, for pods. */
export function explainCommand(io: RemoteIo = PROCESS_IO, connect?: KubeFactory): Command {
  const command = new Command('explain')
    .description(
      'explain why a Need is met or not, why a machine is here, why a pod waits, or what a word means',
    )
    .argument(
      '[what]',
      'a Need such as ml/00ff00ff00, a word such as preempt, a group of words, "machine", "cluster" or "pod"',
    )
    .argument('[id]', 'after "machine" or "cluster": its id; after "pod": NAMESPACE/NAME')
    .option('--kubeconfig <file>', 'for a pod: the kubeconfig; otherwise as kubectl finds it')
    .option('--context <name>', 'for a pod: the context of the kubeconfig')
    .option(
      '--operator-namespace <name>',
      'for a pod: the namespace of the operator, which keeps the verdicts',
      DEFAULT_OPERATOR_NAMESPACE,
    )
    .addOption(new Option('-o, --output <format>', 'text or json').choices(['text', 'json']).default('text'));
  return addShardFlags(command)
    .addHelpText(
      'after',
      `
Words are error codes, and all words for actions, reasons, verdicts, outcomes and states that
commands, the page, the API and metrics use, in any case. Needs have the ids that
"bigfleet get needs" shows, machines those of "bigfleet get machines"; for both a shard must be
running. A pod is looked up in the cluster of your kubeconfig, with your rights.
${EXIT_CODES}

Examples:
  bigfleet explain ml/00ff00ff00         a Need: what it wants, whether it has that, and why not
  bigfleet explain machine m-17          a machine: who uses it, why it is here, why it was taken
  bigfleet explain cluster web           a cluster: why it has what it has, and what is in its way
  bigfleet explain pod shop/web-1        a pod: why it waits, or where it runs
  bigfleet explain                       list all words in groups
  bigfleet explain phase2.inversion      one word
  bigfleet explain BF_QUANTITY_SYNTAX    one error code
  bigfleet explain outcomes              the words of one group
  bigfleet explain -o json               the whole catalogue for programs`,
    )
    .action(async (what: string | undefined, id: string | undefined, flags: Flags) => {
      if (what === MACHINE && id !== undefined) return await explainMachine(id, flags, io);
      if (what === MACHINE)
        throw new BigFleetError('BF_USAGE', 'Which machine? "bigfleet get machines" lists them.');
      if (what === CLUSTER && id !== undefined) return await explainCluster(id, flags, io);
      if (what === CLUSTER)
        throw new BigFleetError('BF_USAGE', 'Which cluster? "bigfleet get clusters" lists them.');
      if (what === POD && id !== undefined) return await explainPod(id, flags, io, connect);
      if (what === POD) throw new BigFleetError('BF_USAGE', 'Which pod? Give NAMESPACE/NAME.');
      if (id !== undefined)
        throw new BigFleetError(
          'BF_USAGE',
          `Only "machine", "cluster" and "pod" take an id, not "${printable(what!)}".`,
        );
      if (what !== undefined && isNeedId(what)) return await showExplanation(what, flags, io);
      const text = flags.output === 'json' ? JSON.stringify(jsonOf(what), null, 2) : textOf(what);
      io.out(`${text}\n`);
    });
}

/** Loaded here: words are explained without the sentences of events. */
async function explainMachine(id: string, flags: Flags, io: RemoteIo): Promise<void> {
  const { showMachine } = await import('../remote/machine-story.ts');
  await showMachine(id, flags, io);
}

/** Loaded here: words are explained without the tables of clusters. */
async function explainCluster(id: string, flags: Flags, io: RemoteIo): Promise<void> {
  const { showCluster } = await import('../remote/cluster-story.ts');
  await showCluster(id, flags, io);
}

/** Loaded here: words and Needs are explained without the parsers of kubeconfig files and verdicts. */
async function explainPod(...[id, flags, io, connect]: Parameters<typeof showPod>): Promise<void> {
  const { showPod } = await import('./pod.ts');
  await showPod(id, flags, io, connect);
}

/** Error codes are one object each, with the field `code`; other words may have several meanings. */
function jsonOf(what: string | undefined): unknown {
  if (what === undefined) return GROUPS.flatMap(({ entries }) => entries.map(entryJson));
  const group = groupNamed(what);
  const entries = found(what);
  const [only] = entries;
  if (only?.group === 'errors') return entryJson(only);
  return [...entries, ...(group?.entries ?? [])].map(entryJson);
}

function entryJson(entry: Entry): object {
  return entry.group === 'errors' ? { code: entry.word, ...entry } : entry;
}

function textOf(what: string | undefined): string {
  if (what === undefined) return GROUPS.map(overview).join('\n\n');
  const group = groupNamed(what);
  const parts = [...found(what).map(entryText), ...(group === undefined ? [] : [groupText(group)])];
  return parts.join('\n\n');
}

/** The meanings of a word; none for the name of a group, which is known too. */
function found(what: string): readonly Entry[] {
  const entries = meaningsOf(what);
  if (entries.length > 0 || groupNamed(what) !== undefined) return entries;
  if (what.includes('/')) throw notANeed(what);
  throw new BigFleetError(
    'BF_USAGE',
    `The word "${printable(what)}" is not known.${nearWord(what)} "bigfleet explain" lists all words.`,
  );
}

function entryText({ group, word, summary, remedy, synonyms }: Entry): string {
  const { one } = GROUPS.find(({ name }) => name === group)!;
  if (group === 'errors') return [word, ...proseLines([summary, remedy])].join('\n');
  const also = synonyms.length === 0 ? '' : ` (also: ${synonyms.join(', ')})`;
  return [`${word}, ${one}${also}`, ...proseLines([summary, remedy])].join('\n');
}

/** A group by name, with its words alone. */
function overview({ name, title, entries }: Group): string {
  return [`${name}: ${title}`, ...wordLines(entries.map(({ word }) => word))].join('\n');
}

/** Wraps a list of words; no word is broken. */
function wordLines(words: readonly string[]): readonly string[] {
  const width = proseWidth();
  const lines: string[] = [];
  for (const word of words) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + 2 + word.length < width)
      lines[lines.length - 1] = `${last}, ${word}`;
    else lines.push(`  ${word}`);
  }
  return lines;
}

function groupText({ title, entries }: Group): string {
  return [title, ...entries.flatMap(({ word, summary }) => [word, ...proseLines([summary])])].join('\n');
}
