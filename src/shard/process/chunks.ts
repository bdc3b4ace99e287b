// Splits the controller's output into messages. The main thread reads the clock after each message, so a message must
// not take long, whether it has many small items or a few large ones. Used by controller-worker.ts.

import type { Batch, Envelope } from '../../runtime/message-exchange.ts';
import type { AvailableCapacityUpdate } from '../../wire/gen/bigfleet/v1alpha1/shard.ts';
import type { FromController } from './controller-protocol.ts';

/** About this many frames per message: deserialised and sent in 1 to 2 ms. */
const CHUNK = 64;

/** The items in order, in messages of about equal work. */
export function* chunksOf(items: Batch<FromController>): Generator<Batch<FromController>> {
  let chunk: Envelope<FromController>[] = [];
  let work = 0;
  for (const item of items) {
    for (const part of partsOf(item)) {
      const more = framesIn(part);
      if (work > 0 && work + more > CHUNK) {
        yield chunk;
        chunk = [];
        work = 0;
      }
      chunk.push(part);
      work += more;
    }
  }
  if (chunk.length > 0) yield chunk;
}

/** Number of requirement values that cost as much to send as one frame. */
const VALUES_PER_FRAME = 64;

/** The controller emits all hints of a cluster at once, hundreds of them; sending them in parts loses nothing. */
function partsOf(item: Envelope<FromController>): Batch<FromController> {
  if (framesIn(item) <= CHUNK || item.kind !== 'effect') return [item];
  const { effect } = item;
  if (effect.kind !== 'available-capacity') return [item];
  const parts: Envelope<FromController>[] = [];
  let updates: AvailableCapacityUpdate[] = [];
  let work = 0;
  for (const update of effect.updates) {
    const more = framesFor(update);
    if (work > 0 && work + more > CHUNK) {
      parts.push({ kind: 'effect', effect: { ...effect, updates } });
      updates = [];
      work = 0;
    }
    updates.push(update);
    work += more;
  }
  parts.push({ kind: 'effect', effect: { ...effect, updates } });
  return parts;
}

function framesFor({ requirements }: AvailableCapacityUpdate): number {
  let values = 0;
  for (const requirement of requirements) values += requirement.values.length;
  return 1 + Math.floor(values / VALUES_PER_FRAME);
}

function framesIn(item: Envelope<FromController>): number {
  if (item.kind !== 'effect' || item.effect.kind !== 'available-capacity') return 1;
  return item.effect.updates.reduce((sum, update) => sum + framesFor(update), 0);
}
