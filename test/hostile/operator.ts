// An operator that sends any bytes, and the frames of a well-behaved one: the building blocks of attacks, for the tests
// of this folder and for `bench/hostile`.

import type { ChannelOptions, ClientDuplexStream } from '@grpc/grpc-js';
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
  rawBytes,
  type SecurityOptions,
} from '../../src/wire/index.ts';
import { wireNeed } from '../../testing/support/sessions.ts';

export const PLAIN: SecurityOptions = { tls: null };

export const sessionService = bindService(ShardDefinition, { session: { request: rawBytes } });

export interface Ending {
  readonly code: number;
  readonly details: string;
}

export class BareOperator {
  readonly stream: ClientDuplexStream<Uint8Array, ShardMessage>;
  readonly received: ShardMessage[] = [];
  readonly ended: Promise<Ending>;
  readonly #closeClient: () => void;
  #wakers: (() => void)[] = [];

  constructor(address: string, security: SecurityOptions = PLAIN, channel: ChannelOptions = {}) {
    const client = connect(sessionService, address, clientCredentials(address, security), channel);
    this.#closeClient = () => client.close();
    this.stream = client.rpc.session();
    this.ended = new Promise((resolve) => this.stream.on('status', resolve));
    this.stream.on('error', () => {});
    this.stream.on('data', (frame: ShardMessage) => {
      this.received.push(frame);
      for (const wake of this.#wakers.splice(0)) wake();
    });
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
    this.stream.cancel();
    this.#closeClient();
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
  const payload = {
    $case: 'hello',
    value: { clusterId, protocolVersion: 'v1alpha1', features: [] },
  } as const;
  return OperatorMessage.encode({ payload }).finish();
}

let lastTimestamp = 0n;

export function rollupFrame(clusterId: string, needs: readonly CapacityNeed[]): Uint8Array {
  const timestampUnixNanos = ++lastTimestamp;
  const value = { clusterId, timestampUnixNanos, needs: [...needs], nodeFacts: undefined };
  const payload = { $case: 'rollup', value } as const;
  return OperatorMessage.encode({ payload }).finish();
}

/** A row of CPU alone; distinguished from others by its priority. */
export function aRow(priority: number, changes: Partial<CapacityNeed> = {}): CapacityNeed {
  return wireNeed(priority, { aggregateResources: new Map([['cpu', '4']]), ...changes });
}

export const rows = (count: number): CapacityNeed[] => Array.from({ length: count }, (_, i) => aRow(i));
