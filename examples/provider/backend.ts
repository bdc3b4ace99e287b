// What you write: five calls that touch your cloud; main.ts serves them. Fencing, idempotency, operation ids,
// revisions, timeouts and crash recovery are the kit's. Each call resolves when the transition has really ended and
// throws when it failed for good; the message of the error becomes the machine's last_error, so say what a person on
// call needs to know.

import { setTimeout as sleep } from 'node:timers/promises';
import {
  type Backend,
  type Binding,
  CapacityType,
  type HostRef,
  type Offering,
  type Operation,
  OutOfStockError,
  type Subject,
} from 'bigfleet/provider';
import { type Flavour, type Nimbus, NimbusError, type ServerStatus } from './nimbus.ts';

const POLL_MS = 2;
const GIB = 2 ** 30;

export class NimbusBackend implements Backend {
  readonly #nimbus: Nimbus;
  /** Quota slots in all; most clouds tell you, Nimbus does not. */
  readonly #slots: number;

  constructor(nimbus: Nimbus, slots: number) {
    this.#nimbus = nimbus;
    this.#slots = slots;
  }

  /** Everything on offer, one record per quota slot. Ids are permanent: the same slot has the same id next year. */
  async describe(): Promise<readonly Offering[]> {
    const flavours = await this.#nimbus.flavours();
    return Array.from({ length: this.#slots }, (_, i) => {
      const flavour = flavours[i % flavours.length]!;
      return offeringOf(flavour, Math.floor(i / flavours.length));
    });
  }

  async create({ instanceType, zone }: Subject, operation: Operation): Promise<HostRef> {
    // The operation id is the same for every repetition of this transition: pass it on as your cloud's client token.
    const server = await this.#nimbus.launch(instanceType, zone, operation.id).catch(asKitError);
    await this.#until(server, 'running', operation.signal);
    return { provider: 'nimbus', ref: server };
  }

  async configure({ host }: Subject, { bootstrapBlob }: Binding, { signal }: Operation): Promise<void> {
    await this.#nimbus.runScript(host!.ref, bootstrapBlob);
    // Not when the script was delivered, but when the node is Ready in its cluster: shards count on it from then on.
    await this.#until(host!.ref, 'joined', signal);
  }

  async drain({ host }: Subject, graceSeconds: number, { signal }: Operation): Promise<void> {
    await this.#nimbus.evict(host!.ref, graceSeconds);
    await this.#until(host!.ref, 'running', signal);
  }

  /** Omit this one if hosts cannot be released. */
  async delete({ host }: Subject, { signal }: Operation): Promise<void> {
    await this.#nimbus.terminate(host!.ref);
    await this.#until(host!.ref, 'gone', signal);
  }

  /** Polls until the condition holds. The signal fires when the kit gives up; later results are dropped, so stop. */
  async #until(server: string, wanted: ServerStatus, signal: AbortSignal): Promise<void> {
    while ((await this.#nimbus.status(server)) !== wanted) await sleep(POLL_MS, undefined, { signal });
  }
}

/** Reports to the kit when the cloud is out of stock, so that shards stop buying this type in this zone for a while. */
function asKitError(error: unknown): never {
  if (error instanceof NimbusError && error.code === 'NoServersLeft') {
    throw new OutOfStockError(error.message, { cause: error });
  }
  throw error;
}

function offeringOf(flavour: Flavour, number: number): Offering {
  const { name, zone, cpus, memoryGiB, dollarsPerHour, reclaimRate } = flavour;
  return {
    id: `nimbus-${zone}-${name}-${number}`,
    instanceType: name,
    zone,
    capacityType: reclaimRate > 0 ? CapacityType.Spot : CapacityType.OnDemand,
    pricePerHour: dollarsPerHour,
    interruptionProbability: reclaimRate,
    // Whole numbers: thousandths of a CPU, bytes of memory.
    resources: new Map([
      ['cpu', cpus * 1000],
      ['memory', memoryGiB * GIB],
    ]),
    // What remains for pods after the kubelet's reservation.
    allocatable: new Map([
      ['cpu', cpus * 1000 - 100],
      ['memory', (memoryGiB - 1) * GIB],
    ]),
    // Anything a workload may require that is not a field above; never the zone or the type again.
    labels: new Map([['nimbus.example/generation', '1']]),
    // null: a quota slot, to be created. A host you own already goes here and starts Idle.
    host: null,
  };
}
