// `bigfleet up`, which is `npm start`: a shard, two clouds and a handful of clusters in one process, over real gRPC on
// loopback, with a view of what happens. Nothing here is special to the demonstration but the clouds and the clusters.

import { createWriteStream } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { Command, InvalidArgumentError, Option } from 'commander';
import { BigFleetError, printable, revivedError } from '../../model/index.ts';
import {
  defaultConfig,
  makeLog,
  type RunningShard,
  type ShardConfig,
  settingOf,
  startShard,
} from '../../shard/index.ts';
import {
  type Backstage,
  type BackstageSize,
  backstageSizeIn,
  OWNED_PRICES,
  type StoryName as StoryKey,
  startBackstage,
} from '../../sim/index.ts';
import { pageServer, STORIES, type StoryName } from '../../web/index.ts';
import { askedToEnd } from '../asked-to-end.ts';
import { wholeNumber } from '../flags.ts';
import { invocation } from '../invocation.ts';
import { chooseView } from './choose-view.ts';
import { openUpDirectory, type UpDirectory } from './directory.ts';

interface UpFlags {
  readonly clusters?: number;
  readonly machines?: number;
  readonly seed?: number;
  readonly speed: number;
  readonly port: number;
  readonly dir: string;
  readonly fresh: boolean;
  readonly output: 'text' | 'json';
  readonly plain: boolean;
  /** Dollars per hour by instance type or kind of capacity. */
  readonly ownedPrice?: ReadonlyMap<string, number>;
}

const STANDARD_DIR = join('.bigfleet', 'up');
const STANDARD: BackstageSize = { clusters: 6, machines: 400, seed: 1 };
const SHARD_ID = 'up';
const FIRST_PORT = 7777;
/** Ports that are tried from the first one on. */
const PORTS = 100;
const MAX_PORT = 65_535;

const STORY_KEYS: Readonly<Record<StoryName, StoryKey>> = {
  'deploy-burst': 'deployBurst',
  'gpu-gang': 'gpuGang',
  'spot-wave': 'spotWave',
  'zone-outage': 'zoneOutage',
};

export function upCommand(): Command {
  return new Command('up')
    .description('start a shard, two fake clouds and some clusters, and watch them work')
    .option('--clusters <n>', `simulated clusters (default: ${STANDARD.clusters})`, wholeNumber)
    .option(
      '--machines <n>',
      `about how many machines both clouds have together (default: ${STANDARD.machines})`,
      wholeNumber,
    )
    .option('--seed <n>', `the same seed gives the same fleet (default: ${STANDARD.seed})`, wholeNumber)
    .option('--speed <n>', 'how many times faster than real clouds things happen', positive, 10)
    .option('--port <n>', 'of the web page; the next free one if it is taken', portNumber, FIRST_PORT)
    .option('--dir <path>', 'where clouds and shard keep their state', STANDARD_DIR)
    .option('--fresh', 'start over instead of going on where the last start ended', false)
    .option(
      '--owned-price <name=price>',
      'what owned machines are shown at, by instance type, bare-metal or reserved; may be repeated (default: made-up ones)',
      ownedPrice,
    )
    .option('--plain', 'lines instead of the live view, also on a terminal', false)
    .addOption(
      new Option('-o, --output <format>', 'text, or the news as JSON lines')
        .choices(['text', 'json'])
        .default('text'),
    )
    .addHelpText('after', () => help(invocation()))
    .action((flags: UpFlags) => up(flags));
}

