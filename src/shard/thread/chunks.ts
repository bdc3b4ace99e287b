// How what a brain says is cut into messages: the owner looks at the clock after each, so one must not take long, be it
// many small items or few with much in them.

import type { AvailableCapacityUpdate } from '../../wire/gen/bigfleet/v1alpha1/shard.ts';
import type { FromBrain } from './protocol.ts';

/** Frames in a message, about: taken out and sent in a millisecond or two. */
const CHUNK = 64;

/** The items in order, in messages of about equal work. */
export function* chunksOf(items: readonly FromBrain[]): Generator<readonly FromBrain[]> {
  let chunk: FromBrain[] = [];
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

/** Values of requirements that cost as much to send as one frame. */
const VALUES_PER_FRAME = 64;

/** Hints of a cluster come all at once, hundreds of them; nothing is lost if they come a few at a time. */
function partsOf(item: FromBrain): readonly FromBrain[] {
  if (framesIn(item) <= CHUNK || item.kind !== 'effect') return [item];
  const { effect } = item;
  if (effect.kind !== 'available-capacity') return [item];
  const parts: FromBrain[] = [];
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

function framesIn(item: FromBrain): number {
  if (item.kind !== 'effect' || item.effect.kind !== 'available-capacity') return 1;
  return item.effect.updates.reduce((sum, update) => sum + framesFor(update), 0);
}
