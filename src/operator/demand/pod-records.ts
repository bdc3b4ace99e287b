// What is kept of each pod and CapacityRequest: the table of pods with the interned values that its columns refer to, and the
// names of the few objects that the operator speaks about. Written by pod-demand.ts, which decides how they count; read by
// row-choice.ts and demand-reports.ts.

import type { ResourceVector } from '../../model/index.ts';
import type { Budgets } from './budgets.ts';
import type { Claims } from './claims.ts';
import { CountedInterner } from './counted-interner.ts';
import type { PodReading } from './pod-reading.ts';
import { PodTable } from './pod-table.ts';
import { RequestNames } from './request-names.ts';
import { RequestOwners } from './request-owners.ts';
import type { Shapes } from './shapes.ts';
import { Flag } from './standing.ts';

/** Names of the objects that other parts speak about: pods that wait, and what needs a word to its owner. */
export interface Named {
  readonly namespace: string;
  readonly name: string;
  /** 0: it does not wait. */
  readonly sinceMs: number;
  readonly remarks: readonly string[];
  readonly misread: readonly string[];
  readonly problem: string | null;
}

const NO_REMARKS: readonly string[] = [];

export class PodRecords {
  readonly table = new PodTable();
  readonly vectors = new CountedInterner<ResourceVector>();
  readonly namespaces = new CountedInterner<string>();
  readonly named = new Map<number, Named>();
  readonly requestNames = new RequestNames();
  readonly owners = new RequestOwners(this.table);
  readonly #shapes: Shapes;
  readonly #claims: Claims;
  readonly #budgets: Budgets;

  constructor(deps: { readonly shapes: Shapes; readonly claims: Claims; readonly budgets: Budgets }) {
    this.#shapes = deps.shapes;
    this.#claims = deps.claims;
    this.#budgets = deps.budgets;
  }

  /** The number of the resources of an object, to be passed to `write`; 0 if it never counts. */
  vectorOf({ asked }: PodReading): number {
    return asked === null ? 0 : this.vectors.numberOf(asked.resourcesText, () => asked.resources);
  }

  /** Writes what the object says about itself. Returns whether that changed what its node counts. */
  write(slot: number, reading: PodReading, vector: number): boolean {
    const { table } = this;
    const { asked, namespace, flags } = reading;
    const shape = asked === null ? 0 : this.#shapes.numberOf(asked.shapeText, asked.shape);
    replace(this.vectors, table.vector, slot, vector);
    replace(this.#shapes.interned, table.shape, slot, shape);
    replace(this.#claims.sets, table.claims, slot, this.#claims.setOf(namespace, reading.claims));
    const namespaceNumber = this.namespaces.numberOf(namespace, () => namespace);
    replace(this.namespaces, table.namespace, slot, namespaceNumber);
    const isRequest = (flags & Flag.Request) !== 0;
    if (isRequest) this.requestNames.set(slot, reading.name);
    const labels = asked === null || isRequest ? 0 : this.#budgets.setOf(namespace, reading.labels);
    const isChanged = table.labels[slot] !== labels || table.flags[slot] !== flags;
    replace(this.#budgets.sets, table.labels, slot, labels);
    table.flags[slot] = flags;
    return isChanged;
  }

  /** Keeps the name of an object that waits, that is not acknowledged or that has a problem. */
  writeName(slot: number, { namespace, name, sinceMs, asked, flags, nodeName }: PodReading): void {
    const isWaiting = sinceMs !== 0 && nodeName === '' && (flags & (Flag.Terminating | Flag.Overhead)) === 0;
    const isUnacknowledged = (flags & (Flag.Request | Flag.Acknowledged)) === Flag.Request;
    const problem = asked?.problem ?? null;
    if (!isWaiting && !isUnacknowledged && problem === null) this.named.delete(slot);
    else
      this.named.set(slot, {
        namespace,
        name,
        sinceMs: isWaiting ? sinceMs : 0,
        remarks: asked?.remarks ?? NO_REMARKS,
        misread: asked?.misread ?? NO_REMARKS,
        problem,
      });
  }

  /** Forgets an object that counts for no row and is on no node any more. */
  remove(slot: number): void {
    const { table } = this;
    this.named.delete(slot);
    this.requestNames.remove(slot);
    this.vectors.drop(table.vector[slot]!);
    this.#shapes.interned.drop(table.shape[slot]!);
    this.#claims.sets.drop(table.claims[slot]!);
    this.namespaces.drop(table.namespace[slot]!);
    this.#budgets.sets.drop(table.labels[slot]!);
    table.remove(slot);
  }
}

function replace<T>(interner: CountedInterner<T>, column: Uint32Array, slot: number, number: number): void {
  const before = column[slot]!;
  if (before === number) return;
  interner.retain(number);
  interner.drop(before);
  column[slot] = number;
}
