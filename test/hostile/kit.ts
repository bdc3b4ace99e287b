// What the tests of this folder stand on: a cloud on a port, real shards, operators that speak raw frames, and files of
// certificates. Everything on loopback, closed after each test.

import { appendFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ClientDuplexStream } from '@grpc/grpc-js';
import { afterEach, expect } from 'vitest';
import {
  FakeProvider,
  MemoryStore,
  patchSettings,
  presetSettings,
  type SettingsPatch,
  serveProvider,
  systemClock,
} from '../../src/provider/index.ts';
import { defaultConfig, type RunningShard, type ShardConfig, type ShardLog } from '../../src/shard/index.ts';
import { startShard } from '../../src/shard/shard.ts';
import type { CapacityNeed } from '../../src/wire/gen/bigfleet/v1alpha1/capacity.ts';
import {
  OperatorMessage,
  ShardDefinition,
  type ShardMessage,
} from '../../src/wire/gen/bigfleet/v1alpha1/shard.ts';
import {
  bindService,
  clientCredentials,
  connect,
  type Issued,
  issueCertificate,
  makeAuthority,
  rawBytes,
  type SecurityOptions,
  type TlsFiles,
} from '../../src/wire/index.ts';

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

/** Closed after the test, the last first. */
export function onEnd(close: () => unknown): void {
  closers.push(close);
}

