// A provider of `bench shard`: a child process, started by measure.ts. It serves the kit over a cloud whose machines
// exist from the start, bound ones included, and whose transitions take a few seconds, and reports the times of calls
// and of completed transitions.

import { type LedgerMachine, MachineState } from '../../src/model/index.ts';
import {
  type Backend,
  NO_STORE,
  Provider,
  type Store,
  type Subject,
  serveProvider,
} from '../../src/provider/index.ts';
import { systemClock } from '../../src/runtime/system-clock.ts';
import { Machine } from '../../src/wire/gen/bigfleet/v1alpha1/provider.ts';
import { machineToWire } from '../../src/wire/index.ts';
import { Workload } from '../../testing/workload/workload.ts';
import { nowMs } from './processes.ts';
import { fleetOf, type Settings } from './settings.ts';

export interface ProviderSetup {
  readonly settings: Settings;
  /** Index of this provider, from 0. */
  readonly index: number;
}

export interface Call {
  readonly command: 'create' | 'configure' | 'drain' | 'delete';
  readonly machine: string;
  /** '' where the call has no cluster. */
  readonly cluster: string;
  readonly atMs: number;
}

/** A completed transition. */
export interface Arrival {
  readonly machine: string;
  readonly state: MachineState;
  readonly atMs: number;
}

export type ProviderMessage =
  | { readonly kind: 'ready'; readonly address: string; readonly seconds: number; readonly machines: number }
  | { readonly kind: 'called'; readonly call: Call }
  | { readonly kind: 'report'; readonly arrivals: readonly Arrival[] };

/** `report` requests the arrivals since the last one. */
export interface ProviderOrder {
  readonly kind: 'report';
}

const TRANSITION_MS = { create: 3000, configure: 2000, drain: 1000, delete: 1000 };

class SlowCloud implements Backend {
  arrivals: Arrival[] = [];
  readonly #onCall: (call: Call) => void;

  constructor(onCall: (call: Call) => void) {
    this.#onCall = onCall;
  }

  /** All machines are in the store already. */
  describe() {
    return Promise.resolve([]);
  }

  async create(machine: Subject) {
    await this.#carryOut('create', machine, MachineState.Idle);
    return { provider: 'bench', ref: machine.id };
  }

  configure(machine: Subject): Promise<void> {
    return this.#carryOut('configure', machine, MachineState.Configured);
  }

  drain(machine: Subject): Promise<void> {
    return this.#carryOut('drain', machine, MachineState.Idle);
  }

  delete(machine: Subject): Promise<void> {
    return this.#carryOut('delete', machine, MachineState.Speculative);
  }

  async #carryOut(command: Call['command'], { id, cluster }: Subject, state: MachineState): Promise<void> {
    this.#onCall({ command, machine: id, cluster, atMs: nowMs() });
    await new Promise((resolve) => setTimeout(resolve, TRANSITION_MS[command]));
    this.arrivals.push({ machine: id, state, atMs: nowMs() });
  }
}

/** This provider's part of the fleet, as the content of its store. */
function storeOf(workload: Workload, { settings: { providers }, index }: ProviderSetup): Store {
  return {
    ...NO_STORE,
    load: () =>
      Promise.resolve({
        counters: { born: Date.now(), revision: workload.machineCount, operations: 0 },
        machines: rowsOf(workload, providers, index),
        marks: [],
        flights: [],
      }),
  };
}

function* rowsOf(workload: Workload, providers: number, index: number) {
  let ordinal = 0;
  let slot = 0;
  for (const machine of workload.machines()) {
    if (ordinal++ % providers !== index) continue;
    const { body, describedBytes } = bodyOf(machine);
    yield { slot, state: machine.state, revision: ++slot, body, describedBytes, operations: [0, 0, 0, 0] };
  }
}

/** The two records that the kit stores for a machine: its offering, then its state. */
function bodyOf(machine: LedgerMachine): { readonly body: Uint8Array; readonly describedBytes: number } {
  const wire = machineToWire(machine);
  const { state, host, lastError, cluster, shardMetadata } = wire;
  const described = Machine.encode({
    ...wire,
    ...{ state: 0, host: undefined, lastError: '', cluster: '', shardMetadata: new Map() },
  }).finish();
  const life = Machine.encode({ ...EMPTY_MACHINE, state, host, lastError, cluster, shardMetadata }).finish();
  return { body: Buffer.concat([described, life]), describedBytes: described.length };
}

const EMPTY_MACHINE = Machine.decode(new Uint8Array());

async function serve(setup: ProviderSetup): Promise<void> {
  const started = nowMs();
  const send = (message: ProviderMessage): void => void process.send!(message);
  const cloud = new SlowCloud((call) => send({ kind: 'called', call }));
  const { settings } = setup;
  const workload = new Workload(fleetOf(settings), settings.seed, 'quiet');
  const provider = await Provider.open({
    backend: cloud,
    store: storeOf(workload, setup),
    clock: systemClock,
    options: { operationPrefix: `op-${setup.index}-` },
  });
  const server = await serveProvider(provider, '127.0.0.1:0', { tls: null });
  process.on('message', () => {
    send({ kind: 'report', arrivals: cloud.arrivals });
    cloud.arrivals = [];
  });
  process.on('disconnect', () => process.exit());
  send({
    kind: 'ready',
    address: server.address,
    seconds: (nowMs() - started) / 1000,
    machines: provider.machineCount,
  });
}

if (import.meta.main) await serve(JSON.parse(process.argv[2]!) as ProviderSetup);
