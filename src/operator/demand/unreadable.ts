// Pods and CapacityRequests that cannot be read at all, with the reason, for an Event on each. What was known of such an object
// stays counted. Errors that no object should cause are defects of the operator and are logged as such.

import { excerpt } from '../../model/index.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Log } from '../../runtime/logger.ts';
import type { KubeObject } from '../kube/objects.ts';
import type { UncountedObject } from './contract.ts';

/** What is wrong with an object, in a sentence for its owner, and what to do about it. */
export class UnreadableError extends Error {
  readonly remedy: string;

  constructor(message: string, remedy: string) {
    super(message);
    this.remedy = remedy;
  }
}

const DEFECT_REMEDY = 'Please report it with the line consumer-failed of the log of the operator.';
/** Objects that are remembered; the number of all is a metric. */
const MAX_KEPT = 10_000;
/** One defect may concern every object of a cluster. */
const LOG_EVERY_MS = 10_000;

/** Not even its metadata is certain. */
type Unchecked = Partial<KubeObject>;

interface Kept extends UncountedObject {
  readonly mark: number;
}

export class UnreadableObjects {
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #byUid = new Map<string, Kept>();
  /** By resource: when a line was written, and how many were left out since. */
  readonly #logged = new Map<string, { readonly atMs: number; omitted: number }>();
  /** Since the start. */
  total = 0;

  constructor(clock: Clock, log: Log) {
    this.#clock = clock;
    this.#log = log;
  }

  /** `isKnown`: an earlier version of the object counts. `mark` is the number of the list that contains it. */
  add(
    kind: Kept['kind'],
    object: Unchecked,
    error: unknown,
    { isKnown, mark }: { readonly isKnown: boolean; readonly mark: number },
  ): void {
    this.total++;
    const isExpected = error instanceof UnreadableError;
    if (!isExpected) this.#report(kind, object, error);
    const { namespace = '', name = '', uid = '' } = object.metadata ?? {};
    if (uid === '' || (this.#byUid.size >= MAX_KEPT && !this.#byUid.has(uid))) return;
    const what = isExpected ? error.message : `The operator cannot read it: ${textOf(error)}.`;
    const remedy = isExpected ? error.remedy : DEFECT_REMEDY;
    const counts = isKnown ? 'It counts as it was before the change.' : 'It is not counted.';
    const problem = `${what} ${counts} ${remedy}`;
    this.#byUid.set(uid, { kind, namespace, name, uid, problem, isUnreadable: true, mark });
  }

  /** An error of another resource, or after reading. */
  defect(resource: string, object: Unchecked, error: unknown): void {
    this.total++;
    this.#report(resource, object, error);
  }

  /** The object is readable again, or gone. */
  forget(uid: string | undefined): void {
    if (this.#byUid.size > 0 && uid !== undefined) this.#byUid.delete(uid);
  }

  has(uid: string): boolean {
    return this.#byUid.has(uid);
  }

  /** Forgets the objects that a complete list did not contain. */
  sweep(kind: Kept['kind'], mark: number): void {
    for (const [uid, kept] of this.#byUid)
      if (kept.kind === kind && kept.mark !== mark) this.#byUid.delete(uid);
  }

  values(): Iterable<UncountedObject> {
    return this.#byUid.values();
  }

  #report(resource: string, object: Unchecked, error: unknown): void {
    const now = this.#clock.now();
    const last = this.#logged.get(resource);
    if (last !== undefined && now - last.atMs < LOG_EVERY_MS) {
      last.omitted++;
      return;
    }
    this.#logged.set(resource, { atMs: now, omitted: 0 });
    const { namespace, name } = object.metadata ?? {};
    this.#log('error', 'consumer-failed', { resource, namespace, name, omitted: last?.omitted ?? 0, error });
  }
}

function textOf(error: unknown): string {
  return excerpt(error instanceof Error ? error.message : String(error));
}
