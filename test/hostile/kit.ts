// Test support of this folder: a fake cloud on a port, real shards, operators that send raw frames, and certificate
// files. Everything on loopback, closed after each test.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach } from 'vitest';
import type { SettingsPatch } from '../../src/provider/index.ts';
import { defaultConfig, type RunningShard, type ShardConfig, type ShardLog } from '../../src/shard/index.ts';
import { startShard } from '../../src/shard/process/shard.ts';
import { OperatorMessage, type ShardMessage } from '../../src/wire/gen/bigfleet/v1alpha1/shard.ts';
import type { SecurityOptions } from '../../src/wire/index.ts';
import { Authority } from './authority.ts';
import { type Cloud, serveCloud } from './cloud.ts';
import { aRow, BareOperator, PLAIN } from './operator.ts';

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

/** Registers a cleanup; cleanups run after the test, last first. */
export function onEnd(close: () => unknown): void {
  closers.push(close);
}

export function scratch(): string {
  const path = mkdtempSync(join(tmpdir(), 'bigfleet-hostile-'));
  onEnd(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

/** Deleted after the test. */
export async function aCloud(machines = 60, security = PLAIN, set: SettingsPatch = {}): Promise<Cloud> {
  const cloud = await serveCloud(machines, security, set);
  onEnd(() => cloud.stop());
  return cloud;
}

interface LogLine {
  readonly level: string;
  readonly event: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

export interface HostedShard extends RunningShard {
  readonly lines: readonly LogLine[];
  readonly config: ShardConfig;
  /** The value of a series, given with its labels as exposed; 0 if it is absent. */
  metric(line: string): Promise<number>;
}

interface ShardGiven extends Partial<Omit<ShardConfig, 'limits'>> {
  readonly cloud?: Cloud;
  readonly limits?: Partial<ShardConfig['limits']>;
}

export async function aShard(given: ShardGiven): Promise<HostedShard> {
  const { cloud, limits, ...rest } = given;
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
    // No rate limit by default; tests of the rate limit set their own.
    limits: { ...standard.limits, rollupIntervalMs: 0, ...limits },
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

/** Closed after the test. Has its own connection, like the operator of a cluster. */
export class RawOperator extends BareOperator {
  constructor(address: string, security: SecurityOptions = PLAIN) {
    super(address, security, { 'grpc.use_local_subchannel_pool': 1 });
    onEnd(() => this.close());
  }
}

/** Answers every bootstrap request, so that machines can join. */
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

/** Its files are deleted after the test. */
export const anAuthority = (name = 'ours'): Authority => new Authority(scratch(), name);

/** Polls until the condition holds; throws after `withinMs`. */
export async function until(holds: () => boolean | Promise<boolean>, withinMs = 60_000): Promise<void> {
  const lastMs = Date.now() + withinMs;
  while (!(await holds())) {
    if (Date.now() > lastMs) throw new Error(`still not so after ${withinMs} ms: ${String(holds)}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

/** A well-behaved cluster that changes its demand continuously. */
class Neighbour {
  readonly #operator: RawOperator;
  #sent = 0;

  constructor(shard: HostedShard) {
    this.#operator = new RawOperator(shard.addresses.sessions);
    this.#operator.hello('neighbour');
  }

  /** Resolves when the roll-up is acknowledged; rejects if its session ends instead. */
  async report(): Promise<void> {
    // Another priority makes it another row, so that it is decoded and not only recognised as unchanged.
    const nothing = { aggregateResources: new Map([['cpu', '0']]) };
    this.#operator.rollup('neighbour', [aRow(++this.#sent, nothing)]);
    await this.#operator.acked('rollup', this.#sent);
  }
}

const REPORTS_AT_LEAST = 20;

/**
 * A cluster reports throughout the attack, and every roll-up is acknowledged on its one session. Latency is not checked
 * here, where attacker and shard share one process: `bench hostile` measures it.
 */
export async function servingNeighbours(shard: HostedShard, attack: () => Promise<unknown>): Promise<void> {
  const neighbour = new Neighbour(shard);
  await neighbour.report();
  let isOver = false;
  const over = attack().finally(() => {
    isOver = true;
  });
  // The attack may end immediately.
  for (let reports = 0; !isOver || reports < REPORTS_AT_LEAST; reports++) {
    await neighbour.report();
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  await over;
}
