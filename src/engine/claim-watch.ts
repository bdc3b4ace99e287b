// Watches from cycle to cycle whether rows that are met keep their machines. Where demand and machines stand still, a
// claim that moves is a fault: somebody's pods would be evicted for nothing.

import { MachineState } from '../model/index.ts';
import type { Cycle } from './cycle.ts';
import { NONE } from './turns.ts';

export class ClaimWatch {
  /** By slot: key of the row that counted on the Configured machine, 0 if none did. */
  #before = new Uint32Array(0);

  /** Configured machines that rows of the last cycle no longer count on, though they are still there and met. */
  observe(cycle: Cycle): number {
    const { claimedBy, turns, fleet } = cycle;
    const { state, size } = fleet.machines;
    if (this.#before.length < size) {
      const larger = new Uint32Array(claimedBy.length);
      larger.set(this.#before);
      this.#before = larger;
    }
    const before = this.#before;
    const unmet = new Set(cycle.unmet.map(({ turn }) => turn));
    let changes = 0;
    for (let slot = 0; slot < size; slot++) {
      if (state[slot] !== MachineState.Configured) {
        before[slot] = 0;
        continue;
      }
      const turn = claimedBy[slot]! - 1;
      const key = turn < 0 ? 0 : turns.key[turn]!;
      if (before[slot] !== 0 && before[slot] !== key) {
        const owner = turns.ofKey[before[slot]!] ?? NONE;
        if (owner !== NONE && !unmet.has(owner)) changes++;
      }
      before[slot] = key;
    }
    return changes;
  }
}
