// `bigfleet shard`: reads the configuration, starts a shard with the given `start`, prints its addresses, and stops it
// on a signal.

import { readFile } from 'node:fs/promises';
import { Command, Option } from 'commander';
import { BigFleetError, type Problem, printable, type Result } from '../model/index.ts';
import { didYouMean } from '../runtime/nearest.ts';
import {
  type LoadedConfig,
  loadConfig,
  printConfig,
  SETTING_KEYS,
  type SettingFlags,
  type SettingKey,
  type ShardConfig,
  settingOf,
} from '../shard/config/index.ts';
import type { EndReason, LogFile, RunningShard, StartShard } from '../shard/index.ts';
import { endSignal } from './end-signal.ts';
import { continueUnread } from './output-errors.ts';

/** Input and output of the command, and when it ends; tests pass their own. */
export interface ShardCommandIo {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly read: (file: string) => Promise<string>;
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
  readonly openLog: (config: ShardConfig) => LogFile | Promise<LogFile>;
  /** Resolves when the process is asked to end. */
  readonly asked: () => Promise<unknown>;
  readonly exitCode: (code: number) => void;
  /** Ends the process although log lines are unwritten. */
  readonly exit: () => void;
}

const PROCESS_IO: ShardCommandIo = {
  env: process.env,
  read: (file) => readFile(file, 'utf8'),
  out: (text) => process.stdout.write(text),
  err: (text) => process.stderr.write(text),
  openLog: async ({ id, log }) => {
    continueUnread();
    const { logToStderr } = await import('../runtime/logger.ts');
    return logToStderr({ source: { shard: id }, ...log });
  },
  asked: () => endSignal(),
  exitCode: (code) => {
    process.exitCode = code;
  },
  exit: () => process.exit(),
};

interface OwnFlags {
  readonly config?: string;
  readonly printConfig?: true;
}

export function shardCommand(start: StartShard, io: ShardCommandIo = PROCESS_IO): Command {
  const command = new Command('shard')
    .description('run a shard, which owns a slice of the fleet and serves the clusters that connect to it')
    .option('--config <file>', 'settings in YAML; see docs/reference/configuration.md')
    .option('--print-config', 'print the configuration in force, with the source of each value, and end');
  for (const key of SETTING_KEYS) {
    const option = optionOf(key);
    if (option !== undefined) command.addOption(option);
  }
  return command
    .allowUnknownOption()
    .allowExcessArguments()
    .addHelpText('after', HELP)
    .action(async () => {
      const own = command.opts<OwnFlags>();
      const loaded = await load(command, own, io);
      if (own.printConfig === true) io.out(printConfig(loaded));
      else await run(loaded.config, start, io);
    });
}

const HELP = `
Every setting, also those without a flag, can be given in the YAML file and in the environment:
cycle.interval is BIGFLEET_SHARD_CYCLE_INTERVAL. Flags beat the environment, which beats the file.
docs/reference/configuration.md has all of them.

The first line on standard output says where the shard listens; the log goes to standard error.

On SIGINT or SIGTERM it completes or withdraws actions in flight, then exits; a second signal ends
it at once. Exit code 0: ended by a signal. 1: failed, or fenced by a newer process of the same
name; the message says why. 2: not started: invalid arguments, configuration or addresses, or a
data directory that cannot be used.

Examples:
  bigfleet provider fake &
  bigfleet shard --provider fake=127.0.0.1:9000
  bigfleet shard --provider metal=10.0.0.1:9000 --provider cloud=10.0.0.2:9000 --listen :7780 \\
      --tls-cert shard.crt --tls-key shard.key --tls-ca fleet.crt --data-dir /var/lib/bigfleet
  bigfleet shard --config shard.yaml --dry-run
  bigfleet shard --config shard.yaml --print-config > effective.yaml
  BIGFLEET_SHARD_LOG_LEVEL=debug bigfleet shard --config shard.yaml`;