/** `call` starts this command line where the reader is. */
const help = (call: string): string => `
Everything runs in this process and on loopback: a shard as "bigfleet shard" starts it, two clouds
that exist only here (bare metal and reserved; on-demand and spot) and clusters whose demand comes
and goes. It ends with q or Ctrl-C.

A second start goes on where the first one ended. --fresh removes what "bigfleet up" wrote into DIR,
and nothing else, and starts over. DIR is a directory of its own: one with other files is refused.

Keys: b deploy burst, g GPU gang, s spot wave, z zone outage, f freeze or unfreeze, q quit.
Where the output is no terminal, with TERM=dumb, NO_COLOR or --plain, it prints lines and takes no
keys; the page has buttons.

While it runs, other terminals can ask and tell the shard; the first lines say where it is:
  ${call} get machines --shard http://127.0.0.1:${FIRST_PORT}
  ${call} get shortfalls --shard http://127.0.0.1:${FIRST_PORT}

What the shard remembers is in DIR/shard, for "bigfleet history" and "bigfleet replay", at any time:
  ${call} history cluster ml --data-dir ${join(STANDARD_DIR, 'shard')}
  ${call} replay --data-dir ${join(STANDARD_DIR, 'shard')} --from 1m

Examples:
  bigfleet up
  bigfleet up --clusters 20 --machines 2000 --seed 7 --fresh
  bigfleet up --speed 1            as slow as real clouds
  bigfleet up -o json | jq .       what happens, for programs`;

function portNumber(text: string): number {
  const port = wholeNumber(text);
  if (port < 1 || port > MAX_PORT - PORTS)
    throw new InvalidArgumentError(`It must be from 1 to ${MAX_PORT - PORTS}.`);
  return port;
}

/** As the setting of a shard reads it, with what was given before. */
function ownedPrice(text: string, before?: ReadonlyMap<string, number>): ReadonlyMap<string, number> {
  const { kind } = settingOf('ownedPrices');
  const prices = kind.read(text) as ReadonlyMap<string, number> | undefined;
  if (prices === undefined) throw new InvalidArgumentError(`Expected ${kind.what}.`);
  return new Map([...(before ?? []), ...prices]);
}

function positive(text: string): number {
  const value = Number(text);
  if (!Number.isFinite(value) || value <= 0) throw new BigFleetError('BF_USAGE', '--speed must be above 0.');
  return value;
}

async function up(flags: UpFlags): Promise<void> {
  const quit = Promise.withResolvers<void>();
  // Before there is a view, whose screen would hide what is said of the directory.
  const directory = openUpDirectory({ ...flags, say: (text) => process.stderr.write(`${text}\n`) });
  let backstage: Backstage | null = null;
  const story = async (name: StoryName): Promise<string> =>
    backstage === null ? 'Still starting.' : await backstage.stories[STORY_KEYS[name]]();
  const view = chooseView(flags, { story, quit: () => quit.resolve() });
  void askedToEnd().then(() => quit.resolve());
  let failure: BigFleetError | null = null;
  const onFailure = (error: BigFleetError): void => {
    failure ??= error;
    quit.resolve();
  };
  try {
    const { backstage: opened, story: begun } = await openClouds(flags, directory, onFailure);
    backstage = opened;
    const log = openLog(directory, (text) => view.step(text));
    const shard = await openShard(flags, directory, { backstage, log, story });
    // Not before all data has been found usable: who reads an address takes it for open.
    for (const step of [begun, ...addressSteps(directory, backstage, shard)]) view.step(step);
    void shard.ended.then(() => quit.resolve());
    backstage.connect(shard.addresses.sessions);
    const url = `http://${shard.addresses.api}`;
    view.follow(shard.port, { url, call: invocation() });
    await quit.promise;
    view.stop();
    await shard.stop();
    const reason = await shard.ended;
    if (failure !== null) throw failure as BigFleetError;
    if (reason.kind !== 'stopped') throw endError(reason.message);
    if (flags.output === 'text') process.stdout.write(farewell(flags));
  } finally {
    view.stop();
    await backstage?.stop();
    directory.close();
  }
}

/** A message that has a code of its own needs no other around it. */
function endError(message: string): Error {
  const error = revivedError(new Error(message));
  return error instanceof BigFleetError ? error : new BigFleetError('BF_SHARD_ENDED', message);
}

function farewell({ dir }: UpFlags): string {
  const next = dir === STANDARD_DIR ? 'the next start' : 'the next start with the same --dir';
  return `Ended. All of it is in ${printable(dir)}, and ${next} goes on from there.\n`;
}

