// `bigfleet operator`: reads the settings, starts the operator with the given `start`, and stops it on a signal. `check`
// tries settings and template without a cluster; `manifests` prints what installs it (operator-manifests.ts).

import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { Command, Option } from 'commander';
import { BigFleetError, printable } from '../model/index.ts';
import {
  bootstrapTemplateOf,
  documentedSettings,
  type FlagKey,
  type FlagValues,
  loadSettings,
  type OperatorSettings,
  type RunningOperator,
  renderExample,
  SETTING_FLAGS,
} from '../operator/index.ts';
import type { Log, LogFile } from '../runtime/logger.ts';
import { endSignal } from './end-signal.ts';
import { manifestsCommand } from './operator-manifests.ts';
import { continueUnread } from './output-errors.ts';

export type StartOperator = (settings: OperatorSettings, log: Log) => Promise<RunningOperator>;

/** Input and output of the command, and when it ends; tests pass their own. */
export interface OperatorCommandIo {
  readonly read: (file: string) => Promise<string>;
  readonly readSync: (file: string) => string;
  readonly out: (text: string) => void;
  readonly openLog: (settings: OperatorSettings) => LogFile | Promise<LogFile>;
  /** Resolves when the process is asked to end. */
  readonly asked: () => Promise<unknown>;
  /** Ends the process although log lines are unwritten. */
  readonly exit: () => void;
}

const PROCESS_IO: OperatorCommandIo = {
  read: (file) => readFile(file, 'utf8'),
  readSync: (file) => readFileSync(file, 'utf8'),
  out: (text) => process.stdout.write(text),
  openLog: async ({ cluster, log }) => {
    continueUnread();
    const { logToStderr } = await import('../runtime/logger.ts');
    return logToStderr({ source: { cluster }, ...log });
  },
  asked: () => endSignal(),
  exit: () => process.exit(),
};

export function operatorCommand(start: StartOperator, io: OperatorCommandIo = PROCESS_IO): Command {
  const command = withSettingFlags(new Command('operator'))
    .description('run in a cluster: report what its pods need, let machines join, and drain nodes')
    .enablePositionalOptions()
    .addCommand(checkCommand(io))
    .addCommand(manifestsCommand(io))
    .addHelpText('after', HELP)
    .action(async () => {
      await run(await settingsOf(command, io), start, io);
    });
  return command;
}

const HELP = `
Settings are in one YAML file; docs/reference/operator-configuration.md has all of them. Flags beat
the file. The operator dials the shard and listens for probes and metrics only. Of several replicas
one leads; the others are ready to take over.

On SIGINT or SIGTERM it ends its session, releases its Lease and exits; a second signal ends it at
once. Exit code 0: ended by a signal. 1: failed. 2: not started: invalid arguments, settings,
template or certificates.

Examples:
  bigfleet operator manifests --cluster web --shard shard.example:7780 | kubectl apply -f -
  bigfleet operator check --config operator.yaml
  bigfleet operator --config operator.yaml
  bigfleet operator --cluster web --shard 127.0.0.1:7780 --kubeconfig ~/.kube/config \\
      --bootstrap-mode tokens`;

function withSettingFlags(command: Command): Command {
  command.option('--config <file>', 'settings in YAML; see docs/reference/operator-configuration.md');
  const documented = new Map(documentedSettings().map((each) => [each.key, each]));
  for (const [key, flag] of Object.entries(SETTING_FLAGS)) {
    const { about, accepts, defaultText } = documented.get(key)!;
    // Only the first sentence, in lower case like other flags; the reference page has the rest.
    const sentence = about.split('. ')[0]!.replace(/\.$/, '');
    const what = sentence.charAt(0).toLowerCase() + sentence.slice(1);
    const remark = defaultText === '' || defaultText === 'false' ? '' : ` (default: ${defaultText})`;
    const isSwitch = accepts === 'true or false';
    command.addOption(new Option(isSwitch ? `--${flag}` : `--${flag} <value>`, `${what}${remark}`));
  }
  return command;
}

function checkCommand(io: OperatorCommandIo): Command {
  const command = withSettingFlags(new Command('check'))
    .description('check settings and bootstrap template without a cluster, and render an example')
    .addHelpText(
      'after',
      `
Exit code 0: both can be used. 2: one cannot; the message says where and why.

Examples:
  bigfleet operator check --config operator.yaml
  bigfleet operator check --cluster web --shard 127.0.0.1:7780 --bootstrap-mode tokens`,
    )
    .action(async () => {
      const settings = await settingsOf(command, io);
      const template = bootstrapTemplateOf(settings, io.readSync);
      const { mode, templateFile } = settings.bootstrap;
      const source = templateFile === undefined ? 'the template of this mode' : printable(templateFile);
      io.out(`Settings of cluster ${settings.cluster}: valid.\n`);
      io.out(`Bootstrap: mode ${mode}, ${source}: valid. With example values it renders:\n\n`);
      io.out(renderExample(template, settings.cluster));
    });
  return command;
}

async function settingsOf(command: Command, io: OperatorCommandIo): Promise<OperatorSettings> {
  const { config: path, ...given } = command.opts<{ config?: string }>();
  const file = path === undefined ? {} : { file: { path, text: await textOf(path, io) } };
  const result = loadSettings({ ...file, flags: flagsOf(given) });
  if (result.ok) return result.value;
  const { problems } = result;
  const lines = problems.map((each) => `\n  ${each.path}: ${each.message}`);
  throw new BigFleetError('BF_CONFIG_INVALID', `${lines.join('')}\n`, { problems });
}

function flagsOf(given: Readonly<Record<string, unknown>>): FlagValues {
  const entries = Object.entries(SETTING_FLAGS).flatMap(([key, flag]) => {
    const value = given[new Option(`--${flag}`).attributeName()];
    return value === undefined ? [] : [[key as FlagKey, value as string | boolean] as const];
  });
  return Object.fromEntries(entries);
}

async function textOf(path: string, io: OperatorCommandIo): Promise<string> {
  return await io.read(path).catch((cause: unknown) => {
    throw new BigFleetError('BF_INPUT_UNREADABLE', `${(cause as Error).message}.`, { path, cause });
  });
}

async function run(settings: OperatorSettings, start: StartOperator, io: OperatorCommandIo): Promise<void> {
  // Subscribe first: a caller that reads the first line may send a signal at once.
  const asked = io.asked();
  const file = await io.openLog(settings);
  try {
    const operator = await start(settings, file.log);
    const { cluster, shard } = settings;
    io.out(
      `Operator of cluster ${cluster}: shard ${shard.addresses.join(', ')}, probes and metrics at http://${operator.address}\n`,
    );
    await asked;
    await operator.stop();
  } finally {
    if (!(await file.flush())) io.exit();
  }
}
