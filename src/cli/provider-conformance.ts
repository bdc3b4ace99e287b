// `bigfleet provider conformance`: runs the conformance suite against a provider and prints the result of each
// behaviour.

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Command, InvalidArgumentError, Option } from 'commander';
import { BigFleetError } from '../model/index.ts';
import { PROFILES, type Profile } from '../provider/conformance/harness/behaviour.ts';
import type { ConformanceOptions, ConformanceReport, Progress } from '../provider/index.ts';
import { tlsFiles } from '../wire/grpc/tls-files.ts';
import { conformanceLines } from './conformance-table.ts';
import { durationOption, wholeNumber } from './flags.ts';
import { type Paint, paintFor } from './table.ts';

/** Output of the command; tests pass their own. */
export interface ConformanceIo {
  readonly out: (text: string) => void;
  /** A progress line that is overwritten in place; null clears it. */
  readonly progress: (line: string | null) => void;
  readonly exitCode: (code: number) => void;
  readonly paint: Paint;
}

const PROCESS_IO: ConformanceIo = {
  out: (text) => process.stdout.write(text),
  progress: (line) => {
    // Overwriting a line needs a terminal that can move its cursor.
    if (process.stderr.isTTY && process.env['TERM'] !== 'dumb')
      process.stderr.write(`\r\u001b[K${line ?? ''}`);
  },
  exitCode: (code) => {
    process.exitCode = code;
  },
  paint: paintFor(process.stdout),
};

interface ConformanceFlags {
  readonly target?: string;
  readonly profile?: readonly Profile[];
  readonly only?: readonly string[];
  readonly seed: number;
  readonly scaleSeed: number;
  readonly soak: number;
  readonly transitionTimeout: number;
  readonly faultTarget?: string;
  readonly start?: string;
  readonly startScale?: string;
  readonly tlsCert?: string;
  readonly tlsKey?: string;
  readonly tlsCa?: string;
  readonly output: 'table' | 'json' | 'junit';
  readonly out?: string;
}

type RunSuite = (options: ConformanceOptions) => Promise<ConformanceReport>;

/** The suite is loaded when it runs: help needs neither it nor gRPC. */
const runSuite: RunSuite = async (options) => {
  const { runConformance } = await import('../provider/index.ts');
  return await runConformance(options);
};

export function conformanceCommand(io: ConformanceIo = PROCESS_IO, run: RunSuite = runSuite): Command {
  const target = new Option('--target <host:port>', 'the provider').env('BIGFLEET_PROVIDER_TARGET');
  return new Command('conformance')
    .description('check that a provider keeps the contract, behaviour by behaviour')
    .addOption(target)
    .option('--profile <names>', `what it claims to be: ${PROFILES.join(', ')} (default: core)`, profilesOf)
    .option(
      '--only <names>',
      'ids, patterns such as B3xx, or areas; of the profiles if given, else of all',
      listOf,
    )
    .option('--seed <n>', 'repeats the random behaviours of a run', wholeNumber, 1)
    .option('--scale-seed <n>', 'machines the scale profile must find', wholeNumber, 8_000)
    .addOption(durationOption('--soak <duration>', 'how long each soak of the scale profile lasts', '10s'))
    .addOption(
      durationOption('--transition-timeout <duration>', 'transition timeout of the fault provider', '2s'),
    )
    .option('--fault-target <host:port>', 'a provider that fails on purpose, for the fault profile')
    .option('--start <command>', 'starts a provider; {port}, {state}, {seed}, {timeout} are filled in')
    .option('--start-scale <command>', 'starts one for the scale profile; default: --start without {state}')
    .option('--tls-cert <file>', 'certificate to present, with --tls-key and --tls-ca')
    .option('--tls-key <file>', 'its key')
    .option('--tls-ca <file>', 'authority that signed the certificate of the provider')
    .addOption(
      new Option('-o, --output <format>', 'table, json or junit')
        .choices(['table', 'json', 'junit'])
        .default('table'),
    )
    .option('--out <dir>', 'also write report.json and junit.xml there')
    .addHelpText('after', HELP)
    .action(async (flags: ConformanceFlags) => {
      const options = optionsOf(flags);
      const report = await withProgress(io, (onProgress) => run({ ...options, onProgress }));
      if (flags.out !== undefined) await writeReports(flags.out, report);
      io.out(await rendered(report, flags.output, io.paint));
      io.exitCode(report.verdict === 'certified' ? 0 : 1);
    });
}

