// What `bigfleet up` (command.ts) runs, which is `npm start`: a shard, two clouds and a handful of clusters in one
// process, over real gRPC on loopback, with a view of what happens. Nothing here is special to the demonstration but
// the clouds and the clusters.

import { createWriteStream } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:net';
import {
  type DemoEnvironment,
  type DemoEnvironmentSize,
  demoSizeIn,
  OWNED_PRICES,
  type DemoScenarioName as ScenarioKey,
  startDemoEnvironment,
} from '../../demo/index.ts';
import { BigFleetError, printable, revivedError } from '../../model/index.ts';
import {
  defaultConfig,
  makeLog,
  type RunningShard,
  type ShardConfig,
  startShard,
} from '../../shard/index.ts';
import { DEMO_SCENARIOS, type DemoScenarioName, pageServer } from '../../web/index.ts';
import { endSignal } from '../end-signal.ts';
import { invocation } from '../invocation.ts';
import { chooseView } from './choose-view.ts';
import { openUpDirectory, type UpDirectory } from './directory.ts';
import { PORTS, STANDARD, STANDARD_DIR, type UpFlags } from './flags.ts';

const SHARD_ID = 'up';
/**
 * At speed 1. Above the 55 s in which a cloud starts a machine and binds it, so that machines outlast noise; shorter than the
 * standard of a shard, so that a viewer sees machines given back within seconds.
 */
const RECLAIM_HOLD_SECONDS = 100;
const SCENARIO_KEYS: Readonly<Record<DemoScenarioName, ScenarioKey>> = {
  'deploy-burst': 'deployBurst',
  'gpu-gang': 'gpuGang',
  'spot-wave': 'spotWave',
  'zone-outage': 'zoneOutage',
};

export async function up(flags: UpFlags): Promise<void> {
  const quit = Promise.withResolvers<void>();
  // Before the view is created, whose screen would hide messages about the directory.
  const directory = openUpDirectory({ ...flags, notify: (text) => process.stderr.write(`${text}\n`) });
  let environment: DemoEnvironment | null = null;
  const runScenario = async (name: DemoScenarioName): Promise<string> =>
    environment === null ? 'Still starting.' : await environment.scenarios[SCENARIO_KEYS[name]]();
  const view = chooseView(flags, { runScenario, quit: () => quit.resolve() });
  void endSignal().then(() => quit.resolve());
  let failure: BigFleetError | null = null;
  const onFailure = (error: BigFleetError): void => {
    failure ??= error;
    quit.resolve();
  };
  try {
    const { environment: opened, firstStep } = await openClouds(flags, directory, onFailure);
    environment = opened;
    const log = openLog(directory, (text) => view.step(text));
    const shard = await openShard(flags, directory, { environment, log, runScenario });
    // Printed only after all data has proved usable: a reader takes a printed address for open.
    for (const step of [firstStep, ...addressSteps(directory, environment, shard)]) view.step(step);
    void shard.ended.then(() => quit.resolve());
    environment.connect(shard.addresses.sessions);
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
    await environment?.stop();
    directory.close();
  }
}

/** Keeps the error code of a message that has one. */
function endError(message: string): Error {
  const error = revivedError(new Error(message));
  return error instanceof BigFleetError ? error : new BigFleetError('BF_SHARD_ENDED', message);
}

function farewell({ dir }: UpFlags): string {
  const next = dir === STANDARD_DIR ? 'the next start' : 'the next start with the same --dir';
  return `Ended. All of it is in ${printable(dir)}, and ${next} continues from there.\n`;
}

interface Opened {
  readonly environment: DemoEnvironment;
  /** What was opened, for the view. */
  readonly firstStep: string;
}

async function openClouds(
  { dir, speed, ...flags }: UpFlags,
  { clouds }: UpDirectory,
  onFailure: (error: BigFleetError) => void,
): Promise<Opened> {
  const saved = await demoSizeIn(clouds);
  const requested = { clusters: flags.clusters, machines: flags.machines, seed: flags.seed };
  const size: DemoEnvironmentSize = { ...STANDARD, ...saved, ...given(requested) };
  const environment = await startDemoEnvironment({ ...size, dir: clouds, speed, onFailure });
  // Not the requested number: every kind exists in every zone, so the clouds round it.
  const machines = environment.status().clouds.reduce((sum, cloud) => sum + cloud.machines, 0);
  const fleet = `a fleet of ${machines} machines and ${size.clusters} clusters, seed ${size.seed}`;
  return { environment, firstStep: `${saved === null ? 'Built' : 'Continuing'} ${fleet}, in ${dir}.` };
}

function addressSteps(
  { log }: UpDirectory,
  { providers }: DemoEnvironment,
  shard: RunningShard,
): readonly string[] {
  return [
    ...providers.map(({ name, address }) => `Cloud ${name} is open at ${address}.`),
    `Shard ${SHARD_ID} takes sessions at ${shard.addresses.sessions}; its log is ${log}.`,
  ];
}

/** Omits flags that are not set, so that defaults apply. */
function given(flags: Readonly<Record<string, number | undefined>>): Partial<DemoEnvironmentSize> {
  return Object.fromEntries(Object.entries(flags).filter(([, value]) => value !== undefined));
}

/** The view shows what matters of the log; the file has all of it. The shard keeps running if it cannot be written. */
function openLog({ log }: UpDirectory, notify: (text: string) => void): NodeJS.WritableStream {
  const file = createWriteStream(log, { flags: 'a' });
  file.on('error', ({ message }) => notify(`${log} is no longer written: ${message}`));
  return file;
}

interface ShardParts {
  readonly environment: DemoEnvironment;
  readonly log: NodeJS.WritableStream;
  readonly runScenario: (name: DemoScenarioName) => Promise<string>;
}

async function openShard(
  { port, speed, ownedPrice: ownedPrices = OWNED_PRICES }: UpFlags,
  directory: UpDirectory,
  { environment: { providers }, log: file, runScenario }: ShardParts,
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
    // Holds shrink with the speed: clouds that are ten times as fast reclaim and release ten times as soon.
    economy: { ...standard.economy, reclaimHoldSeconds: RECLAIM_HOLD_SECONDS / speed },
    releaseHoldSeconds: new Map([...standard.releaseHoldSeconds].map(([type, s]) => [type, s / speed])),
  };
  const log = makeLog({ source: { shard: config.id }, level: 'info', format: 'json' }, file);
  return await startShard(config, { log, pages: pagesWith(runScenario) });
}

/** The first port from this one on that no program listens on. */
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

/** Serves the web page and its buttons for demo scenarios. */
function pagesWith(runScenario: (name: DemoScenarioName) => Promise<string>) {
  const page = pageServer({ isDemo: true });
  return async (request: IncomingMessage, response: ServerResponse): Promise<boolean> => {
    const { method, url = '' } = request;
    if (method === 'GET' && url !== '/up/stories') return await page(request, response);
    const name = url.slice('/up/stories/'.length);
    const known = DEMO_SCENARIOS.find((each) => each.name === name);
    if (method === 'POST' && known === undefined) return false;
    const answer =
      known === undefined
        ? DEMO_SCENARIOS.map((each) => each.name)
        : { message: await runScenario(known.name) };
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer));
    return true;
  };
}
