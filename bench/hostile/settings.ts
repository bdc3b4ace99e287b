// How a run is set up, as all of its processes know it.

import type { TlsFiles } from '../../src/wire/index.ts';

export interface Settings {
  readonly neighbours: number;
  /** Between two roll-ups of a neighbour. */
  readonly everyMs: number;
  readonly machines: number;
  /** From the first ack of all neighbours to what is measured. */
  readonly settleMs: number;
  /** Of each phase: before, during and after the attack. */
  readonly seconds: number;
  /** How many times faster than it says an attack is. */
  readonly times: number;
  readonly seed: number;
  /** Of all processes except the attacker. Below 0 on a shared machine, if the user is permitted to. */
  readonly niceness: number;
}

/** Certificates of all processes in a run with TLS. */
export interface Papers {
  readonly shard: TlsFiles;
  readonly provider: TlsFiles;
  readonly neighbours: readonly TlsFiles[];
  /** By what is wrong with them. */
  readonly wrong: Readonly<Record<string, TlsFiles>>;
}

export function neighbourName(index: number): string {
  return `neighbour-${index}`;
}
