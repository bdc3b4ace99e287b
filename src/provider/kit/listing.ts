// Selects the machines of a List and its cursor, for provider.ts. The cursor is `<born>.<revision>`: the creation time
// of the inventory in base 36 and the number of its last change. Anything other than a cursor of this inventory yields
// the full list: a reader with a stale or damaged cursor must never miss a change. A capped delta returns the oldest
// changes and a cursor that covers only those; every other list returns the cursor of the head.

import { isMachineState, MachineState } from '../../model/index.ts';
import type { ListFilter } from '../../wire/gen/bigfleet/v1alpha1/provider.ts';
import { MAX_MESSAGE_BYTES, status } from '../../wire/index.ts';
import { revisionField } from './body.ts';
import { EVERY_STATE, type InventoryColumns } from './inventory-columns.ts';
import { refusal } from './requests.ts';

/** Bytes copied before yielding to other calls; takes a few milliseconds. */
const PART_BYTES = 8 * 1024 * 1024;
/** Longer than any cursor the kit issues; longer input is not parsed. */
const MAX_CURSOR_BYTES = 64;
const CURSOR = /^([0-9a-z]{1,12})\.(0|[1-9][0-9]{0,15})$/;

/** Machines to list, and the revision up to which the reader is then current. */
export interface Selection {
  readonly slots: Int32Array;
  readonly revision: number;
}

export class Listing {
  readonly #records: InventoryColumns;
  readonly #born: string;
  /** Start of the next capped list, by set of states: round-robin, so that repeated capped lists return all machines. */
  readonly #cappedStarts = new Float64Array(2 ** (MachineState.Failed + 1));

  constructor(records: InventoryColumns, born: number) {
    this.#records = records;
    this.#born = born.toString(36);
  }

  cursorAt(revision: number): Uint8Array {
    return new Uint8Array(Buffer.from(`${this.#born}.${revision}`, 'latin1'));
  }

  /** Applies the filter. `head` is the revision of the inventory. */
  select(filter: ListFilter, head: number): Selection {
    const states = statesOf(filter);
    if (filter.maxResults < 0) {
      const detail = `The limit is ${filter.maxResults}.`;
      throw refusal(status.INVALID_ARGUMENT, 'BF_REQUEST_LIMIT', detail, 'max_results');
    }
    const limit = filter.maxResults === 0 ? Number.POSITIVE_INFINITY : filter.maxResults;
    const since = this.#revisionOf(filter.sinceRevision, head);
    if (since !== null) return this.#changed(states, since, limit, head);
    const start = limit === Number.POSITIVE_INFINITY ? 0 : this.#advanceCappedStart(states, limit);
    return { slots: this.#records.slotsIn(states, start, limit), revision: head };
  }

  /** A `MachineList` of these slots as bytes, copied in parts of `PART_BYTES`; `giveWay` runs in between. */
  async encode({ slots, revision }: Selection, giveWay: () => Promise<void>): Promise<Buffer> {
    const snapshot = this.#records.snapshot(slots);
    const tail = revisionField(this.cursorAt(revision));
    const bytes = snapshot.bytes + tail.length;
    if (bytes > MAX_MESSAGE_BYTES) {
      const detail = `The list of ${slots.length} machines has ${bytes} bytes; a message takes ${MAX_MESSAGE_BYTES}.`;
      throw refusal(status.RESOURCE_EXHAUSTED, 'BF_LIST_TOO_LARGE', detail);
    }
    const list = Buffer.allocUnsafeSlow(bytes);
    list.set(tail, snapshot.bytes);
    while (!snapshot.copyTo(list, PART_BYTES)) await giveWay();
    return list;
  }

  #changed(states: readonly MachineState[], since: number, limit: number, head: number): Selection {
    const wanted = new Set(states);
    const changed: number[] = [];
    for (const slot of this.#records.slotsSince(since)) {
      if (wanted.has(this.#records.stateOf(slot))) changed.push(slot);
    }
    if (changed.length <= limit) return { slots: Int32Array.from(changed), revision: head };
    const oldest = Int32Array.from(changed.slice(-limit));
    return { slots: oldest, revision: this.#records.revisionOf(oldest[0]!) };
  }

  #advanceCappedStart(states: readonly MachineState[], limit: number): number {
    const key = states.reduce((bits, state) => bits | (1 << state), 0);
    const start = this.#cappedStarts[key]!;
    const count = this.#records.countIn(states);
    this.#cappedStarts[key] = count === 0 ? 0 : (start + Math.min(limit, count)) % count;
    return start;
  }

  /** The revision in a cursor of this inventory; null for anything else. */
  #revisionOf(cursor: Uint8Array, head: number): number | null {
    if (cursor.length === 0 || cursor.length > MAX_CURSOR_BYTES) return null;
    const [, born, revision] = CURSOR.exec(Buffer.from(cursor).toString('latin1')) ?? [];
    if (born !== this.#born || Number(revision) > head) return null;
    return Number(revision);
  }
}

function statesOf(filter: ListFilter): readonly MachineState[] {
  if (filter.states.length === 0) return EVERY_STATE;
  const states = new Set<MachineState>();
  for (const [i, state] of filter.states.entries()) {
    if (!isMachineState(state)) {
      const detail = `The state number is ${Number(state)}.`;
      throw refusal(status.INVALID_ARGUMENT, 'BF_REQUEST_STATE', detail, `states[${i}]`);
    }
    states.add(state);
  }
  return [...states].sort((a, b) => a - b);
}
