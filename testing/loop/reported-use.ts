// Facts that clusters report about their nodes in a closed loop: arbitrary, and decided by a seed. They do not follow what
// rows claim, which is harder for the promises over many cycles than facts of real clusters. Used by the checks of
// testing/oracle and test/engine.

import { NODE_USES } from '../../src/model/index.ts';
import type { ReportedUse } from './loop.ts';

/** Facts that are others in each cycle up to `lastChange`, and the same from then on. A quarter of all uses is unknown. */
export function reportedUses(seed: number, lastChange: number): ReportedUse {
  return ({ id, cluster }, cycle) =>
    [undefined, ...NODE_USES][hashOf(`${id} in ${cluster} at ${Math.min(cycle, lastChange)}`, seed) % 4];
}

/** `reportedUses` for three of four seeds; for the others clusters report none. */
export function reportedUsesIfAny(seed: number, lastChange: number): ReportedUse | undefined {
  return hashOf('reports', seed) % 4 === 0 ? undefined : reportedUses(seed, lastChange);
}

/** FNV-1a; the low bits are the weak ones. */
function hashOf(text: string, seed: number): number {
  let hash = (0x81_1c_9d_c5 ^ seed) >>> 0;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01_00_01_93) >>> 0;
  return hash >>> 7;
}
