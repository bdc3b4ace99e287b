// Nodes as far as demand reads them: labels, whether BigFleet manages the node, and the list of its pods. A node exists here
// while its object or one of its pods does, because pods and nodes arrive over separate watches.

import { type Attributes, INSTANCE_TYPE_KEY, type ResourceVector, ZONE_KEY } from '../../model/index.ts';
import type { NodeUse } from './contract.ts';
import type { Row } from './rows.ts';

const NO_USE: NodeUse = { pods: 0, doNotDisrupt: 0, withoutBudget: 0 };

export class NodeEntry {
  readonly number: number;
  readonly name: string;
  /** First pod of the list that runs through the table of pods. */
  first = 0;
  /** Null without a Node object. */
  attributes: Attributes | null = null;
  /** The labels as text, to see whether they changed. */
  labelsText = '';
  isManaged: boolean;
  /** Where the DaemonSet and static pods of the node are counted now. */
  overhead: { readonly row: Row; readonly vectors: readonly ResourceVector[] } | null = null;
  /** Kept up to date by node-accounts.ts; replaced, not written, when it changes. */
  use: NodeUse = NO_USE;

  constructor(number: number, name: string, isManaged: boolean) {
    this.number = number;
    this.name = name;
    this.isManaged = isManaged;
  }
}

export class Nodes {
  readonly #byName = new Map<string, NodeEntry>();
  readonly #byNumber: (NodeEntry | undefined)[] = [undefined];
  readonly #free: number[] = [];
  readonly #isManaged: (name: string) => boolean;
  /** Entries to look at before the next roll-up. */
  readonly dirty = new Set<NodeEntry>();

  constructor(isManaged: (name: string) => boolean) {
    this.#isManaged = isManaged;
  }

  get size(): number {
    return this.#byName.size;
  }

  at(number: number): NodeEntry {
    return this.#byNumber[number]!;
  }

  find(name: string): NodeEntry | undefined {
    return this.#byName.get(name);
  }

  entryFor(name: string): NodeEntry {
    const known = this.#byName.get(name);
    if (known !== undefined) return known;
    const number = this.#free.pop() ?? this.#byNumber.length;
    const entry = new NodeEntry(number, name, this.#isManaged(name));
    this.#byName.set(name, entry);
    this.#byNumber[number] = entry;
    return entry;
  }

  [Symbol.iterator](): IterableIterator<NodeEntry> {
    return this.#byName.values();
  }

  /** Whether the answer of the part that ties nodes to machines has changed. */
  askAgain(entry: NodeEntry): boolean {
    const before = entry.isManaged;
    entry.isManaged = this.#isManaged(entry.name);
    return entry.isManaged !== before;
  }

  removeIfUnused(entry: NodeEntry): void {
    if (entry.attributes !== null || entry.first !== 0 || entry.overhead !== null) return;
    if (!this.#byName.delete(entry.name)) return;
    this.#byNumber[entry.number] = undefined;
    this.#free.push(entry.number);
    this.dirty.delete(entry);
  }
}

export function attributesOf(labels: Readonly<Record<string, string>>): Attributes {
  return {
    instanceType: labels[INSTANCE_TYPE_KEY] ?? '',
    zone: labels[ZONE_KEY] ?? '',
    labels: new Map(Object.entries(labels)),
  };
}