interface Opened {
  readonly backstage: Backstage;
  /** What was opened, for the view. */
  readonly story: string;
}

async function openClouds(
  { dir, speed, ...flags }: UpFlags,
  { clouds }: UpDirectory,
  onFailure: (error: BigFleetError) => void,
): Promise<Opened> {
  const saved = await backstageSizeIn(clouds);
  const asked = { clusters: flags.clusters, machines: flags.machines, seed: flags.seed };
  const size: BackstageSize = { ...STANDARD, ...saved, ...given(asked) };
  const backstage = await startBackstage({ ...size, dir: clouds, speed, onFailure });
  // Not what was asked for: every kind is there in every zone, so that the number is rounded.
  const machines = backstage.status().clouds.reduce((sum, cloud) => sum + cloud.machines, 0);
  const fleet = `a fleet of ${machines} machines and ${size.clusters} clusters, seed ${size.seed}`;
  return { backstage, story: `${saved === null ? 'Built' : 'Continuing'} ${fleet}, in ${dir}.` };
}

function addressSteps(
  { log }: UpDirectory,
  { providers }: Backstage,
  shard: RunningShard,
): readonly string[] {
  return [
    ...providers.map(({ name, address }) => `Cloud ${name} is open at ${address}.`),
    `Shard ${SHARD_ID} takes sessions at ${shard.addresses.sessions}; its log is ${log}.`,
  ];
}

/** Without what nobody said. */
function given(flags: Readonly<Record<string, number | undefined>>): Partial<BackstageSize> {
  return Object.fromEntries(Object.entries(flags).filter(([, value]) => value !== undefined));
}

/** The view shows what matters of the log; the file has all of it. Without room for it the shard works on. */
function openLog({ log }: UpDirectory, say: (text: string) => void): NodeJS.WritableStream {
  const file = createWriteStream(log, { flags: 'a' });
  file.on('error', ({ message }) => say(`${log} is no longer written: ${message}`));
  return file;
}

interface ShardParts {
  readonly backstage: Backstage;
  readonly log: NodeJS.WritableStream;
  readonly story: (name: StoryName) => Promise<string>;
}

async function openShard(
  { port, speed, ownedPrice: ownedPrices = OWNED_PRICES }: UpFlags,
  directory: UpDirectory,
  { backstage: { providers }, log: file, story }: ShardParts,
): Promise<RunningShard> {
  const standard = defaultConfig();
  const config: ShardConfig = {
    ...standard,
    id: SHARD_ID,
    dataDir: directory.shard,
    listen: '127.0.0.1:0',
    api: `127.0.0.1:${await freePort(port)}`,
    providers,
    ownedPrices,
    // Clouds that are ten times as fast want their machines back ten times as soon.
    releaseHoldSeconds: new Map([...standard.releaseHoldSeconds].map(([type, s]) => [type, s / speed])),
  };
  const log = makeLog({ shard: config.id, level: 'info', format: 'json' }, file);
  return await startShard(config, { log, pages: pagesWith(story) });
}

/** The first port from this one on that nobody listens on. */
async function freePort(first: number): Promise<number> {
  for (let port = first; port < first + PORTS; port++) if (await isFree(port)) return port;
  throw new BigFleetError('BF_LISTEN_FAILED', `Ports ${first} to ${first + PORTS - 1} are all taken.`);
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once('error', () => resolve(false));
    probe.listen(port, '127.0.0.1', () => probe.close(() => resolve(true)));
  });
}

/** The web page, and the buttons that make things happen. */
function pagesWith(story: (name: StoryName) => Promise<string>) {
  const page = pageServer();
  return async (request: IncomingMessage, response: ServerResponse): Promise<boolean> => {
    const { method, url = '' } = request;
    if (method === 'GET' && url !== '/up/stories') return page(request, response);
    const name = url.slice('/up/stories/'.length);
    const known = STORIES.find((each) => each.name === name);
    if (method === 'POST' && known === undefined) return false;
    const answer =
      known === undefined ? STORIES.map((each) => each.name) : { message: await story(known.name) };
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer));
    return true;
  };
}
