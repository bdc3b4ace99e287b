// The shard of `bench shard` and `bench hostile`: a child process started by the command line, as a user would, and
// observed from outside: its cycles, from the event stream, and its metrics.

import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, openSync, rmSync } from 'node:fs';
import { setPriority, tmpdir } from 'node:os';
import { join } from 'node:path';
import { CONTROLLER_FLAGS } from '../../src/shard/process/heap-limits.ts';
import { nowMs } from './processes.ts';

export interface ShardSetup {
  readonly providers: readonly string[];
  readonly niceness: number;
  /** Flags for Node, such as those of a profiler. */
  readonly nodeFlags: readonly string[];
  /** Flags for the shard. */
  readonly flags: readonly string[];
  /** Parent of its data directory; by default that of temporary files. */
  readonly dataRoot?: string;
  /** File for its log. */
  readonly logFile: string;
  readonly onExit: (error: Error) => void;
}

export interface Cycle {
  readonly beganMs: number;
  readonly endedMs: number;
  readonly durationMs: number;
  readonly unmet: number;
  readonly decided: Readonly<Record<string, number>>;
}

interface CycleEvent {
  readonly status: {
    readonly phase: string;
    readonly machines: number;
    readonly needs: number;
    readonly sessions: number;
    readonly cycle: {
      readonly atMs: number;
      readonly durationMs: number;
      readonly unmet: number;
      readonly decided: Readonly<Record<string, number>>;
    };
  };
}

const ENTRY = `${import.meta.dirname}/../../bin/bigfleet.js`;
const STARTED = /takes sessions at (\S+), API and metrics at (http:\/\/\S+)/;

export class ShardProcess {
  readonly pid: number;
  readonly startedMs: number;
  readonly sessions: string;
  /** URL of the API, scheme included. */
  readonly api: string;
  readonly listeningMs: number;
  readonly cycles: Cycle[] = [];
  /** As of the last cycle. */
  status: CycleEvent['status'] | null = null;
  readonly #child: ChildProcess;
  readonly #folder: string;
  readonly #aborting = new AbortController();
  #isStopping = false;
  #isFollowing = true;

  private constructor(child: ChildProcess, folder: string, startedMs: number, line: string) {
    const [, sessions, api] = STARTED.exec(line) ?? [];
    if (sessions === undefined || api === undefined)
      throw new Error(`unexpected first line of the shard: ${line}`);
    this.pid = child.pid!;
    this.#child = child;
    this.#folder = folder;
    this.startedMs = startedMs;
    this.listeningMs = nowMs() - startedMs;
    this.sessions = sessions;
    this.api = api;
  }

  static async start({ providers, niceness, ...setup }: ShardSetup): Promise<ShardProcess> {
    const { nodeFlags, flags, dataRoot = tmpdir(), logFile, onExit } = setup;
    const folder = mkdtempSync(join(dataRoot, 'bigfleet-bench-shard-'));
    const named = providers.flatMap((address, i) => ['--provider', `cloud-${i}=${address}`]);
    const own = ['--listen', '127.0.0.1:0', '--api', '127.0.0.1:0', '--data-dir', join(folder, 'data')];
    const command = [ENTRY, 'shard', ...own, ...named, ...flags];
    const startedMs = nowMs();
    const child = spawn(process.execPath, [...CONTROLLER_FLAGS, ...nodeFlags, ...command], {
      stdio: ['ignore', 'pipe', openSync(logFile, 'w')],
    });
    setPriority(child.pid!, niceness);
    // The shard must not outlive this process, however it ends.
    process.once('exit', () => child.kill('SIGKILL'));
    const line = await new Promise<string>((resolve, reject) => {
      child.stdout!.once('data', (text: Buffer) => resolve(String(text)));
      child.once('exit', (code) => reject(new Error(`the shard ended with code ${code}; see ${logFile}`)));
    });
    const shard = new ShardProcess(child, folder, startedMs, line);
    child.once('exit', (code) => {
      if (!shard.#isStopping) onExit(new Error(`the shard ended with code ${code}; see ${logFile}`));
    });
    void shard.#follow();
    return shard;
  }

  async metrics(): Promise<string> {
    return await (await fetch(`${this.api}/metrics`)).text();
  }

  /** Ends the event stream, which takes time of the shard; cycles and status stay as they are. */
  unfollow(): void {
    this.#isFollowing = false;
    this.#aborting.abort();
  }

  /** Sends SIGTERM and waits for the end. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    this.unfollow();
    const ended = new Promise((resolve) => this.#child.once('exit', resolve));
    this.#child.kill('SIGTERM');
    await ended;
    rmSync(this.#folder, { recursive: true });
  }

  async #follow(): Promise<void> {
    while (this.#isFollowing) {
      try {
        const { body } = await fetch(`${this.api}/v1/events`, { signal: this.#aborting.signal });
        let text = '';
        for await (const part of body!.pipeThrough(new TextDecoderStream())) {
          text += part;
          const end = text.lastIndexOf('\n\n');
          if (end < 0) continue;
          for (const event of text.slice(0, end).split('\n\n')) this.#receive(event);
          text = text.slice(end + 2);
        }
      } catch (error) {
        if (this.#isFollowing) console.error(`the event stream of the shard ended: ${String(error)}`);
      }
    }
  }

  #receive(event: string): void {
    const data = /^event: cycle\ndata: (.*)$/m.exec(event)?.[1];
    if (data === undefined) return;
    const { status } = JSON.parse(data) as CycleEvent;
    const { atMs, durationMs, unmet, decided } = status.cycle;
    this.status = status;
    this.cycles.push({ beganMs: atMs - durationMs, endedMs: atMs, durationMs, unmet, decided });
  }
}

/** The value of one series in a metrics text; NaN if it is absent. */
export function seriesIn(text: string, series: string): number {
  const line = text.split('\n').find((each) => each.startsWith(`${series} `));
  return line === undefined ? Number.NaN : Number(line.slice(series.length + 1));
}
