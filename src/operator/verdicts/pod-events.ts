// Events on pods that wait: why, from the verdict on their row, and once what their row cannot express. A pod gets a new
// Event at once when the reason changes, and after `REPHRASE_MS` when only figures do. The recorder of Events limits the
// rate; beyond `MAX_PER_TICK` pods wait for the next tick, so that a thousand pods of one row do not fill its queue. Pods
// without an Event come first, then those whose last Event is oldest.

import type { Clock } from '../../runtime/clock.ts';
import type { PendingPod, PodsView, UncountedObject } from '../demand/contract.ts';
import type { EventSink, ObjectReference } from '../nodes/contract.ts';
import { waitText } from './texts.ts';
import type { VerdictTable } from './verdict-table.ts';

const MAX_PER_TICK = 100;
/** Pods whose last Event is remembered. */
const MAX_TOLD = 50_000;
/** Figures such as the number of rows ahead change with every cycle. */
const REPHRASE_MS = 5 * 60_000;
const MAX_REMARKS = 5;

interface Told {
  key: string;
  text: string;
  atMs: number;
  remarks: string;
  /** Why it is not counted, apart from `text`: a pod that cannot be read may count as it was before and wait. */
  problem: string;
  tick: number;
}

export interface PodEventsDeps {
  readonly clock: Clock;
  readonly events: EventSink;
  readonly pods: Pick<PodsView, 'pendingPods'>;
  readonly verdicts: VerdictTable;
  readonly uncounted?: () => Iterable<UncountedObject>;
}

export class PodEvents {
  readonly #deps: PodEventsDeps;
  readonly #told = new Map<string, Told>();
  #tick = 0;
  #left = 0;

  constructor(deps: PodEventsDeps) {
    this.#deps = deps;
  }

  /** Looks at all pods that wait. Call every ten seconds or so. */
  tick(): void {
    this.#tick++;
    this.#left = MAX_PER_TICK;
    const again: (readonly [PendingPod, Told])[] = [];
    for (const pod of this.#deps.pods.pendingPods()) {
      const told = this.#toldOf(pod.uid);
      if (told === null) continue;
      told.tick = this.#tick;
      if (told.text === '') this.#say(pod, told);
      else again.push([pod, told]);
    }
    for (const object of this.#deps.uncounted?.() ?? []) this.#notCounted(object);
    again.sort(([, a], [, b]) => a.atMs - b.atMs);
    for (const [pod, told] of again) this.#say(pod, told);
    for (const [uid, told] of [...this.#told]) if (told.tick < this.#tick) this.#told.delete(uid);
  }

  #toldOf(uid: string): Told | null {
    const known = this.#told.get(uid);
    if (known !== undefined) return known;
    if (this.#told.size >= MAX_TOLD) return null;
    const fresh: Told = {
      key: '',
      text: '',
      atMs: Number.NEGATIVE_INFINITY,
      remarks: '',
      problem: '',
      tick: this.#tick,
    };
    this.#told.set(uid, fresh);
    return fresh;
  }

  #say(pod: PendingPod, told: Told): void {
    this.#remark(pod, told);
    this.#why(pod, told);
  }

  #why(pod: PendingPod, told: Told): void {
    const { verdicts, events, clock } = this.#deps;
    // Verdicts of an earlier session say nothing about now.
    const tracked = verdicts.isLive ? verdicts.get(pod.row) : undefined;
    if (tracked === undefined || this.#left === 0) return;
    const { reason, matter, text } = waitText(tracked.verdict);
    const key = `${reason} ${matter}`;
    const now = clock.now();
    if (text === told.text || (key === told.key && now - told.atMs < REPHRASE_MS)) return;
    this.#left--;
    told.key = key;
    told.text = text;
    told.atMs = now;
    events.event(podReference(pod), 'Normal', reason, text);
  }

  #remark(pod: PendingPod, told: Told): void {
    const remarks = pod.remarks.slice(0, MAX_REMARKS).join(' ');
    if (remarks === '' || remarks === told.remarks || this.#left === 0) return;
    this.#left--;
    told.remarks = remarks;
    this.#deps.events.event(podReference(pod), 'Normal', 'NotExpressed', remarks);
  }

  #notCounted({ kind, namespace, name, uid, problem, isUnreadable }: UncountedObject): void {
    const told = this.#toldOf(uid);
    if (told === null) return;
    told.tick = this.#tick;
    if (told.problem === problem || this.#left === 0) return;
    this.#left--;
    told.problem = problem;
    const apiVersion = kind === 'Pod' ? 'v1' : 'bigfleet.lucy.sh/v1alpha1';
    const reason = isUnreadable ? 'NotReadable' : 'NotCounted';
    this.#deps.events.event({ apiVersion, kind, namespace, name, uid }, 'Warning', reason, problem);
  }
}

export function podReference({
  namespace,
  name,
  uid,
}: Pick<PendingPod, 'namespace' | 'name' | 'uid'>): ObjectReference {
  return { apiVersion: 'v1', kind: 'Pod', namespace, name, uid };
}
