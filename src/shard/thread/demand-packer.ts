// Demand on its way to the thread of the brain, packed a few milliseconds at a time: a roll-up of 50,000 new rows takes
// some tenths of a second to pack and to copy, and the thread of sessions must not stand still for that. Small changes go
// at once; of each cluster only the newest demand waits.

import type { BrainEvent } from '../events.ts';
import { type DemandDelta, DemandSender } from './demand-codec.ts';
import type { ToBrain } from './protocol.ts';

type DemandEvent = Extract<BrainEvent, { readonly kind: 'demand' }>;

/** How long demand is packed before others have their turn. */
const TURN_MS = 2;
/** Rows in one message. */
const PART_ROWS = 256;

interface Packing {
  readonly event: DemandEvent;
  readonly steps: Generator<undefined, DemandDelta>;
}

export class DemandPacker {
  readonly #sender = new DemandSender();
  readonly #send: (item: ToBrain) => void;
  /** By cluster: what has not been begun, in the order of turns. */
  readonly #waiting = new Map<string, DemandEvent>();
  /** By cluster: what has been begun and could not be finished at once, in the order of turns. */
  readonly #begun = new Map<string, Packing>();
  #isTurnDue = false;

  constructor(send: (item: ToBrain) => void) {
    this.#send = send;
  }

  post(event: DemandEvent): void {
    const { cluster } = event;
    if (this.#begun.has(cluster)) this.#waiting.set(cluster, event);
    else this.#work(this.#begin(event));
  }

  #begin(event: DemandEvent): Packing {
    const send = this.#send;
    const steps = this.#sender.packing(event.cluster, event.needs, {
      partRows: PART_ROWS,
      send: (part) => send({ kind: 'demand-part', part }),
    });
    return { event, steps };
  }

  /** Goes on for a turn; what is not done then is behind all others. */
  #work(packing: Packing): void {
    const { cluster, rowsSetAside } = packing.event;
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
