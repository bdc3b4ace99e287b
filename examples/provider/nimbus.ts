// Stand-in for the SDK of a cloud, which backend.ts calls. Nimbus exists only in this file and loses its state with the
// process; put your cloud's SDK in its place and delete it. As in most clouds, calls return at once and the work
// continues asynchronously.

import { setTimeout as sleep } from 'node:timers/promises';

export interface Flavour {
  readonly name: string;
  readonly zone: string;
  readonly cpus: number;
  readonly memoryGiB: number;
  readonly dollarsPerHour: number;
  /** Probability that Nimbus interrupts such a server within an hour; 0 for ordinary ones. */
  readonly reclaimRate: number;
}

export type ServerStatus = 'booting' | 'running' | 'joined' | 'evicting' | 'gone';

const STEP_MS = 5;

/** As in most SDKs: one class of error, with a code. */
export class NimbusError extends Error {
  readonly code: 'NoServersLeft';

  constructor(code: 'NoServersLeft', message: string) {
    super(message);
    this.code = code;
  }
}

export class Nimbus {
  readonly #servers = new Map<string, ServerStatus>();
  readonly #byToken = new Map<string, string>();
  readonly #soldOut: ReadonlySet<string>;

  /** `soldOut` names flavours that it has none of. */
  constructor(soldOut: readonly string[] = []) {
    this.#soldOut = new Set(soldOut);
  }

  async flavours(): Promise<readonly Flavour[]> {
    const small = { cpus: 4, memoryGiB: 16 };
    return ['east-1', 'east-2'].flatMap((zone) => [
      { name: 'n1.small', zone, ...small, dollarsPerHour: 0.18, reclaimRate: 0 },
      { name: 'n1.small-spare', zone, ...small, dollarsPerHour: 0.06, reclaimRate: 0.04 },
    ]);
  }

  /** The same token twice returns the same server, as in real clouds. */
  async launch(flavour: string, zone: string, token: string): Promise<string> {
    const known = this.#byToken.get(token);
    if (known !== undefined) return known;
    if (this.#soldOut.has(flavour)) {
      throw new NimbusError('NoServersLeft', `${zone} cannot serve ${flavour} at present`);
    }
    const server = `srv-${zone}-${flavour}-${this.#servers.size + 1}`;
    this.#byToken.set(token, server);
    this.#become(server, 'booting', 'running');
    return server;
  }

  async runScript(server: string, _script: Uint8Array): Promise<void> {
    this.#become(server, 'running', 'joined');
  }

  async evict(server: string, _graceSeconds: number): Promise<void> {
    this.#become(server, 'evicting', 'running');
  }

  async terminate(server: string): Promise<void> {
    this.#become(server, 'evicting', 'gone');
  }

  /** Unknown servers, such as those of an earlier run of this file, count as running. */
  async status(server: string): Promise<ServerStatus> {
    return this.#servers.get(server) ?? 'running';
  }

  #become(server: string, now: ServerStatus, then: ServerStatus): void {
    this.#servers.set(server, now);
    void sleep(STEP_MS).then(() => this.#servers.set(server, then));
  }
}
