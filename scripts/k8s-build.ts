// `npm run k8s:build`: builds a real Kubernetes control plane for the tests: etcd, kube-apiserver, kube-scheduler and
// kube-controller-manager as one binary, from pinned sources through the Go module proxy of this machine, and keeps it in
// the user's cache folder. Does nothing if it is there. Needs about 3 GB in the temporary folder, 2 GB of memory, and 5 to
// 20 minutes. `-- --force` builds again. Exit code 0: the programs are there. 1: they are not, and the last line says why.

import { type SpawnSyncReturns, spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import {
  copyFileSync,
  createReadStream,
  mkdirSync,
  mkdtempSync,
  renameSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { availableParallelism, getPriority, setPriority, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { parseArgs } from 'node:util';
import { cacheFolder, findKubebox, missingIn, PROGRAMS, VERSIONS } from '../testing/kube/kubebox.ts';
import { unzip } from '../testing/kube/unzip.ts';

const SOURCE = resolve('testing/kube/kubebox');
const { kubernetes, etcd, go } = VERSIONS;

/** SHA-256 of the ZIP archives of the Go toolchain, by platform. */
const TOOLCHAINS: Readonly<Record<string, string>> = {
  'linux-amd64': '30c2b1bf7dcc88d3eb0a1364e47ddd9128edb3110a30e8a0ef61cd5856b31de7',
  'linux-arm64': '02b36b6787b3ac767668f630e2998df45a3b1f9ffee08d1bf3ef6487cd658d99',
  'darwin-amd64': 'fe99a2009e5bb51e06d7784f1a486478673512041c2671157bd382806e2aedcf',
  'darwin-arm64': '0aad5fb52b88498885290178adc0bcfe429bc63012621af9f83282eb640bd9c7',
};
/** SHA-256 of the result, by platform: the build is reproducible. */
const RESULTS: Readonly<Record<string, string>> = {
  'linux-amd64': '681e880d568c2e41603f39d8a994bf9f7fcc6caf9eb0f834a390946b70f58afb',
};
/** Packages that are compiled, for the progress. */
const PACKAGES = 2_524;
const PROGRESS_MS = 10_000;
/** The oldest Go that fetches the pinned one by itself. */
const OLDEST_MINOR = 21;

const platform = `${process.platform}-${process.arch === 'x64' ? 'amd64' : process.arch}`;
const { values } = parseArgs({ options: { force: { type: 'boolean', default: false } } });
const started = performance.now();

const found = findKubebox();
if (found.folder !== null && !values.force) {
  console.log(`The control plane is at ${found.folder}.`);
  process.exit(0);
}
// The build takes all cores for minutes; other work on the machine goes first.
if (getPriority() < 10) setPriority(10);
const scratch = mkdtempSync(join(tmpdir(), 'bigfleet-kubebox-build-'));
// Without handlers a signal would leave the compiler running and gigabytes behind.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));
process.once('exit', () => rmSync(scratch, { recursive: true, force: true }));
try {
  await build();
} catch (error) {
  console.error(`The control plane was not built: ${error instanceof Error ? error.message : String(error)}`);
  process.exitCode = 1;
}

async function build(): Promise<void> {
  const environment = await goEnvironment();
  say(`building Kubernetes ${kubernetes} and etcd ${etcd} with Go ${go}`);
  const source = join(scratch, 'source');
  mkdirSync(source);
  for (const file of ['go.mod', 'go.sum', 'main.go']) copyFileSync(join(SOURCE, file), join(source, file));
  await compile(environment, source);
  const digest = await sha256(join(source, 'kubebox'));
  say(`built, SHA-256 ${digest}`);
  const expected = RESULTS[platform];
  if (expected !== undefined && expected !== digest)
    throw new Error(`its SHA-256 is not ${expected}, which this version has; sources or toolchain differ`);
  const folder = cacheFolder();
  const fresh = `${folder}.new`;
  rmSync(fresh, { recursive: true, force: true });
  mkdirSync(fresh, { recursive: true });
  // Not renamed: the temporary folder may be on another disk.
  copyFileSync(join(source, 'kubebox'), join(fresh, 'kubebox'));
  for (const program of PROGRAMS) symlinkSync('kubebox', join(fresh, program));
  rmSync(folder, { recursive: true, force: true });
  renameSync(fresh, folder);
  const missing = missingIn(folder);
  if (missing.length > 0) throw new Error(`${folder} lacks ${missing.join(', ')}`);
  say(`the control plane is at ${folder}`);
}

/** Environment in which `go` is the pinned toolchain, with caches that are thrown away. */
async function goEnvironment(): Promise<NodeJS.ProcessEnv> {
  const common: NodeJS.ProcessEnv = {
    ...process.env,
    GOMODCACHE: join(scratch, 'mod'),
    GOCACHE: join(scratch, 'cache'),
    GOFLAGS: `-p=${Math.min(4, availableParallelism())} -buildvcs=false -mod=readonly -modcacherw`,
    CGO_ENABLED: '0',
    GOWORK: 'off',
  };
  const version = run('go', ['env', 'GOVERSION'], { ...process.env, GOTOOLCHAIN: 'local' });
  const [, minor = '0'] = /^go1\.(\d+)/.exec(version.stdout?.trim() ?? '') ?? [];
  // It fetches and verifies the pinned toolchain if it is another version.
  if (version.status === 0 && Number(minor) >= OLDEST_MINOR) return { ...common, GOTOOLCHAIN: `go${go}` };
  const bin = await fetchToolchain();
  return { ...common, GOTOOLCHAIN: 'local', PATH: `${bin}:${process.env['PATH'] ?? ''}` };
}

/** The toolchain as the module proxy serves it. Returns its folder of programs. */
async function fetchToolchain(): Promise<string> {
  const expected = TOOLCHAINS[platform];
  if (expected === undefined)
    throw new Error(
      `there is no Go 1.${OLDEST_MINOR} or newer here, and no pinned toolchain for ${platform}; install Go`,
    );
  const proxy = (process.env['GOPROXY'] ?? '').split(/[,|]/).find((each) => /^https?:/.test(each));
  if (proxy === undefined)
    throw new Error(
      `there is no Go 1.${OLDEST_MINOR} or newer here; install it, or set GOPROXY to a module proxy`,
    );
  const name = `v0.0.1-go${go}.${platform}`;
  say(`fetching Go ${go} from the module proxy`);
  const answer = await fetch(`${proxy.replace(/\/$/, '')}/golang.org/toolchain/@v/${name}.zip`);
  if (!answer.ok) throw new Error(`the module proxy answered ${answer.status} to the toolchain ${name}`);
  const archive = Buffer.from(await answer.arrayBuffer());
  const digest = createHash('sha256').update(archive).digest('hex');
  if (digest !== expected) throw new Error(`the toolchain ${name} has SHA-256 ${digest}, not ${expected}`);
  unzip(archive, join(scratch, 'toolchain'), (file) => /\/(bin|pkg\/tool)\//.test(file));
  return join(scratch, 'toolchain', `golang.org/toolchain@${name}`, 'bin');
}

async function compile(env: NodeJS.ProcessEnv, cwd: string): Promise<void> {
  const variables = {
    gitVersion: `v${kubernetes}`,
    gitMajor: '1',
    gitMinor: kubernetes.split('.')[1],
    gitTreeState: 'clean',
    gitCommit: 'module',
  };
  const flags = Object.entries(variables).map(
    ([name, value]) => `-X k8s.io/component-base/version.${name}=${value}`,
  );
  const args = [
    'build',
    '-v',
    '-trimpath',
    '-gcflags=all=-dwarf=false',
    '-ldflags',
    `-s -w ${flags.join(' ')}`,
  ];
  const child = spawn('go', [...args, '-o', 'kubebox', '.'], {
    cwd,
    env,
    stdio: ['ignore', 'inherit', 'pipe'],
  });
  // An interrupted build must not go on in the background.
  const end = (): void => void child.kill('SIGKILL');
  process.prependOnceListener('exit', end);
  let packages = 0;
  let downloads = 0;
  const problems: string[] = [];
  const progress = setInterval(() => {
    const percent = Math.min(99, Math.floor((100 * packages) / PACKAGES));
    say(packages === 0 ? `${downloads} modules fetched` : `${percent} %, ${packages} packages compiled`);
  }, PROGRESS_MS);
  createInterface({ input: child.stderr }).on('line', (line) => {
    if (line.startsWith('go: downloading')) downloads++;
    else if (/^[\w./~-]+$/.test(line)) packages++;
    else problems.push(line);
  });
  try {
    const [code] = (await once(child, 'close')) as [number | null];
    if (code !== 0) throw new Error(`go build ended with ${code}:\n${problems.slice(-20).join('\n')}`);
  } finally {
    clearInterval(progress);
    process.removeListener('exit', end);
  }
}

async function sha256(file: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(file) as AsyncIterable<Buffer>) hash.update(chunk);
  return hash.digest('hex');
}

function run(command: string, args: readonly string[], env: NodeJS.ProcessEnv): SpawnSyncReturns<string> {
  return spawnSync(command, args, { encoding: 'utf8', env });
}

function say(text: string): void {
  console.log(`${String(Math.round((performance.now() - started) / 1000)).padStart(4)} s  ${text}`);
}
