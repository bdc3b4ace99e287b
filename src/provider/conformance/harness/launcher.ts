// Child processes for targets.ts: providers that the suite starts itself, by a command with placeholders for the port
// and the state file. They are ended with SIGKILL, which the durable target tests, and never outlive the run; their
// state files are in a temporary directory that is removed with them.

import { type ChildProcess, spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, connect as dial } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { BigFleetError, printable } from '../../../model/index.ts';

/** Characters of a provider's output kept to explain why it did not start. */
const KEPT_OUTPUT = 2_000;

/** How long a process may take to be gone after SIGKILL; one that left the group of the command never is. */
const KILLED_MS = 5_000;

const FIRST_PORT = 20_000;
const LAST_PORT = 32_000;
const PORT_TRIES = 50;

export interface StartOptions {
  /** State file; the same one again after a kill. */
  readonly state: string;
  /** How many machines it should offer. */
  readonly seedCount: number;
  readonly transitionTimeoutMs: number;
}

export interface ProviderProcess {
  readonly address: string;
  /** Why it is gone, if it ended by itself. */
  readonly ended: () => string | undefined;
  /** SIGKILL, and wait until it is gone. Throws BF_KILL_MISSED if something still answers at its address. */
  kill(): Promise<void>;
}

export class Launcher {
  readonly template: string;
  readonly #running = new Set<ChildProcess>();
  readonly #clear = () => {
    for (const child of this.#running) killGroup(child);
    rmSync(this.#folder, { recursive: true, force: true });
  };
  readonly #folder: string;
  #states = 0;

  constructor(template: string) {
    if (!template.includes('{port}')) {
      throw new BigFleetError('BF_USAGE', `The start command "${template}" has no place for {port}.`);
    }
    this.template = template;
    this.#folder = mkdtempSync(join(tmpdir(), 'bigfleet-conformance-'));
    // Also runs if the process exits before `close`.
    process.on('exit', this.#clear);
  }

  get keepsState(): boolean {
    return this.template.includes('{state}');
  }

  /** The name of a state file that does not exist yet. */
  newState(): string {
    return join(this.#folder, `state-${++this.#states}`);
  }

  async start({ state, seedCount, transitionTimeoutMs }: StartOptions): Promise<ProviderProcess> {
    const port = await freePort();
    const command = this.template
      .replaceAll('{port}', String(port))
      .replaceAll('{state}', state)
      .replaceAll('{seed}', String(seedCount))
      .replaceAll('{timeout}', `${transitionTimeoutMs}ms`);
    // A group of its own, so that the kill reaches the provider behind the shell and behind npx.
    const child = spawn(command, { shell: true, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
    this.#running.add(child);
    let output = '';
    const keep = (chunk: Buffer) => {
      output = (output + chunk.toString()).slice(-KEPT_OUTPUT);
    };
    child.stdout.on('data', keep);
    child.stderr.on('data', keep);
    // Not the exit event: the last output may arrive after it.
    let isGone = false;
    const gone = new Promise<void>((resolve) => {
      const end = () => {
        isGone = true;
        resolve();
      };
      child.on('close', end);
      child.on('error', end);
    });
    return {
      address: `127.0.0.1:${port}`,
      ended: () => (isGone ? `it ended (${exitText(child)}): ${lastLine(output)}` : undefined),
      kill: async () => {
        if (!isGone) killGroup(child);
        await Promise.race([gone, sleep(KILLED_MS, undefined, { ref: false })]);
        this.#running.delete(child);
        await isSilent(port);
      },
    };
  }

  /** Kills what is still running and removes the state files. */
  close(): void {
    this.#clear();
    process.off('exit', this.#clear);
  }
}

function exitText({ exitCode, signalCode }: ChildProcess): string {
  return signalCode ?? `exit code ${exitCode}`;
}

function lastLine(output: string): string {
  return printable(output.trim().split('\n').at(-1) ?? '') || 'it printed nothing';
}

function killGroup(child: ChildProcess): void {
  if (child.pid === undefined) return;
  try {
    process.kill(-child.pid, 'SIGKILL');
  } catch (error) {
    const isNoSuchGroup = error instanceof Error && 'code' in error && error.code === 'ESRCH';
    if (!isNoSuchGroup) throw error;
  }
}

/**
 * A port that no process listens on. It is below the range from which systems assign ports (32768 on Linux, 49152
 * elsewhere): between this check and the provider's own listen, one of those could go to a server of another process,
 * and the suite would test that one.
 */
async function freePort(): Promise<number> {
  for (let tries = 0; tries < PORT_TRIES; tries++) {
    const port = randomInt(FIRST_PORT, LAST_PORT);
    if (await isFree(port)) return port;
  }
  const detail = `No port between ${FIRST_PORT} and ${LAST_PORT} was free in ${PORT_TRIES} tries.`;
  throw new BigFleetError('BF_LISTEN_FAILED', detail);
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.on('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}

/** A restart proves nothing if the old provider still runs. */
async function isSilent(port: number): Promise<void> {
  const isAnswered = await new Promise<boolean>((resolve) => {
    const socket = dial(port, '127.0.0.1');
    socket.on('error', () => resolve(false));
    socket.on('connect', () => {
      // TCP self-connect: the system may assign the dialled port to the socket itself.
      resolve(socket.localPort !== port);
      socket.destroy();
    });
  });
  if (!isAnswered) return;
  const detail = `Something still answers at 127.0.0.1:${port} after SIGKILL to the process group of the start command.`;
  throw new BigFleetError('BF_KILL_MISSED', detail);
}