function optionOf(key: SettingKey): Option | undefined {
  const { flag, about, kind, defaultValue } = settingOf(key);
  if (flag === undefined) return undefined;
  const value = kind.placeholder === undefined ? '[true|false]' : `<${kind.placeholder}>`;
  // Only the first sentence, in lower case like other flags; the reference page has the rest.
  const sentence = about.split('. ')[0]!.replace(/\.$/, '');
  const what = sentence.charAt(0).toLowerCase() + sentence.slice(1);
  const plain = defaultValue === undefined ? undefined : kind.write(defaultValue);
  if (typeof plain === 'object') {
    return new Option(`--${flag} ${value}`, `${what}; may be repeated`).argParser(collect);
  }
  const remark = plain === undefined ? '' : ` (default: ${plain})`;
  return new Option(`--${flag} ${value}`, `${what}${remark}`);
}

function collect(word: string, words: readonly string[] | undefined): readonly string[] {
  return [...(words ?? []), word];
}

async function load(command: Command, own: OwnFlags, io: ShardCommandIo): Promise<LoadedConfig> {
  const file =
    own.config === undefined ? {} : { file: { path: own.config, text: await read(own.config, io) } };
  const sources = { ...file, env: io.env, flags: settingFlags(command) };
  const result: Result<LoadedConfig> = loadConfig(sources, own.printConfig !== true);
  const problems = [...unknownText(command), ...(result.ok ? [] : result.problems)];
  if (result.ok && problems.length === 0) return result.value;
  const lines = problems.map(({ path, message }) => `\n  ${path}: ${message}`);
  throw new BigFleetError('BF_CONFIG_INVALID', `${lines.join('')}\n`, { problems });
}

async function read(file: string, io: ShardCommandIo): Promise<string> {
  return await io.read(file).catch((cause: unknown) => {
    const message = cause instanceof Error ? cause.message : String(cause);
    throw new BigFleetError('BF_INPUT_UNREADABLE', `${message}.`, { path: file, cause });
  });
}

function settingFlags(command: Command): SettingFlags {
  const given: Record<string, unknown> = command.opts();
  const entries = SETTING_KEYS.flatMap((key) => {
    const value = given[optionOf(key)?.attributeName() ?? ''];
    return value === undefined ? [] : [[key, value]];
  });
  return Object.fromEntries(entries) as SettingFlags;
}

/** Arguments that are not flags of this command. The argument after an unknown flag counts as its value. */
function unknownText(command: Command): readonly Problem[] {
  const flags = command.options.map(({ long }) => long!);
  return command.args.flatMap((word, i): Problem[] => {
    const isFlag = word.startsWith('-');
    if (!isFlag && /^-[^=]*$/.test(command.args[i - 1] ?? '')) return [];
    const name = word.split('=')[0]!;
    const message = isFlag ? `There is no such flag.${didYouMean(name, flags)}` : 'It belongs to no flag.';
    return [{ code: 'BF_CONFIG_INVALID', path: printable(name), message }];
  });
}

async function run(config: ShardConfig, start: StartShard, io: ShardCommandIo): Promise<void> {
  // Subscribe first: a caller that reads the first line may send a signal at once.
  const asked = io.asked();
  const file = await io.openLog(config);
  try {
    const shard = await start(config, { log: file.log });
    io.out(startLines(config, shard));
    const reason = await Promise.race([shard.ended, asked.then(() => stopped(shard))]);
    if (reason.kind === 'stopped') return;
    io.err(`${printable(reason.message)}\n`);
    io.exitCode(1);
  } finally {
    if (!(await file.flush())) io.exit();
  }
}

async function stopped(shard: RunningShard): Promise<EndReason> {
  await shard.stop();
  return await shard.ended;
}

function startLines(config: ShardConfig, { addresses, epoch }: RunningShard): string {
  const providers = config.providers.map(({ name, address }) => `${name} (${address})`);
  const scheme = config.apiTls === null ? 'http' : 'https';
  return [
    `Shard ${config.id} takes sessions at ${addresses.sessions}, API and metrics at ${scheme}://${addresses.api}`,
    `State is in ${printable(config.dataDir)}, epoch ${epoch}.`,
    `Providers: ${providers.join(', ')}.`,
    ...(config.guardrails.dryRun ? ['Dry run: it decides and shows, and carries out nothing.'] : []),
    '',
  ].join('\n');
}