export function scratch(): string {
  const path = mkdtempSync(join(tmpdir(), 'bigfleet-hostile-'));
  onEnd(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

const PLAIN: SecurityOptions = { tls: null };
const QUICK = { medianMs: 20, spread: 0 };

export interface Cloud {
  readonly address: string;
  readonly fake: FakeProvider;
}

/** A calm cloud whose machines take a few milliseconds for everything. */
export async function aCloud(machines = 60, security = PLAIN, set: SettingsPatch = {}): Promise<Cloud> {
  const latency = { create: QUICK, configure: QUICK, drain: QUICK, delete: QUICK };
  const fake = await FakeProvider.open({
    seed: 7,
    machines,
    store: new MemoryStore(),
    clock: systemClock,
    settings: patchSettings(patchSettings(presetSettings('calm'), { latency }), set),
  });
  const server = await serveProvider(fake, '127.0.0.1:0', security);
  onEnd(() => server.stop());
  return { address: server.address, fake };
}

export interface LogLine {
  readonly level: string;
  readonly event: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

export interface HostedShard extends RunningShard {
  readonly lines: readonly LogLine[];
  readonly config: ShardConfig;
  /** Of one metric, with its labels as they are written; 0 if it has no such line. */
  metric(line: string): Promise<number>;
}

export async function aShard(given: Partial<ShardConfig> & { readonly cloud?: Cloud }): Promise<HostedShard> {
  const { cloud, ...rest } = given;
  const standard = defaultConfig();
  const config: ShardConfig = {
    ...standard,
    listen: '127.0.0.1:0',
    api: '127.0.0.1:0',
    dataDir: rest.dataDir ?? scratch(),
    providers: cloud === undefined ? [] : [{ name: 'cloud', address: cloud.address }],
    cycle: { ...standard.cycle, intervalMs: 100, spacingMs: 20 },
    engine: { ...standard.engine, workers: 1 },
    reconcile: { ...standard.reconcile, changesMs: 100 },
    ...rest,
  };
  const lines: LogLine[] = [];
  const log: ShardLog = (level, event, fields = {}) => {
    lines.push({ level, event, fields });
  };
  const shard = await startShard(config, { log });
  onEnd(() => shard.stop());
  const metric = async (line: string): Promise<number> => {
    const text = await (await fetch(`http://${shard.addresses.api}/metrics`)).text();
    const found = text.split('\n').find((each) => each.startsWith(`${line} `));
    return found === undefined ? 0 : Number(found.slice(line.length + 1));
  };
  return { ...shard, lines, config, metric };
}

export const sessionService = bindService(ShardDefinition, { session: { request: rawBytes } });

export interface Ending {
  readonly code: number;
  readonly details: string;
}

/** An operator that writes whatever it is told to. */
export class RawOperator {
  readonly stream: ClientDuplexStream<Uint8Array, ShardMessage>;
  readonly received: ShardMessage[] = [];
  readonly ended: Promise<Ending>;
  readonly #close: () => void;
  #wakers: (() => void)[] = [];

  constructor(address: string, security: SecurityOptions = PLAIN) {
    const client = connect(sessionService, address, clientCredentials(address, security));
    this.stream = client.rpc.session();
    this.ended = new Promise((resolve) => this.stream.on('status', resolve));
    this.stream.on('error', () => {});
    this.stream.on('data', (frame: ShardMessage) => {
      this.received.push(frame);
      for (const wake of this.#wakers.splice(0)) wake();
    });
    this.#close = () => {
      this.stream.cancel();
      client.close();
    };
    onEnd(this.#close);
  }

  write(bytes: Uint8Array): void {
    this.stream.write(bytes);
  }

  hello(cluster: string): void {
    this.write(helloFrame(cluster));
  }

  rollup(cluster: string, rows: readonly CapacityNeed[]): void {
    this.write(rollupFrame(cluster, rows));
  }

  close(): void {
    this.#close();
  }

  /** Acks of hellos or roll-ups so far. */
  acks(echo: 'hello' | 'rollup'): number {
    return this.received.filter(({ payload }) => payload?.$case === 'ack' && payload.value.echo === echo)
      .length;
  }

  async acked(echo: 'hello' | 'rollup', count = 1): Promise<void> {
    while (this.acks(echo) < count) {
      const ended = await Promise.race([
        new Promise<null>((resolve) => this.#wakers.push(() => resolve(null))),
        this.ended,
      ]);
      if (ended !== null) throw new Error(`The session ended: ${ended.code} ${ended.details}`);
    }
  }
}

export function helloFrame(clusterId: string): Uint8Array {
  const payload = { $case: 'hello', value: { clusterId, protocolVersion: 'v1alpha1' } } as const;
  return OperatorMessage.encode({ payload }).finish();
}

let lastTimestamp = 0n;

export function rollupFrame(clusterId: string, needs: readonly CapacityNeed[]): Uint8Array {
  const timestampUnixNanos = ++lastTimestamp;
  const payload = { $case: 'rollup', value: { clusterId, timestampUnixNanos, needs: [...needs] } } as const;
  return OperatorMessage.encode({ payload }).finish();
}

/** A row as it stands on the wire; told apart from others by its priority. */
export function aRow(priority: number, changes: Partial<CapacityNeed> = {}): CapacityNeed {
  return {
    requirements: [],
    aggregateResources: new Map([['cpu', '4']]),
    priority,
    spread: [],
    interruptionPenaltyBucket: 0,
    reclamationPenaltyBucket: 0,
    minUnit: new Map([['cpu', '1']]),
    group: '',
    ...changes,
  };
}

export const rows = (count: number): CapacityNeed[] => Array.from({ length: count }, (_, i) => aRow(i));

/** Answers every question for a blob, so that machines can join. */
export function answering(operator: RawOperator): RawOperator {
  operator.stream.on('data', ({ payload }: ShardMessage) => {
    if (payload?.$case !== 'bootstrapRequest') return;
    const value = {
      requestId: payload.value.requestId,
      userData: Buffer.from('join'),
      ttlSeconds: 600n,
      error: '',
    };
    operator.write(OperatorMessage.encode({ payload: { $case: 'bootstrapResponse', value } }).finish());
  });
  return operator;
}

const VALID = { notBefore: new Date(Date.now() - 60_000), notAfter: new Date(Date.now() + 3_600_000) };

/** An authority, and files of leaves signed by it. */
export class Authority {
  readonly #dir = scratch();
  readonly #pair: Issued;
  #made = 0;

  constructor(name = 'ours') {
    this.#pair = makeAuthority({ name, ...VALID });
  }

  /** `trusts`: whose certificates the holder believes. */
  files(uris: readonly string[], trusts: Authority = this, valid: Partial<typeof VALID> = {}): TlsFiles {
    const leaf = issueCertificate(this.#pair, {
      name: 'leaf',
      uris,
      ipAddresses: ['127.0.0.1'],
      ...VALID,
      ...valid,
    });
    const write = (name: string, text: string): string => {
      const path = join(this.#dir, `${this.#made++}-${name}`);
      writeFileSync(path, text);
      return path;
    };
    return {
      cert: write('cert', leaf.certificate),
      key: write('key', leaf.key),
      ca: write('ca', trusts.#pair.certificate),
    };
  }
}

/** Until it holds, or the test takes too long. */
export async function until(holds: () => boolean | Promise<boolean>, withinMs = 15_000): Promise<void> {
  const lastMs = Date.now() + withinMs;
  while (!(await holds())) {
    if (Date.now() > lastMs) throw new Error(`still not so after ${withinMs} ms: ${holds}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

export function p99(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor((sorted.length - 1) * 0.99)] ?? 0;
}

/** A well-behaved cluster that changes its demand all the time and notes how long each ack takes. */
export class Neighbour {
  readonly #operator: RawOperator;
  readonly #cluster: string;
  #sent = 0;

  constructor(shard: HostedShard, cluster: string, security: SecurityOptions = PLAIN) {
    this.#operator = new RawOperator(shard.addresses.sessions, security);
    this.#cluster = cluster;
    this.#operator.hello(cluster);
  }

  /** Milliseconds of every ack, while something else goes on or for a while. */
  async measure(during: Promise<unknown>): Promise<readonly number[]> {
    let isOver = false;
    const over = during.finally(() => {
      isOver = true;
    });
    const times: number[] = [];
    // What goes on may be over in no time.
    while (!isOver || times.length < 20) times.push(await this.#report());
    await over;
    return times;
  }

  async #report(): Promise<number> {
    const beganMs = performance.now();
    // The priority makes it another row, so that it is read and not just recognised.
    this.#operator.rollup(this.#cluster, [
      aRow(++this.#sent, { aggregateResources: new Map([['cpu', '0']]) }),
    ]);
    await this.#operator.acked('rollup', this.#sent);
    const ms = performance.now() - beganMs;
    await new Promise((resolve) => setTimeout(resolve, 10));
    return ms;
  }
}

/**
 * What a neighbour feels of an attack: the p99 of its acks before and meanwhile. Tests ask only that it is served; how
 * well is for whoever reads the lines that BIGFLEET_HOSTILE_JSON collects.
 */
export async function felt(
  name: string,
  neighbour: Neighbour,
  attack: () => Promise<unknown>,
): Promise<{ readonly beforeMs: number; readonly duringMs: number }> {
  const before = await neighbour.measure(new Promise((resolve) => setTimeout(resolve, 500)));
  const during = await neighbour.measure(attack());
  const found = { beforeMs: p99(before), duringMs: p99(during) };
  const file = process.env['BIGFLEET_HOSTILE_JSON'];
  const ratio = found.duringMs / found.beforeMs;
  if (file !== undefined)
    appendFileSync(file, `${JSON.stringify({ name, acks: during.length, ...found, ratio })}\n`);
  return found;
}

/** Generous: two cores that others use as well. What it must not be is starved. */
export function expectServed({ beforeMs, duringMs }: { beforeMs: number; duringMs: number }): void {
  expect(duringMs).toBeLessThan(Math.max(2_000, 50 * beforeMs));
}
