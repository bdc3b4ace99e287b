// How what a brain says is cut into messages: the owner looks at the clock after each, so one must not take long, be it
// many small items or few with much in them.

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

/** Hints of a cluster come all at once, hundreds of them; nothing is lost if they come a few at a time. */
function partsOf(item: FromBrain): readonly FromBrain[] {
  if (framesIn(item) <= CHUNK || item.kind !== 'effect') return [item];
  const { effect } = item;
  if (effect.kind !== 'available-capacity') return [item];
  const parts: FromBrain[] = [];
  for (let from = 0; from < effect.updates.length; from += CHUNK) {
    const updates = effect.updates.slice(from, from + CHUNK);
    parts.push({ kind: 'effect', effect: { ...effect, updates } });
  }
  return parts;
}

function framesIn(item: FromBrain): number {
  const isMany = item.kind === 'effect' && item.effect.kind === 'available-capacity';
  return isMany ? item.effect.updates.length : 1;
}