const HELP = `
A skipped behaviour does not pass: the verdict is then incomplete, unless the skip is excused,
because the contract does not demand what the behaviour needs. A run returns the machines that it
bought.
The durable profile needs --start; the fault profile needs a provider with the fault selectors, see
docs/provider/writing-a-provider.md.

The scale profile starts the provider without a state file: it leaves the word with {state} out of
the command of --start, and the flag before it if {state} is a word of its own. --start-scale names
another command for this profile, which is used as it is.

Exit code 0: certified. 1: failed or incomplete. 2: invalid arguments,
or no provider at the address.

Examples:
  bigfleet provider conformance --target localhost:9000
  bigfleet provider conformance --target localhost:9000 --only B302
  bigfleet provider conformance --target localhost:9000 --profile core,cloud -o junit > junit.xml
  bigfleet provider conformance --profile core,fault,durable \\
      --start 'my-provider --addr=127.0.0.1:{port} --state={state} --seed-count={seed}'`;

function optionsOf(flags: ConformanceFlags): ConformanceOptions {
  return {
    target: flags.target,
    faultTarget: flags.faultTarget,
    start: flags.start,
    startScale: flags.startScale,
    profiles: flags.profile,
    only: flags.only,
    seed: flags.seed,
    scaleSeed: flags.scaleSeed,
    soakMs: flags.soak,
    transitionTimeoutMs: flags.transitionTimeout,
    tls: tlsFiles({ cert: flags.tlsCert, key: flags.tlsKey, ca: flags.tlsCa }),
  };
}

/** Shorter runs show no progress. */
const PROGRESS_AFTER_MS = 2_000;
const PROGRESS_EVERY_MS = 200;

async function withProgress<T>(
  io: ConformanceIo,
  run: (onProgress: (progress: Progress) => void) => Promise<T>,
): Promise<T> {
  const started = performance.now();
  let latest: Progress | undefined;
  const timer = setInterval(() => {
    const elapsedMs = performance.now() - started;
    if (latest === undefined || elapsedMs < PROGRESS_AFTER_MS) return;
    io.progress(`${latest.done}/${latest.total}  ${latest.id}  ${Math.round(elapsedMs / 1000)} s`);
  }, PROGRESS_EVERY_MS);
  // Runs the exit handlers, which end the processes that the run started.
  const interrupt = () => process.exit(130);
  process.once('SIGINT', interrupt);
  process.once('SIGTERM', interrupt);
  try {
    return await run((progress) => {
      latest = progress;
    });
  } finally {
    process.off('SIGINT', interrupt);
    process.off('SIGTERM', interrupt);
    clearInterval(timer);
    io.progress(null);
  }
}

async function writeReports(folder: string, report: ConformanceReport): Promise<void> {
  const { reportJson, reportJunit } = await import('../provider/index.ts');
  try {
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'report.json'), reportJson(report));
    writeFileSync(join(folder, 'junit.xml'), reportJunit(report));
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    throw new BigFleetError('BF_OUTPUT_UNWRITABLE', message, { path: folder, cause: error });
  }
}

async function rendered(
  report: ConformanceReport,
  output: ConformanceFlags['output'],
  paint: Paint,
): Promise<string> {
  const { reportJson, reportJunit } = await import('../provider/index.ts');
  switch (output) {
    case 'json':
      return reportJson(report);
    case 'junit':
      return reportJunit(report);
    case 'table':
      return `${conformanceLines(report, paint).join('\n')}\n`;
  }
}

function listOf(text: string): readonly string[] {
  return text.split(',').map((word) => word.trim());
}

function profilesOf(text: string): readonly Profile[] {
  return listOf(text).map((word) => {
    const profile = PROFILES.find((name) => name === word);
    if (profile === undefined) throw new InvalidArgumentError(`Known profiles: ${PROFILES.join(', ')}.`);
    return profile;
  });
}
