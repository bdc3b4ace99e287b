// Test support: a reader who types the commands of a page, one after the other, in a folder of their own, beside a
// running `bigfleet up`. Names that differ from fleet to fleet are replaced by some that exist. Used by commands.test.ts.

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import type { MachineView } from '../../src/shard/index.ts';
import { startUp, type UpProcess } from '../e2e/up-process.ts';
import { type DocCommand, type DocPage, REFERENCE, wordsOf } from './doc-commands.ts';
import { outputProblem } from './outputs.ts';
import { type Surroundings, startSurroundings, writeOwnFiles } from './surroundings.ts';

const DEMO_PORT = '7777';
/** Upper bounds on a slow machine: of the demo, and of a command that should end by itself or a server. */
const DEMO_MS = 600_000;
const LONGEST_MS = 120_000;

/** Commands that change nothing: one answer is enough. */
const QUESTION = /^(?:bigfleet (?:get|explain|describe|decide|history|replay|-)|curl )/;
/** Orders about what no demo has, or that its machines refuse if they serve a gang. */
const IMPOSSIBLE = /^bigfleet (?:cluster (?:retire|unretire)|drain)\b/;
/** Follows changes until it is stopped. */
const WATCHES = /^(?:bigfleet get .* (?:--watch|-w)\b|curl -s?N )/;
/** Calls of the API that change something: they go to a shard that carries out any. */
const CALLED_ORDER = /^curl (?!.*\/(?:whatif|redecide)\b).* -(?:d|X) /;
/** Change the demo, so that pages with them are read one after the other. */
export const ORDERS = /^bigfleet (?:freeze|unfreeze|accept|refuse|quarantine|retry|forget|drain)\b/;
/** Times of examples. */
const START = '2026-03-01T12:00:00Z';
const END = /2026-03-01T1(?:2:05|3:00):00Z/;

/** A running demo, and what commands of the documentation find in it. */
export interface Demo {
  readonly port: string;
  readonly dir: string;
  readonly needs: readonly string[];
  readonly machines: readonly string[];
  /** An instance type and a zone, as in `m6i.large@zone-a`. */
  readonly type: string;
  readonly startedMs: number;
  readonly surroundings: Surroundings;
  /** Questions that were asked; another page need not repeat them. */
  readonly asked: Set<string>;
  stop(): Promise<void>;
}

export interface Outcome {
  readonly page: string;
  readonly command: string;
  readonly code: number | null;
  readonly expected: number;
  /** What is wrong with its output. */
  readonly problem: string | null;
  /** The end of its standard error, for the message of a failing test. */
  readonly err: string;
}

