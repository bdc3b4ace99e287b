// Shapes of pods, translated once each: from a shape and the terms of its volumes to the rows that its pods may count for.
// A translation is repeated only when something that it depends on has changed.

import type { Profile } from '../../model/index.ts';
import { type ClusterFacts, type Constraints, constraintsOf } from '../pods/constraints.ts';
import type { PodShape } from '../pods/shape.ts';
import type { VolumeTerms } from '../pods/volumes.ts';
import { CountedInterner } from './counted-interner.ts';
import type { Row } from './rows.ts';

/** A translated shape. `alternativesKey` is null unless there are several. */
export interface Resolved extends Constraints {
  readonly alternativesKey: string | null;
  /** By alternative: its row when it was last looked up, which may have been removed since. */
  readonly rows: (Row | undefined)[];
}

class Shape {
  readonly parts: PodShape;
  /** By the terms of volumes, as text: the translation. */
  readonly resolved = new Map<string, Resolved>();

  constructor(parts: PodShape) {
    this.parts = parts;
  }
}

/** Most pods have volumes in one zone or none; more distinct terms than this are translated again and again. */
const MAX_RESOLVED = 1024;

export class Shapes {
  readonly interned = new CountedInterner<Shape>();
  readonly #facts: ClusterFacts;

  constructor(facts: ClusterFacts) {
    this.#facts = facts;
  }

  numberOf(text: string, parts: PodShape): number {
    return this.interned.numberOf(text, () => new Shape(parts));
  }

  /** The translation of a shape whose pod uses volumes with these terms. */
  resolve(number: number, volumesText: string, volumes: readonly VolumeTerms[]): Resolved {
    const { parts, resolved } = this.interned.valueOf(number);
    const known = resolved.get(volumesText);
    if (known !== undefined) return known;
    const constraints = constraintsOf(parts, volumes, this.#facts);
    const { profiles, group } = constraints;
    const alternativesKey = profiles.length > 1 ? keyOf(profiles, group) : null;
    const fresh: Resolved = { ...constraints, alternativesKey, rows: [] };
    if (resolved.size >= MAX_RESOLVED) resolved.clear();
    resolved.set(volumesText, fresh);
    return fresh;
  }

  /** Numbers of the shapes whose translations depend on values that were seen; they are translated again. */
  forgetSeenValues(): ReadonlySet<number> {
    return this.#forget(({ resolved }) => [...resolved.values()].some((each) => each.dependsOnSeenValues));
  }

  /** Numbers of the shapes that take their priority from a class; they are translated again. */
  forgetPriorities(): ReadonlySet<number> {
    return this.#forget(({ parts }) => parts.priority === undefined);
  }

  #forget(isStale: (shape: Shape) => boolean): ReadonlySet<number> {
    const numbers = new Set<number>();
    for (const [number, shape] of this.interned.entries()) {
      if (!isStale(shape)) continue;
      shape.resolved.clear();
      numbers.add(number);
    }
    return numbers;
  }
}

function keyOf(profiles: readonly Profile[], group: string): string {
  return JSON.stringify([group, ...profiles.map(({ fingerprint }) => fingerprint)]);
}
