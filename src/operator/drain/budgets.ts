// Pod disruption budgets during rounds of evictions: which budgets a pod counts for, and how much room each has left. All
// drains of the cluster share them, and rounds that overlap count each other's evictions, so that two nodes never spend the
// same room.

import { type BackoffLimits, longestBackoffMs } from '../../runtime/backoff.ts';
import type { KubeClient } from '../kube/client.ts';
import type { LabelSelector, PodDisruptionBudget } from '../kube/objects.ts';
import { labelsOf, selects } from '../kube/selectors.ts';
import type { OperatorLog } from '../nodes/contract.ts';
import { budgetsPath, listAll } from '../nodes/paths.ts';
import { releasesUnready } from '../pods/disruption.ts';
import { forEachLimited } from './drain.ts';
import type { DrainPod } from './drain-pods.ts';

/** A budget that refused although its status showed room, or whose status is not known. */
const REFUSED: BackoffLimits = { baseMs: 2_000, maxMs: 30_000 };

interface Budget {
  readonly id: string;
  readonly selector: LabelSelector | undefined;
  /** Null: the status has no figure yet, so an attempt decides. */
  room: number | null;
  /** Pods that are not ready are evicted without room. */
  readonly releasesUnready: boolean;
}

/** The budgets of one round. */
export class BudgetRoom {
  readonly #byNamespace = new Map<string, readonly Budget[]>();
  readonly #byId = new Map<string, Budget>();

  set(namespace: string, budgets: readonly PodDisruptionBudget[]): void {
    const known = budgets.map((object): Budget => {
      const { metadata, spec, status } = object;
      const budget: Budget = {
        id: budgetId(namespace, metadata.name),
        selector: spec.selector,
        room: status?.disruptionsAllowed ?? null,
        releasesUnready: releasesUnready(object),
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

  /** Whether the eviction API asks the budgets of the pod for room, or refuses it because there are several. */
  isAsked(pod: DrainPod, budgets: readonly string[]): boolean {
    if (budgets.length === 0 || pod.health === 'pending') return false;
    const mayRelease = pod.health === 'unready' && budgets.length === 1;
    return !(mayRelease && this.#byId.get(budgets[0]!)!.releasesUnready);
  }

  hasRoom(id: string): boolean {
    const room = this.#byId.get(id)?.room;
    return room === null || (room ?? 0) > 0;
  }

  /** Evictions are about to use the budget. */
  spend(id: string, pods = 1): void {
    const budget = this.#byId.get(id);
    if (budget !== undefined && budget.room !== null) budget.room -= pods;
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
  /** By budget: evictions that a round has planned and that have no outcome yet. */
  readonly #claims = new Map<string, number>();
  /** Of each read in progress: the claims at its start and those added since. */
  readonly #readers = new Set<Map<string, number>>();

  constructor(kube: KubeClient, log: OperatorLog) {
    this.#kube = kube;
    this.#log = log;
  }

  /**
   * The room that is left after the claims of other rounds; the caller must plan and claim before it awaits anything. Without
   * the right to read budgets the eviction API alone decides.
   */
  async read(namespaces: readonly string[], monotonicMs: number): Promise<BudgetRoom> {
    const room = new BudgetRoom();
    // Whether the status counts an eviction that ends during the read is not known, so it is counted here.
    const claimed = new Map(this.#claims);
    this.#readers.add(claimed);
    await forEachLimited(namespaces, async (namespace) => {
      try {
        const path = budgetsPath(namespace);
        room.set(namespace, await listAll<PodDisruptionBudget>(this.#kube, path, {}, { maxRetries: 0 }));
      } catch (error) {
        this.#log('warn', 'drain.budgets-unreadable', { namespace, error });
      }
    });
    this.#readers.delete(claimed);
    for (const [id, pods] of claimed) room.spend(id, pods);
    for (const [id, { retryMs }] of [...this.#refused]) {
      if (retryMs > monotonicMs) room.exhaust(id);
      else if (retryMs + REFUSED.maxMs < monotonicMs) this.#refused.delete(id);
    }
    return room;
  }

  /** An eviction is planned: until `release`, no other round plans with its room. */
  claim(budgets: readonly string[]): void {
    for (const counts of [this.#claims, ...this.#readers])
      for (const id of budgets) counts.set(id, (counts.get(id) ?? 0) + 1);
  }

  /** The eviction has an outcome, or is not tried. */
  release(budgets: readonly string[]): void {
    for (const id of budgets) {
      const left = (this.#claims.get(id) ?? 0) - 1;
      if (left > 0) this.#claims.set(id, left);
      else this.#claims.delete(id);
    }
  }

  refused(id: string, monotonicMs: number): void {
    const failures = (this.#refused.get(id)?.failures ?? 0) + 1;
    this.#refused.set(id, { failures, retryMs: monotonicMs + longestBackoffMs(REFUSED, failures) });
  }

  accepted(id: string): void {
    this.#refused.delete(id);
  }
}

/** `pdb/<namespace>/<name>`, as reports name it. */
export function budgetId(namespace: string, name: string): string {
  return `pdb/${namespace}/${name}`;
}

/** An expression that is not known counts as met, which at worst delays an eviction. */
export function matchesSelector(
  selector: LabelSelector | undefined,
  labels: Readonly<Record<string, string>>,
): boolean {
  return selects(selector, labelsOf(labels), true);
}
