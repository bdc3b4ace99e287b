// `npm run --silent bench -- startup`: the time of a command from its start to its end, in a checkout and in the
// installed package. Every round starts each command once and, in between, Node alone with nothing to do: no command
// can be faster than that, so it is the floor of the same machine at the same time.

import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { optionsGiven } from '../options.ts';
import { type Quantiles, quantilesOf, rounded } from '../quantiles.ts';
import { type Installed, installedPackage, runningShard } from './environment.ts';

const SCENARIO = resolve('examples/scenarios/first-look.yaml');

interface Case {
  readonly name: string;
  readonly args: readonly string[];
}

function casesFor(shard: string): readonly Case[] {
  return [
    { name: '--version', args: ['--version'] },
    { name: '--help', args: ['--help'] },
    { name: 'explain CODE', args: ['explain', 'BF_USAGE'] },
    { name: 'get machines --help', args: ['get', 'machines', '--help'] },
    { name: 'get status', args: ['get', 'status', '--shard', shard] },
    { name: 'get machines', args: ['get', 'machines', '--shard', shard] },
    { name: 'decide FILE', args: ['decide', SCENARIO] },
    { name: 'history --help', args: ['history', '--help'] },
    { name: 'replay --help', args: ['replay', '--help'] },
    { name: 'shard --print-config', args: ['shard', '--print-config'] },
    { name: 'provider fake --help', args: ['provider', 'fake', '--help'] },
    { name: 'up --help', args: ['up', '--help'] },
  ];
}

type Figures = Quantiles & {
  readonly min: number;
  /** Medians: of the command and of Node alone. */
  readonly timesFloor: number;
};

interface PlaceFigures {
  readonly place: Place;
  readonly floorMs: Quantiles & { readonly min: number };
  readonly cases: readonly (Case & { readonly firstMs: number; readonly ms: Figures })[];
}

const PLACES = ['checkout', 'package'] as const;
type Place = (typeof PLACES)[number];

function measured(
  place: Place,
  { bin, node }: Installed,
  cases: readonly Case[],
  rounds: number,
): PlaceFigures {
  // A cache folder of its own, so that the first call in a checkout finds nothing compiled; the package has no cache.
  const cache = mkdtempSync(join(tmpdir(), 'bigfleet-startup-cache-'));
  const env = place === 'checkout' ? { ...process.env, NODE_COMPILE_CACHE: cache } : process.env;
  try {
    const firstMs = cases.map(({ args }) => timeOf(bin, args, env));
    const floor: number[] = [];
    const times = cases.map((): number[] => []);
    for (let round = 0; round < rounds; round++) {
      floor.push(timeOf(node, ['-e', '0'], process.env));
      for (const [i, { args }] of cases.entries()) times[i]!.push(timeOf(bin, args, env));
    }
    const floorMs = withMin(floor);
    const figures = cases.map((each, i) => {
      const ms = withMin(times[i]!);
      return {
        ...each,
        firstMs: rounded(firstMs[i]!),
        ms: { ...ms, timesFloor: ratio(ms.p50, floorMs.p50) },
      };
    });
    return { place, floorMs, cases: figures };
  } finally {
    rmSync(cache, { recursive: true });
  }
}

function withMin(durations: readonly number[]): Quantiles & { readonly min: number } {
  return { min: rounded(Math.min(...durations)), ...quantilesOf(durations) };
}

function ratio(a: number, b: number): number {
  return Math.round((a / b) * 10) / 10;
}

/** Throws if the command fails. */
function timeOf(command: string, args: readonly string[], env: NodeJS.ProcessEnv): number {
  const started = performance.now();
  const { status, stderr } = spawnSync(command, args, { encoding: 'utf8', env });
  const took = performance.now() - started;
  if (status !== 0) throw new Error(`${command} ${args.join(' ')} ended with ${status}: ${stderr}`);
  return took;
}

const HELP = `bench startup: time of commands from start to end, in milliseconds

  --place NAME   checkout, package or both (default both); package packs and installs it first
  --rounds N     times each command is called (default 20)
  --json         one JSON document on standard output

"first" is the first call, with nothing compiled in advance; "× floor" is the median as a multiple of
that of an empty Node program.

example:
  npm run --silent bench -- startup --place checkout --rounds 10
`;

const values = optionsGiven({
  json: { type: 'boolean', default: false },
  place: { type: 'string', default: 'both' },
  rounds: { type: 'string', default: '20' },
  help: { type: 'boolean', default: false },
});
const places = PLACES.filter((place) => values.place === 'both' || values.place === place);
const rounds = Number(values.rounds);
if (values.help) console.log(HELP);
else if (places.length === 0 || !(rounds >= 1)) {
  console.error('--place is checkout, package or both; --rounds is at least 1. See --help.');
  process.exitCode = 2;
} else await run();

async function run(): Promise<void> {
  const shard = await runningShard();
  try {
    const figures = places.map((place) => {
      const checkout: Installed = { bin: resolve('bin/bigfleet'), node: process.execPath, remove: () => {} };
      const installed = place === 'checkout' ? checkout : installedPackage();
      try {
        return measured(place, installed, casesFor(shard.url), rounds);
      } finally {
        installed.remove();
      }
    });
    if (values.json)
      console.log(JSON.stringify({ node: process.versions.node, rounds, places: figures }, null, 2));
    else for (const each of figures) print(each);
  } finally {
    await shard.stop();
  }
}

function print({ place, floorMs, cases }: PlaceFigures): void {
  console.log(`${place}: node -e 0 takes ${floorMs.min} ms at least, ${floorMs.p50} ms in the middle`);
  const rows = cases.map(({ name, firstMs, ms: { timesFloor, ...ms } }) => {
    return [name, { first: firstMs, ...ms, '× floor': timesFloor }] as const;
  });
  console.table(Object.fromEntries(rows));
}
