// Pod disruption budgets during one round of evictions: which budgets a pod counts for, and how much room each has left.
// All drains of the cluster share them, so that two nodes never spend the same room.

import { type BackoffLimits, longestBackoffMs } from '../../runtime/backoff.ts';
import type { KubeClient } from '../kube/client.ts';
import type { LabelSelector, PodDisruptionBudget } from '../kube/objects.ts';
import { labelsOf, selects } from '../kube/selectors.ts';
import type { OperatorLog } from '../nodes/contract.ts';
import { budgetsPath, listAll } from '../nodes/paths.ts';
import type { DrainPod } from './drain-pods.ts';

/** A budget that refused although its status showed room, or whose status is not known. */
const REFUSED: BackoffLimits = { baseMs: 2_000, maxMs: 30_000 };

interface Budget {
  /** `pdb/<namespace>/<name>`. */
  readonly id: string;
  readonly selector: LabelSelector | undefined;
  /** Null: the status has no figure yet, so an attempt decides. */
  room: number | null;
}

/** The budgets of one round. */
export class BudgetRoom {
  readonly #byNamespace = new Map<string, readonly Budget[]>();
  readonly #byId = new Map<string, Budget>();

  set(namespace: string, budgets: readonly PodDisruptionBudget[]): void {
    const known = budgets.map(({ metadata, spec, status }): Budget => {
      const budget: Budget = {
        id: `pdb/${namespace}/${metadata.name}`,
        selector: spec.selector,
        room: status?.disruptionsAllowed ?? null,
      };
      this.#byId.set(budget.id, budget);
      return budget;
    });
    this.#byNamespace.set(namespace, known);
  }

  /** Budgets that a pod counts for, by id. */
  of({ namespace, labels }: DrainPod): readonly string[] {
    const budgets = this.#byNamespace.get(namespace) ?? [];
    return budgets.filter(({ selector }) => matchesSelector(selector, labels)).map(({ id }) => id);
  }

  hasRoom(id: string): boolean {
    const room = this.#byId.get(id)?.room;
    return room === null || (room ?? 0) > 0;
  }

  /** An eviction is about to use the budget. */
  spend(id: string): void {
    const budget = this.#byId.get(id);
    if (budget !== undefined && budget.room !== null) budget.room--;
  }

  exhaust(id: string): void {
    const budget = this.#byId.get(id);
    if (budget !== undefined) budget.room = 0;
  }
}

/** Reads budgets for each round, and remembers which ones refused lately. */
export class Budgets {
  readonly #kube: KubeClient;
  readonly #log: OperatorLog;
  readonly #refused = new Map<string, { failures: number; retryMs: number }>();

  constructor(kube: KubeClient, log: OperatorLog) {
    this.#kube = kube;
    this.#log = log;
  }

  /** Without the right to read budgets the eviction API alone decides. */
  async read(namespaces: Iterable<string>, now: number): Promise<BudgetRoom> {
    const room = new BudgetRoom();
    for (const namespace of namespaces) {
      try {
        room.set(namespace, await listAll<PodDisruptionBudget>(this.#kube, budgetsPath(namespace)));
      } catch (error) {
        this.#log('warn', 'drain.budgets-unreadable', { namespace, error });
      }
    }
    for (const [id, { retryMs }] of [...this.#refused]) {
      if (retryMs > now) room.exhaust(id);
      else if (retryMs + REFUSED.maxMs < now) this.#refused.delete(id);
    }
    return room;
  }

  refused(id: string, now: number): void {
    const failures = (this.#refused.get(id)?.failures ?? 0) + 1;
    this.#refused.set(id, { failures, retryMs: now + longestBackoffMs(REFUSED, failures) });
  }

  accepted(id: string): void {
    this.#refused.delete(id);
  }
}

/** An expression that is not known counts as met, which at worst delays an eviction. */
export function matchesSelector(
  selector: LabelSelector | undefined,
  labels: Readonly<Record<string, string>>,
): boolean {
  return selects(selector, labelsOf(labels), true);
}
