// `npm run bench -- provider`: Lists of whole inventories, a thousand concurrent transitions, and the overhead of the
// kit. Each part runs in a process of its own, so that memory peaks are not shared; providers run in other processes.

import { spawnSync } from 'node:child_process';
import { cpus, loadavg, totalmem } from 'node:os';
import { optionsGiven } from '../options.ts';
import {
  measureOverhead,
  measureTransitions,
  type OverheadFigures,
  type TransitionFigures,
} from './calls.ts';
import { type ListFigures, type ListsResult, measureFleet, measureLists } from './lists.ts';
import { listTable, overheadTable, transitionTable } from './tables.ts';

const HELP = `bench provider: Lists, transitions and the cost of a call, over gRPC on loopback

  --records N      machines of one provider (default 500000); the fleet of five has 0.9 N each
  --part NAME      only this part; may be given more than once (default: all)
                   lists, fleet, transitions, overhead
  --rounds N       rounds of transitions and of calls (default 5)
  --json           one JSON document on standard output

examples:
  npm run --silent bench -- provider
  npm run --silent bench -- provider --records 50000 --part lists --json
`;

const PROVIDERS = 5;
const FLEET_SHARE = 0.9;
const AT_ONCE = 1000;

interface Settings {
  readonly records: number;
  readonly rounds: number;
}

interface Parts {
  readonly lists: ListsResult;
  readonly fleet: readonly ListFigures[];
  readonly transitions: readonly TransitionFigures[];
  readonly overhead: readonly OverheadFigures[];
}

const MEASURES: { readonly [K in keyof Parts]: (settings: Settings) => Promise<Parts[K]> } = {
  lists: ({ records }) => measureLists(records, 1),
  fleet: ({ records }) => measureFleet(PROVIDERS, Math.round(records * FLEET_SHARE)),
  transitions: async ({ rounds }) => [
    await measureTransitions('none', AT_ONCE, rounds),
    await measureTransitions('sqlite', AT_ONCE, rounds),
  ],
  overhead: ({ rounds }) => measureOverhead(rounds),
};
const NAMES = Object.keys(MEASURES) as (keyof Parts)[];

const values = optionsGiven({
  records: { type: 'string', default: '500000' },
  rounds: { type: 'string', default: '5' },
  part: { type: 'string', multiple: true },
  json: { type: 'boolean', default: false },
  help: { type: 'boolean', default: false },
  // Measures one part in this process and prints it as JSON.
  inside: { type: 'string' },
});
const settings: Settings = { records: Number(values.records), rounds: Number(values.rounds) };

function usageProblem(): string | null {
  for (const [name, value] of Object.entries(settings)) {
    if (!Number.isInteger(value) || value < 1) return `--${name} must be a whole number above 0.`;
  }
  const unknown = values.part?.find((part) => !NAMES.includes(part as keyof Parts));
  return unknown === undefined ? null : `There is no part ${unknown}; there are: ${NAMES.join(', ')}.`;
}

function runPart<K extends keyof Parts>(name: K): Parts[K] {
  const args = ['--records', values.records, '--rounds', values.rounds, '--inside', name];
  const { status, stdout } = spawnSync(process.execPath, [import.meta.filename, ...args], {
    encoding: 'utf8',
    maxBuffer: 2 ** 24,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  if (status !== 0) throw new Error(`part ${name} ended with code ${status}`);
  return JSON.parse(stdout) as Parts[K];
}

function show({ lists: read, fleet, transitions, overhead }: Partial<Parts>): void {
  const print = (lines: readonly string[]) => console.log(`${lines.join('\n')}\n`);
  if (read !== undefined) {
    const { lists, heldBytesPerMachine, providerRssMiB, providerReadySeconds } = read;
    print([
      ...listTable('one provider', lists),
      `The list thread keeps ${heldBytesPerMachine} bytes a machine between two lists.`,
      `The provider was ready after ${providerReadySeconds} s and takes ${providerRssMiB} MiB.`,
    ]);
  }
  if (fleet !== undefined) print(listTable(`${PROVIDERS} providers`, fleet));
  if (transitions !== undefined) print(transitionTable(transitions));
  if (overhead !== undefined) print(overheadTable(overhead));
}

const problem = usageProblem();
if (values.help) console.log(HELP);
else if (problem !== null) {
  console.error(`${problem} See --help.`);
  process.exitCode = 2;
} else if (values.inside !== undefined) {
  console.log(JSON.stringify(await MEASURES[values.inside as keyof Parts](settings)));
} else {
  const wanted = NAMES.filter((name) => values.part?.includes(name) ?? true);
  const parts: Partial<Parts> = Object.fromEntries(wanted.map((name) => [name, runPart(name)]));
  const machine = {
    cpu: cpus()[0]?.model,
    cores: cpus().length,
    memoryGiB: Math.round(totalmem() / 2 ** 30),
  };
  if (values.json) {
    const about = { benchmark: 'provider', node: process.version, ...machine, loadAverage: loadavg()[0] };
    console.log(JSON.stringify({ ...about, settings, ...parts }, null, 2));
  } else show(parts);
}
