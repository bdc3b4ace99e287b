// Withdrawals of reclaims for clusters that have no session at the moment: they are sent when the next one opens, or the
// nodes would stay cordoned. In memory only: after a restart the operator repeats its open reports, and the controller
// answers those that it does not wait for with a withdrawal. Used by sessions.ts.

import type { ReclaimWithdrawal } from '../../wire/gen/bigfleet/v1alpha1/shard.ts';

/** Most withdrawals of all clusters. Those beyond are dropped: the operator's repeated report brings them back. */
const MAX_UNSENT_WITHDRAWALS = 8192;

export class UnsentWithdrawals {
  readonly #byCluster = new Map<string, ReclaimWithdrawal[]>();
  #count = 0;

  add(cluster: string, withdrawal: ReclaimWithdrawal): void {
    if (this.#count >= MAX_UNSENT_WITHDRAWALS) return;
    const known = this.#byCluster.get(cluster);
    if (known === undefined) this.#byCluster.set(cluster, [withdrawal]);
    else known.push(withdrawal);
    this.#count++;
  }

  /** Removes and returns those of a cluster, oldest first. */
  take(cluster: string): readonly ReclaimWithdrawal[] {
    const taken = this.#byCluster.get(cluster) ?? [];
    this.#byCluster.delete(cluster);
    this.#count -= taken.length;
    return taken;
  }
}
