// `bigfleet whatif`: what would be decided if machines, prices, demand or policies were other than they are, on a running
// shard or on a scenario file. Nothing is executed. The engine is loaded for files only; a shard computes by itself.

import { readFile } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import { Command, Option } from 'commander';
import {
  BigFleetError,
  type DecisionInput,
  type Problem,
  printable,
  type Result,
} from '../../model/index.ts';
import { isObject, validate } from '../../runtime/validation.ts';
import { parseDocumentText } from '../../scenario/document.ts';
import { parseScenario } from '../../scenario/scenario.ts';
import type { WhatIfAnswer } from '../../whatif/answer.ts';
import type { WhatIfRequest } from '../../whatif/index.ts';
import { WHAT_IF_REQUEST } from '../../whatif/request.ts';
import { wholeNumber } from '../flags.ts';
import { whileBusy } from '../remote/client.ts';
import { addShardFlags, clientOf, type ShardFlags } from '../remote/flags.ts';
import { type Paint, paintFor } from '../table.ts';
import { type ChangeFlags, changeDocument } from './flags.ts';
import { answerLines } from './lines.ts';

export interface WhatIfIo {
  /** The text of a file; `-` is standard input. */
  readonly read: (file: string) => Promise<string>;
  readonly out: (text: string) => void;
  readonly wait: (ms: number) => Promise<void>;
  readonly paint: Paint;
}

const PROCESS_IO: WhatIfIo = {
  read: (file) => (file === '-' ? text(process.stdin) : readFile(file, 'utf8')),
  out: (text) => process.stdout.write(text),
  wait: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
  paint: paintFor(process.stdout),
};

/** Answers a question about a scenario. */
export type Answerer = (input: DecisionInput, request: WhatIfRequest) => WhatIfAnswer;

interface Flags extends ShardFlags, ChangeFlags {
  readonly scenario?: string;
  readonly file?: string;
  readonly settle?: true;
  readonly cycles: number;
  readonly limit?: number;
  readonly output: 'text' | 'json';
}

export function whatIfCommand(loadAnswerer: () => Promise<Answerer>, io: WhatIfIo = PROCESS_IO): Command {
  const command = new Command('whatif')
    .description('compare what is decided now with a changed fleet, demand or policy; nothing is executed')
    .argument('[scenario]', 'a scenario file instead of a running shard; - for standard input');
  for (const option of changeOptions()) command.addOption(option);
  command
    .option('-f, --file <file>', 'changes in YAML or JSON; flags come after those of the file')
    .option('--scenario <file>', 'the same as the argument')
    .option('--settle', 'decide until nothing is left to do; moves take no time')
    .addOption(
      new Option('--cycles <n>', 'most cycles of --settle, up to 100').argParser(wholeNumber).default(20),
    )
    .addOption(new Option('--limit <n>', 'items of each list, 0 to 200').argParser(wholeNumber).default(20))
    .addOption(new Option('-o, --output <format>', 'text or json').choices(['text', 'json']).default('text'));
  return addShardFlags(command)
    .addHelpText('after', HELP)
    .action((scenario: string | undefined, flags: Flags) =>
      run(scenario ?? flags.scenario, flags, io, loadAnswerer),
    );
}

function changeOptions(): readonly Option[] {
  const list = (flags: string, about: string): Option =>
    new Option(flags, about).argParser((text: string, before: readonly string[] | undefined) => [
      ...(before ?? []),
      text,
    ]);
  return [
    list('--without <selector>', 'machines that are gone: NAME, or KEY=VALUE,… with * for any text'),
    list('--price <selector=factor>', 'multiply prices, or set them: spot*=2, spot*=$0.5'),
    list('--probability <selector=factor>', 'multiply chances of interruption, or set them: spot*=10%'),
    list('--add <n:type@zone>', 'machines that could be bought in addition'),
    list('--demand <cluster=factor>', 'multiply what Needs want, by cluster or id of a Need'),
    list('--priority <cluster=priority>', 'another priority, by cluster or id of a Need'),
    list('--set <option=value>', 'sharing, reclaimHold, poolOrder, accelerators, maxPurchasedPerHour'),
  ];
}

const HELP = `
A selector is a name (instance type or capacity type), or conditions that must all hold: provider,
zone, capacity-type, instance-type, state, cluster; any other key is a label.
Exit code 0: answered. 1: the shard refused or is not reachable. 2: the input is wrong.

Examples:
  bigfleet whatif --without capacity-type=spot
  bigfleet whatif --price 'spot*=2' --settle
  bigfleet whatif --demand 'web*=1.5' --add 20:m6i.4xlarge@zone-a
  bigfleet whatif --set sharing=off -o json
  bigfleet whatif -f changes.yaml examples/scenarios/first-look.yaml`;

async function run(
  scenario: string | undefined,
  flags: Flags,
  io: WhatIfIo,
  loadAnswerer: () => Promise<Answerer>,
): Promise<void> {
  const body = await bodyOf(flags, io);
  const request = checked(flags.file ?? 'changes', validate(WHAT_IF_REQUEST, body));
  const answer =
    scenario === undefined
      ? await askShard(flags, body, io)
      : await askFile(scenario, request, io, loadAnswerer);
  const lines = flags.output === 'json' ? [JSON.stringify(answer, null, 2)] : answerLines(answer, io.paint);
  io.out(`${lines.join('\n')}\n`);
}

async function bodyOf(flags: Flags, io: WhatIfIo): Promise<object> {
  const { file, settle, cycles, limit } = flags;
  let changes: unknown = {};
  if (file !== undefined) changes = checked(file, parseDocumentText(await readText(file, io))) ?? {};
  if (!isObject(changes))
    throw new BigFleetError('BF_INPUT_INVALID', `${printable(file!)}: Expected an object.`);
  return { changes: changeDocument(changes, flags), settle: settle === true ? cycles : 0, limit };
}

async function askFile(
  file: string,
  request: WhatIfRequest,
  io: WhatIfIo,
  loadAnswerer: () => Promise<Answerer>,
): Promise<WhatIfAnswer> {
  const { input } = checked(file, parseScenario(await readText(file, io)));
  const answerer = await loadAnswerer();
  return answerer(input, request);
}

async function askShard(flags: Flags, body: object, io: WhatIfIo): Promise<WhatIfAnswer> {
  const client = await clientOf(flags);
  return whileBusy(() => client.post<WhatIfAnswer>('/v1/whatif', body), io.wait);
}

async function readText(file: string, io: WhatIfIo): Promise<string> {
  try {
    return await io.read(file);
  } catch (cause) {
    const message = cause instanceof Error ? cause.message : String(cause);
    throw new BigFleetError('BF_INPUT_UNREADABLE', message, { cause });
  }
}

/** The value; throws with all problems if there are any. */
function checked<T>(what: string, result: Result<T>): T {
  if (result.ok) return result.value;
  const lines = result.problems.map(
    ({ code, path, message }: Problem) =>
      `\n  ${code}  ${path === '' ? '' : `${printable(path)}: `}${message}`,
  );
  throw new BigFleetError('BF_INPUT_INVALID', `${printable(what)}:${lines.join('')}\n`, {
    problems: result.problems,
  });
}
