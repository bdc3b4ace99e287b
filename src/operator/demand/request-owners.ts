// Ties CapacityRequests to the pods that they were made for, so that such a pod is counted once. Both are slots of the table
// of pods; the requests of a pod are a list that runs through the column `request`. Pods and requests arrive in any order.

import type { PodTable } from './pod-table.ts';

export class RequestOwners {
  readonly #table: PodTable;
  /** By uid of a pod that is not known: the first of its requests. */
  readonly #waiting = new Map<string, number>();
  /** By slot of a request whose pod is not known: the pod's uid. */
  readonly #uidOf = new Map<number, string>();

  constructor(table: PodTable) {
    this.#table = table;
  }

  /** Ties a request to a pod; '' for none. */
  attach(slot: number, uid: string): void {
    this.detach(slot);
    if (uid === '') return;
    const { owner, request } = this.#table;
    const pod = this.#table.find(uid);
    if (pod !== 0) {
      owner[slot] = pod;
      request[slot] = request[pod]!;
      request[pod] = slot;
    } else {
      request[slot] = this.#waiting.get(uid) ?? 0;
      this.#waiting.set(uid, slot);
      this.#uidOf.set(slot, uid);
    }
  }

  detach(slot: number): void {
    const { owner, request } = this.#table;
    const pod = owner[slot]!;
    const uid = this.#uidOf.get(slot);
    if (pod !== 0) {
      if (request[pod] === slot) request[pod] = request[slot]!;
      else this.#unchain(request[pod]!, slot);
    } else if (uid !== undefined) {
      const first = this.#waiting.get(uid)!;
      if (first !== slot) this.#unchain(first, slot);
      else if (request[slot] === 0) this.#waiting.delete(uid);
      else this.#waiting.set(uid, request[slot]!);
      this.#uidOf.delete(slot);
    }
    owner[slot] = request[slot] = 0;
  }

  /** Gives a pod that has appeared the requests that were made for it. */
  adopt(pod: number, uid: string): void {
    const first = this.#waiting.get(uid);
    if (first === undefined) return;
    const { owner, request } = this.#table;
    this.#waiting.delete(uid);
    request[pod] = first;
    for (let slot = first; slot !== 0; slot = request[slot]!) {
      owner[slot] = pod;
      this.#uidOf.delete(slot);
    }
  }

  /** Frees the requests of a pod that goes away; they count by themselves from now on. Returns their slots. */
  abandon(pod: number): readonly number[] {
    const { owner, request } = this.#table;
    const first = request[pod]!;
    if (first === 0) return [];
    const uid = this.#table.uidOf(pod);
    const freed: number[] = [];
    this.#waiting.set(uid, first);
    request[pod] = 0;
    for (let slot = first; slot !== 0; slot = request[slot]!) {
      owner[slot] = 0;
      this.#uidOf.set(slot, uid);
      freed.push(slot);
    }
    return freed;
  }

  #unchain(first: number, slot: number): void {
    const { request } = this.#table;
    let at = first;
    while (request[at] !== slot) at = request[at]!;
    request[at] = request[slot]!;
  }
}
