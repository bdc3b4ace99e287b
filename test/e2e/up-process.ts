// Test support: `bigfleet up` as a separate process, read by its JSON lines. Used by up.test.ts.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';

interface UpEnd {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stderr: string;
}

/** The fields of a line of `up -o json` that tests read. */
export interface UpEvent {
  readonly kind: string;
  readonly status?: { readonly machinesByState: Readonly<Record<string, number>> };
  readonly fields?: { readonly text?: string };
}

export interface UpProcess {
  /** The next line that matches; throws if the process ends first. */
  until(fits: (event: UpEvent) => boolean): Promise<UpEvent>;
  /** Sends a signal, 0 for none, and returns how the process ended. */
  end(signal: NodeJS.Signals | 0): Promise<UpEnd>;
  readonly exited: Promise<UpEnd>;
}

/** Upper bound on the life of a process, even if its test fails, unless the test names another one. */
const LONGEST_MS = 120_000;

/** `prefix` is prepended to the command in a shell, such as `ulimit -f 100;`. */
export function startUp(args: readonly string[], prefix = '', longestMs = LONGEST_MS): UpProcess {
  const command = `${prefix} exec "$0" src/cli/main.ts up -o json "$@"`;
  const child = spawn('bash', ['-c', command, process.execPath, ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: longestMs,
    killSignal: 'SIGKILL',
  });
  let stderr = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  const exited = once(child, 'close').then(
    ([code, signal]): UpEnd => ({
      code: code as number | null,
      signal: signal as NodeJS.Signals | null,
      stderr,
    }),
  );
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return {
    exited,
    until: async (fits) => {
      for (;;) {
        const { done, value } = await lines.next();
        if (done === true) throw new Error(`up ended: ${JSON.stringify(await exited)}`);
        const event = JSON.parse(value) as UpEvent;
        if (fits(event)) return event;
      }
    },
    end: async (signal) => {
      child.kill(signal);
      // Unread output must not keep it from ending.
      child.stdout.resume();
      return await exited;
    },
  };
}
