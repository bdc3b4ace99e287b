// Settings of `bench hostile`, which main.ts reads from the command line and measure.ts passes to all processes.

import type { TlsFiles } from '../../src/wire/index.ts';

export interface Settings {
  readonly neighbours: number;
  /** Interval between two roll-ups of a neighbour. */
  readonly everyMs: number;
  readonly machines: number;
  /** Time from the first ack of all neighbours to the first period. */
  readonly settleMs: number;
  /** Duration of each period: before, during and after the attack. */
  readonly seconds: number;
  /** Factor on the rate of an attack. */
  readonly times: number;
  readonly seed: number;
  /** Niceness of all processes except the attacker. Below 0 on a shared machine, if the user is permitted to. */
  readonly niceness: number;
}

/** Certificates of all processes in a run with TLS. */
export interface Certificates {
  readonly shard: TlsFiles;
  readonly provider: TlsFiles;
  readonly neighbours: readonly TlsFiles[];
  /** By defect. */
  readonly wrong: Readonly<Record<string, TlsFiles>>;
}

export function neighbourName(index: number): string {
  return `neighbour-${index}`;
}
