// Drains that wait for their cluster: its operator evicts the pods of a node and reports it drained before the provider
// is called. A drain that cannot finish in its grace is withdrawn, and the machine stays; only a preemption goes on at its
// deadline. Without a session the last hello of the cluster counts (drain-reporters.ts). An operator that does not
// announce `drain-report`, or that of a retired cluster, is not waited for. What waits is durable (MachineFactsStore),
// so a restarted shard goes on with what is left of the grace. Part of actuation.ts.

import { excerpt } from '../../model/index.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { NodeReported, SessionFeatures } from '../events.ts';
import type { ActionInFlight } from './action-in-flight.ts';
import type { DrainReporters } from './drain-reporters.ts';

const MINUTE_MS = 60_000;

/** Bytes kept of an operator's words. The reader of frames has cut them to the same lengths. */
const MAX_BLOCKER_BYTES = 317;
const MAX_REASON_BYTES = 500;
const MAX_NODE_NAME_BYTES = 253;

/** How a drain that waited went on. `forced`: a preemption whose grace ended with pods left. */
export type DrainEnd = 'drained' | 'withdrawn' | 'forced' | 'not-reported' | 'called-off';

export interface DrainWaitsParts {
  readonly clock: Clock;
  readonly reporters: DrainReporters;
  /** Whether a person has declared the cluster gone for good: no operator will report its drains. */
  readonly isRetired: (cluster: string) => boolean;
  /** Calls the provider. */
  readonly proceed: (inFlight: ActionInFlight) => void;
  /** Leaves the machine in its cluster. `isHeld`: a budget, a pod or the end of the grace kept it there. */
  readonly withdraw: (inFlight: ActionInFlight, why: string, isHeld: boolean) => void;
  /** For metrics and logs. */
  readonly ended: (inFlight: ActionInFlight, end: DrainEnd, brokenBudgets: readonly string[]) => void;
}

/** A drain that waits for its cluster. */
export interface DrainWait {
  /** When the grace is over, by the clock of the shard. */
  readonly untilMs: number;
  /** What the operator said blocks it, such as `pdb/<namespace>/<name>`; empty if it reported nothing yet. */
  readonly blockedBy: readonly string[];
  /** The operator's words; '' if it reported nothing yet. */
  readonly reason: string;
  /** '' if the operator did not name it. */
  readonly nodeName: string;
}

interface Waiting extends DrainWait {
  readonly inFlight: ActionInFlight;
  readonly cancel: () => void;
}

export class DrainWaits {
  readonly #parts: DrainWaitsParts;
  readonly #byMachine = new Map<string, Waiting>();
  /** Clusters whose operator announced `drain-report` in the session that is open. */
  readonly #reporting = new Map<string, number>();

  constructor(parts: DrainWaitsParts) {
    this.#parts = parts;
  }

  get size(): number {
    return this.#byMachine.size;
  }

