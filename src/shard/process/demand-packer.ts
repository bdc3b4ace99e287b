// Packs demand for the controller's thread a few milliseconds at a time: a roll-up of 50,000 new rows takes some
// tenths of a second to pack and copy, which must not block the thread of the sessions. Small changes are sent at
// once; while a cluster is being packed, its further demand is queued and coalesced. Part of controller-thread.ts.

import { coalesced, type DemandEvent } from './coalesced-demand.ts';
import type { ToController } from './controller-protocol.ts';
import { DemandSender, type PackedDelta } from './demand-codec.ts';

/** Time to pack before the event loop runs other work. */
const TURN_MS = 2;
/** Most rows per message. */
const PART_ROWS = 256;

interface Packing {
  readonly event: DemandEvent;
  readonly steps: Generator<undefined, PackedDelta>;
}

export class DemandPacker {
  readonly #sender = new DemandSender();
  readonly #send: (item: ToController['item']) => void;
  /** By cluster: the demand that waits until the one in `#begun` is packed. */
  readonly #waiting = new Map<string, DemandEvent>();
  /** By cluster: packing in progress, in round-robin order. */
  readonly #begun = new Map<string, Packing>();
  #isTurnDue = false;

  constructor(send: (item: ToController['item']) => void) {
    this.#send = send;
  }

  post(event: DemandEvent): void {
    const { cluster } = event.delta;
    if (this.#begun.has(cluster)) this.#waiting.set(cluster, coalesced(this.#waiting.get(cluster), event));
    else this.#work(this.#begin(event));
  }

  #begin(event: DemandEvent): Packing {
    const send = this.#send;
    const steps = this.#sender.packing(event.delta, {
      partRows: PART_ROWS,
      send: (part) => send({ kind: 'demand-part', part }),
    });
    return { event, steps };
  }

  /** Packs for one turn; unfinished work moves to the end of the round-robin order. */
  #work(packing: Packing): void {
    const { delta, rowsSetAside } = packing.event;
    const { cluster } = delta;
    const endMs = performance.now() + TURN_MS;
    this.#begun.delete(cluster);
    for (;;) {
      const step = packing.steps.next();
      if (step.done === true) {
        this.#send({ kind: 'demand-delta', delta: step.value, rowsSetAside });
        break;
      }
      if (performance.now() < endMs) continue;
      this.#begun.set(cluster, packing);
      this.#takeTurnLater();
      return;
    }
    const next = this.#waiting.get(cluster);
    if (next === undefined) return;
    this.#waiting.delete(cluster);
    this.#begun.set(cluster, this.#begin(next));
    this.#takeTurnLater();
  }

  #takeTurnLater(): void {
    if (this.#isTurnDue) return;
    this.#isTurnDue = true;
    setImmediate(() => {
      this.#isTurnDue = false;
      const [packing] = this.#begun.values();
      if (packing !== undefined) this.#work(packing);
      if (this.#begun.size > 0) this.#takeTurnLater();
    });
  }
}
