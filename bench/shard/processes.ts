// The child processes of `bench shard` and `bench hostile`: started here by the measure.ts of each, ended by their
// channel or a signal, and the usage of each, read from /proc. Times are comparable between them: fractional
// milliseconds since the epoch.

import { type ChildProcess, fork } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { setPriority } from 'node:os';

/** Finer than Date.now, and comparable between processes of one machine. */
export function nowMs(): number {
  return performance.timeOrigin + performance.now();
}

/** Added niceness of load generators, so that they do not use the CPU time of the processes they measure. */
export const NICER = 10;

export interface Child<Message extends { readonly kind: string }, Order> {
  readonly pid: number;
  send(order: Order): void;
  /** Resolves to the next message of a kind. */
  received<K extends Message['kind']>(kind: K): Promise<Extract<Message, { readonly kind: K }>>;
  listen(listener: (message: Message) => void): void;
  stop(): void;
}

export interface ChildOptions {
  readonly niceness: number;
  readonly heapMiB: number;
  readonly onExit: (error: Error) => void;
}

/** `file`: an absolute path. */
export function startChild<Message extends { readonly kind: string }, Order extends object>(
  file: string,
  setup: object,
  { niceness, heapMiB, onExit }: ChildOptions,
): Child<Message, Order> {
  const child: ChildProcess = fork(file, [JSON.stringify(setup)], {
    // Suppresses the warning about TLS to an IP address: loopback has no name.
    execArgv: [`--max-old-space-size=${heapMiB}`, '--disable-warning=DEP0123'],
    serialization: 'advanced',
  });
  let isStopping = false;
  child.on('exit', (code) => {
    if (!isStopping) onExit(new Error(`${file} ended with code ${code}`));
  });
  setPriority(child.pid!, niceness);
  return {
    pid: child.pid!,
    send: (order) => void child.send(order),
    received: (kind) =>
      new Promise((resolve) => {
        const onMessage = (message: Message): void => {
          if (message.kind !== kind) return;
          child.off('message', onMessage as never);
          resolve(message as never);
        };
        child.on('message', onMessage as never);
      }),
    listen: (listener) => void child.on('message', listener as never),
    stop: () => {
      isStopping = true;
      if (child.connected) child.disconnect();
    },
  };
}

/** Usage of a process since its start. */
export interface Usage {
  readonly cpuSeconds: number;
  readonly rssMiB: number;
  readonly peakRssMiB: number;
  /** By thread: its name and CPU time. */
  readonly threads: ReadonlyMap<string, { readonly name: string; readonly cpuSeconds: number }>;
}

/** USER_HZ, which is 100 on all common Linux platforms. */
const TICKS_PER_SECOND = 100;

export function usageOf(pid: number): Usage {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const field = (name: string): number => Number(new RegExp(`${name}:\\s+(\\d+)`).exec(status)?.[1] ?? 0);
  const threads = readdirSync(`/proc/${pid}/task`).map((id) => {
    const stat = readFileSync(`/proc/${pid}/task/${id}/stat`, 'utf8');
    return [id, { name: nameIn(stat), cpuSeconds: secondsIn(stat) }] as const;
  });
  return {
    cpuSeconds: secondsIn(readFileSync(`/proc/${pid}/stat`, 'utf8')),
    rssMiB: Math.round(field('VmRSS') / 1024),
    peakRssMiB: Math.round(field('VmHWM') / 1024),
    threads: new Map(threads),
  };
}

function nameIn(stat: string): string {
  return stat.slice(stat.indexOf('(') + 1, stat.lastIndexOf(')'));
}

/** User and system time: the 14th and 15th field, of which the 2nd may contain blanks. */
function secondsIn(stat: string): number {
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
}