  /** Whether a drain that starts now has to wait. */
  mustWait(cluster: string): boolean {
    if (this.#reporting.has(cluster)) return true;
    return this.#parts.reporters.has(cluster) && !this.#parts.isRetired(cluster);
  }

  /** Whether the operator of the cluster will not be back to report a drain. */
  isGone(cluster: string): boolean {
    return !this.#reporting.has(cluster) && this.#parts.isRetired(cluster);
  }

  of(machine: string): DrainWait | null {
    return this.#byMachine.get(machine) ?? null;
  }

  /** A session was opened, or its features changed. Without reports nothing would end the waiting, so it ends here. */
  session(cluster: string, session: number, { drainReport }: SessionFeatures): void {
    this.#parts.reporters.greeted(cluster, drainReport);
    if (drainReport) {
      this.#reporting.set(cluster, session);
      return;
    }
    this.#reporting.delete(cluster);
    this.#proceedAll(cluster, '');
  }

  /** The cluster is retired: its operator is gone with it, unless it has a session. */
  retired(cluster: string): void {
    if (this.isGone(cluster)) this.#proceedAll(cluster, 'The cluster is retired.');
  }

  /** Drains that wait go on waiting until their deadline: the operator may be back before it. */
  sessionClosed(cluster: string, session: number): void {
    if (this.#reporting.get(cluster) === session) this.#reporting.delete(cluster);
  }

  start(inFlight: ActionInFlight, untilMs: number): void {
    const { clock } = this.#parts;
    const { machine } = inFlight.action;
    const cancel = clock.after(Math.max(0, untilMs - clock.now()), () => this.#deadline(machine));
    this.#byMachine.set(machine, {
      ...{ inFlight, untilMs, cancel },
      ...{ blockedBy: [], reason: '', nodeName: '' },
    });
  }

  /** A report of the operator on a drain. False: no drain of this machine and instruction waits. */
  reported({ machine, cluster, instruction, what, blockedBy, reason, nodeName }: NodeReported): boolean {
    const waiting = this.#byMachine.get(machine);
    if (waiting?.inFlight.id !== instruction || waiting.inFlight.action.cluster !== cluster) return false;
    const told = {
      ...waiting,
      blockedBy: blockedBy.map((blocker) => excerpt(blocker, MAX_BLOCKER_BYTES)),
      reason: excerpt(reason, MAX_REASON_BYTES),
      nodeName: nodeName === '' ? waiting.nodeName : excerpt(nodeName, MAX_NODE_NAME_BYTES),
    };
    this.#byMachine.set(machine, told);
    if (what === 'drained') this.#drained(told);
    // A preemption that is blocked may still drain before its deadline: budgets may allow more evictions by then.
    else if (!isPreemption(told))
      this.#withdraw(told, `The cluster reports: ${wordsOf(told)}`, told.blockedBy.length > 0);
    return true;
  }

  /** Stops waiting for an action that is withdrawn for another reason, or whose machine has moved. */
  forget(machine: string): DrainWait | null {
    const waiting = this.#byMachine.get(machine);
    if (waiting === undefined) return null;
    waiting.cancel();
    this.#byMachine.delete(machine);
    this.#parts.ended(waiting.inFlight, 'called-off', []);
    return waiting;
  }

  /** Ends all timers. What waits stays in the store. */
  stop(): void {
    for (const { cancel } of this.#byMachine.values()) cancel();
    this.#reporting.clear();
    this.#parts.reporters.stop();
  }

  #proceedAll(cluster: string, message: string): void {
    for (const waiting of [...this.#byMachine.values()])
      if (waiting.inFlight.action.cluster === cluster) this.#proceed(waiting, 'not-reported', message);
  }

  /**
   * An operator deletes what is left of a preemption shortly before the deadline of the shard, and then reports the node
   * drained with the budgets that this broke.
   */
  #drained(waiting: Waiting): void {
    const broken = isPreemption(waiting) ? budgetsIn(waiting) : [];
    const message = broken.length === 0 ? '' : `Budgets were broken at the deadline: ${broken.join(', ')}.`;
    this.#proceed(waiting, 'drained', message, broken);
  }

  #deadline(machine: string): void {
    const waiting = this.#byMachine.get(machine);
    if (waiting === undefined) return;
    if (!isPreemption(waiting))
      this.#withdraw(waiting, `The grace ended and pods are left: ${wordsOf(waiting)}`, true);
    else {
      const message = `The grace ended and pods were left: ${wordsOf(waiting)}`;
      this.#proceed(waiting, 'forced', message, budgetsIn(waiting));
    }
  }

  #proceed(waiting: Waiting, end: DrainEnd, message: string, broken: readonly string[] = []): void {
    const { inFlight } = waiting;
    this.#end(waiting);
    inFlight.message = message;
    if (end !== 'not-reported') inFlight.graceSeconds = 0;
    this.#parts.ended(inFlight, end, broken);
    this.#parts.proceed(inFlight);
  }

  #withdraw(waiting: Waiting, why: string, isHeld: boolean): void {
    this.#end(waiting);
    this.#parts.ended(waiting.inFlight, 'withdrawn', []);
    this.#parts.withdraw(waiting.inFlight, why, isHeld);
  }

  #end({ inFlight, cancel }: Waiting): void {
    cancel();
    this.#byMachine.delete(inFlight.action.machine);
  }
}

function isPreemption({ inFlight }: Waiting): boolean {
  return inFlight.drainKind === 'preemption';
}

/** What blocks a drain, for a person. */
function wordsOf({ blockedBy, reason }: Pick<DrainWait, 'blockedBy' | 'reason'>): string {
  const blockers = blockedBy.length === 0 ? '' : `blocked by ${blockedBy.join(', ')}`;
  return [reason, blockers].filter((words) => words !== '').join('; ') || 'nothing was reported.';
}

function budgetsIn({ blockedBy }: DrainWait): readonly string[] {
  return blockedBy.filter((blocker) => blocker.startsWith('pdb/'));
}

/** What the views say of a drain that waits, such as `waiting for the cluster to drain node n-1, 4 min left`. */
export function waitText(machine: string, wait: DrainWait, nowMs: number): string {
  const minutes = Math.max(0, Math.ceil((wait.untilMs - nowMs) / MINUTE_MS));
  const node = wait.nodeName === '' ? machine : wait.nodeName;
  const blockers = wait.blockedBy.length === 0 ? '' : `, blocked by ${wait.blockedBy.join(', ')}`;
  return `waiting for the cluster to drain node ${node}, ${minutes} min left${blockers}`;
}