export async function startDemo(): Promise<Demo> {
  const dir = mkdtempSync(join(tmpdir(), 'bigfleet-docs-'));
  const port = await freePort();
  const up: UpProcess = startUp(['--port', port, '--dir', join(dir, 'up')], '', DEMO_MS);
  const startedMs = Date.now();
  const surroundings = await startSurroundings();
  const stop = async (): Promise<void> => {
    await up.end('SIGTERM');
    await surroundings.stop();
    rmSync(dir, { recursive: true });
  };
  try {
    await up.until(({ status }) => (status?.machinesByState['CONFIGURED'] ?? 0) > 0);
    const list = async <T>(what: string): Promise<readonly T[]> => {
      const response = await fetch(`http://127.0.0.1:${port}/v1/${what}`);
      return ((await response.json()) as { readonly items: readonly T[] }).items;
    };
    const needs = await list<{ readonly id: string }>('needs');
    const machines = await list<MachineView>('machines?state=configured');
    const [{ instanceType, zone } = { instanceType: '', zone: '' }] = machines;
    return {
      port,
      dir,
      needs: needs.map(({ id }) => id),
      machines: machines.map(({ id }) => id),
      type: `${instanceType}@${zone}`,
      startedMs,
      surroundings,
      asked: new Set(),
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Runs the commands of a page in its order. Servers run until its end and must then end with 0. */
export async function readPage(
  page: DocPage,
  commands: readonly DocCommand[],
  demo: Demo,
): Promise<Outcome[]> {
  const reader = new Reader(page, demo);
  try {
    const outcomes: Outcome[] = [];
    for (const command of commands) {
      const outcome = await reader.type(command);
      if (outcome !== null) outcomes.push(outcome);
    }
    return [...outcomes, ...(await reader.leave())];
  } finally {
    await reader.cleanUp();
  }
}

/** Commands that run until they are stopped. */
function isServer(words: readonly string[]): boolean {
  const [, first, second] = words;
  if (WATCHES.test(words.join(' '))) return true;
  if (first === 'shard') return !words.includes('--print-config');
  return first === 'provider' && second === 'fake';
}

class Reader {
  readonly #page: DocPage;
  readonly #demo: Demo;
  readonly #folder = mkdtempSync(join(tmpdir(), 'bigfleet-page-'));
  readonly #env: Record<string, string>;
  readonly #ports: Map<string, string>;
  readonly #servers: { readonly command: DocCommand; readonly child: ChildProcess }[] = [];
  readonly #isReference: boolean;
  #arePortsMapped = false;

  constructor(page: DocPage, demo: Demo) {
    this.#page = page;
    // Its orders go to a shard that carries out any.
    this.#isReference = page.path.startsWith(REFERENCE);
    this.#demo = demo;
    this.#ports = new Map([[DEMO_PORT, demo.port]]);
    const bin = join(this.#folder, 'bin');
    mkdirSync(bin);
    symlinkSync(resolve('bin/bigfleet'), join(bin, 'bigfleet'));
    symlinkSync(resolve('examples'), join(this.#folder, 'examples'));
    mkdirSync(join(this.#folder, '.bigfleet'));
    symlinkSync(join(demo.dir, 'up'), join(this.#folder, '.bigfleet', 'up'));
    symlinkSync(join(demo.dir, 'up', 'shard'), join(this.#folder, 'bigfleet-data'));
    writeOwnFiles(this.#folder, page.path, demo.surroundings);
    // Not every machine has jq, and what it selects is not tested here.
    writeFileSync(join(bin, 'jq'), '#!/bin/sh\nexec cat\n', { mode: 0o755 });
    const curl = `#!/bin/sh\nexec '${process.execPath}' '${resolve('test/docs/curl.ts')}' "$@"\n`;
    writeFileSync(join(bin, 'curl'), curl, { mode: 0o755 });
    this.#env = {
      PATH: `${bin}:${process.env['PATH']}`,
      HOME: this.#folder,
      NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'] ?? '',
      BIGFLEET_SHARD: `http://127.0.0.1:${demo.port}`,
    };
  }

  async type(command: DocCommand): Promise<Outcome | null> {
    await this.#mapPorts();
    const words = wordsOf(command.text);
    if (command.kind === 'export') {
      const [, name = '', value = ''] = /^export (\w+)=(.*)$/.exec(command.text) ?? [];
      if (name !== 'PATH') this.#env[name] = this.#withPorts(value.replaceAll(/["']/g, ''));
      return null;
    }
    if (isServer(words)) {
      await this.#serve(command);
      // The examples of the reference are alternatives, which use the same ports.
      return this.#isReference ? ((await this.leave())[0] ?? null) : null;
    }
    const call = this.#withNames(command.text);
    const question = `${this.#env['BIGFLEET_SHARD']} ${call}`;
    if (this.#demo.asked.has(question)) return null;
    if (QUESTION.test(call)) this.#demo.asked.add(question);
    const isRefusedHere = IMPOSSIBLE.test(command.text) || (this.#isReference && ORDERS.test(command.text));
    const shard = isRefusedHere ? { BIGFLEET_SHARD: this.#demo.surroundings.ordersUrl } : {};
    const child = this.#start(call, shard);
    const [err, [code], out] = await Promise.all([
      text(child.stderr!),
      once(child, 'close'),
      text(child.stdout!),
    ]);
    return {
      page: command.page,
      command: command.text,
      code: code as number,
      expected: command.exitCode,
      problem: code === command.exitCode ? outputProblem(command, out, err) : null,
      err: err.slice(-500),
    };
  }

  /** Ends the servers of the page. */
  async leave(): Promise<Outcome[]> {
    const ended: Outcome[] = [];
    for (const { command, child } of this.#servers.splice(0).reverse()) {
      const exited = child.exitCode === null ? once(child, 'exit') : [child.exitCode];
      child.kill('SIGTERM');
      const [code] = await exited;
      const { page, text: called } = command;
      ended.push({ page, command: called, code: code as number, expected: 0, problem: null, err: '' });
    }
    return ended;
  }

  async cleanUp(): Promise<void> {
    await this.leave();
    rmSync(this.#folder, { recursive: true });
  }

  async #serve(command: DocCommand): Promise<void> {
    let call = this.#withNames(command.text);
    // Standard ports may be in use on this machine.
    if (call.startsWith('bigfleet provider fake') && !call.includes('--addr'))
      call += ` --addr 127.0.0.1:${this.#ports.get('9000')}`;
    if (call.startsWith('bigfleet shard') && !call.includes('--config'))
      call += ` --listen 127.0.0.1:${this.#ports.get('7780')} --api 127.0.0.1:${this.#ports.get('8780')} --data-dir own`;
    const child = this.#start(call);
    this.#servers.push({ command, child });
    const exited = once(child, 'exit').then(() => true);
    // The first line says that it serves.
    const hasEnded = await Promise.race([once(child.stdout!, 'data').then(() => false), exited]);
    if (hasEnded) throw new Error(`${command.page}: ${command.text} ended: ${await text(child.stderr!)}`);
    child.stdout!.resume();
    child.stderr!.resume();
  }

  #start(call: string, env: Readonly<Record<string, string>> = {}): ChildProcess {
    const isOneCommand = !/[|;&]/.test(call);
    return spawn('bash', ['-c', isOneCommand ? `exec ${call}` : call], {
      cwd: this.#folder,
      env: { ...this.#env, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: LONGEST_MS,
      killSignal: 'SIGKILL',
    });
  }

  /** Needs and machines of the page have other names in this demo. */
  #withNames(call: string): string {
    const { needs, machines } = this.#demo;
    const isCall = call.startsWith('curl ');
    const asked = CALLED_ORDER.test(call)
      ? call.replace('127.0.0.1:8780', new URL(this.#demo.surroundings.ordersUrl).host)
      : this.#isReference || isCall
        ? call.replace(isCall ? /(?<=127\.0\.0\.1:)8780\b/ : /(?<=--shard \S*:)8780\b/, DEMO_PORT)
        : call;
    return this.#withPorts(asked)
      .replaceAll(
        /(?<= |needs?\/)([a-z][\w-]*)\/[0-9a-f]{10}\b/g,
        (_, cluster: string) => needs.find((id) => id.startsWith(`${cluster}/`)) ?? needs[0]!,
      )
      .replace(
        /(?<=^bigfleet (?:(?:explain|history|get|describe) machines?|drain|retry|quarantine) |--machine |^curl .*(?:\/v1\/machines\/|\bmachine=))[a-z][\w.-]*\d\b/,
        machines[0]!,
      )
      .replace('m6i.4xlarge@zone-a', this.#demo.type)
      .replace(START, new Date(this.#demo.startedMs).toISOString())
      .replace(END, new Date().toISOString())
      .replace('--cycle 4711', '--cycle 2')
      .replace('/v1/cycles/812', '/v1/cycles/2')
      .replace('/var/lib/bigfleet', '.bigfleet/up/shard');
  }

  #withPorts(call: string): string {
    return call.replaceAll(
      /(127\.0\.0\.1|localhost|(?<=[\s"=])):(\d{4,5})\b/g,
      (whole, host: string, port: string) =>
        this.#ports.has(port) ? `${host}:${this.#ports.get(port)}` : whole,
    );
  }

  /** A free port for each that the page names, the same for its commands and files. */
  async #mapPorts(): Promise<void> {
    if (this.#arePortsMapped) return;
    this.#arePortsMapped = true;
    for (const port of ['7780', '8780', '9000', '9001']) this.#ports.set(port, await freePort());
    for (const [name, contents] of this.#page.files)
      writeFileSync(join(this.#folder, name), this.#withPorts(contents));
  }
}

async function freePort(): Promise<string> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  server.close();
  await once(server, 'close');
  return String(port);
}
