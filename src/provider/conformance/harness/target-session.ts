// Connections to one target, the pool of its machines, and whether it still answers. targets.ts opens it and run.ts
// takes its trials from it. A target is an address or a provider within this process; with the latter the suite's own
// tests run many in a second.

import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { type ChannelCredentials, status } from '@grpc/grpc-js';
import { MachineState } from '../../../model/index.ts';
import { Random } from '../../../runtime/random.ts';
import { CapacityProviderDefinition } from '../../../wire/gen/bigfleet/v1alpha1/provider.ts';
import { bindService, connect } from '../../../wire/index.ts';
import { NoAnswer } from './behaviour.ts';
import { CallLog } from './call-log.ts';
import { Calls, type ProviderRpc } from './calls.ts';
import type { DurableStage } from './durable-stage.ts';
import { MachinePool } from './machine-pool.ts';
import { isTransitional, Trial, type TrialEnvironment, type TrialSettings } from './trial.ts';

/** One connection to a provider. */
export interface Connection {
  readonly rpc: ProviderRpc;
  close(): void;
}

/** Opens a connection to a provider. */
export type Connect = () => Connection;

const SERVICE = bindService(CapacityProviderDefinition);

/** Connections to an address, each with a channel of its own. */
export function connectTo(address: string, credentials?: ChannelCredentials): Connect {
  const options = {
    // By default grpc-js shares the transport among channels to one address.
    'grpc.use_local_subchannel_pool': 1,
    // Reconnects to a starting provider sooner than after gRPC's default backoff of 1 s.
    'grpc.initial_reconnect_backoff_ms': 50,
    'grpc.max_reconnect_backoff_ms': 200,
  };
  return () => connect(SERVICE, address, credentials, options);
}

const DENIED: ReadonlySet<status> = new Set([status.PERMISSION_DENIED, status.UNAUTHENTICATED]);

/** Time for machines of a failed behaviour to settle before the next one begins. */
const FAILED_SETTLE_MS = 2_000;
/** Time limit of the clean-up, which is best-effort. */
const TIDY_MS = 30_000;
const TIDY_AT_ONCE = 16;

export class TargetSession implements TrialEnvironment {
  readonly rpc: ProviderRpc;
  readonly pool = new MachinePool();
  readonly settings: TrialSettings;
  durable?: DurableStage;
  readonly #connect: Connect;
  readonly #connections: Connection[] = [];
  readonly #nonce = randomBytes(4).toString('hex');
  #names = 0;
  #second: ProviderRpc | undefined;
  /** Why the provider cannot be called any more; undefined while it can. */
  lost: string | undefined;

  constructor(connectTarget: Connect, settings: TrialSettings) {
    this.#connect = connectTarget;
    this.settings = settings;
    this.rpc = this.#open();
  }

  readonly uniqueName = (kind: string): string => `${kind}-${this.#nonce}-${++this.#names}`;

  readonly secondRpc = (): ProviderRpc => {
    this.#second ??= this.#open();
    return this.#second;
  };

  #open(): ProviderRpc {
    const connection = this.#connect();
    this.#connections.push(connection);
    return connection.rpc;
  }

  trial(random: Random = new Random(0)): Trial {
    return new Trial(this, random);
  }

  /** Calls that belong to no behaviour. */
  calls(): Calls {
    return new Calls(this.rpc, new CallLog(), this.settings.timings);
  }

  /** Why the provider cannot be called; undefined if it can. */
  async problem(): Promise<string | undefined> {
    try {
      const calls = this.calls();
      const list = await calls.list({ max: 1 });
      if (!list.ok && list.code === status.UNIMPLEMENTED) {
        return 'it does not serve bigfleet.v1alpha1.CapacityProvider';
      }
      // For an unknown machine and without a token, so that it changes nothing.
      const create = await calls.create(this.uniqueName('no-such-machine'));
      const isDenied = !create.ok && DENIED.has(create.code);
      return isDenied
        ? `it does not let us act for several shards (${create.details}); see "Certify over TLS" in docs/provider/writing-a-provider.md`
        : undefined;
    } catch (error) {
      if (error instanceof NoAnswer) return error.message;
      throw error;
    }
  }

  /** Waits until the machines of a behaviour are in stable states, so that they do not disturb the next one. */
  async rest(ids: readonly string[], passed: boolean): Promise<void> {
    const { drainMs, pollMs } = this.settings.timings;
    const until = performance.now() + (passed ? drainMs : Math.min(drainMs, FAILED_SETTLE_MS));
    const calls = this.calls();
    await Promise.all(
      ids.map(async (id) => {
        for (;;) {
          const reply = await calls.get(id);
          if (!reply.ok || !isTransitional(reply.value.state) || performance.now() > until) return;
          await sleep(pollMs);
        }
      }),
    );
  }

  /** Drains and deletes the machines that the run used, because their hosts are billed. */
  async tidy(): Promise<void> {
    if (this.lost !== undefined) return;
    const ids = [...this.pool.usedIds];
    const until = performance.now() + TIDY_MS;
    const work = async () => {
      for (let id = ids.pop(); id !== undefined && performance.now() < until; id = ids.pop()) {
        await this.#giveBack(id, until);
      }
    };
    await Promise.allSettled(Array.from({ length: TIDY_AT_ONCE }, work));
  }

  async #giveBack(id: string, until: number): Promise<void> {
    const calls = this.calls();
    for (let step = 0; step < 2; step++) {
      const reply = await calls.get(id);
      const state = reply.ok ? reply.value.state : undefined;
      if (state === MachineState.Configured) await calls.drain(id, 0);
      else if (state === MachineState.Idle) await calls.delete(id);
      else return;
      await this.rest([id], performance.now() < until);
    }
  }

  close(): void {
    for (const connection of this.#connections) connection.close();
  }
}
