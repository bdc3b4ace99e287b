// Explains a Need: the controller alone, or of a large fleet with what was found on the replica of what-if-service.ts, because
// finding that would delay its next cycle. Used by shard-facade.ts.

import type { ControllerPort } from '../events.ts';
import type { NeedFindings } from '../planning/queries/need-findings.ts';
import type { Answer } from '../views.ts';

/**
 * How often the replica is asked. Its findings may be of an earlier cycle than the verdict, and a Need that changes between
 * met and unmet would keep them apart.
 */
const MOST_TRIES = 2;

/** `findings`: throws BF_WHATIF_BUSY where the caller should ask again; null: the replica does not have the Need. */
export async function explainedNeed(
  controller: Pick<ControllerPort, 'ask'>,
  findings: (need: string) => Promise<NeedFindings | null>,
  need: string,
): Promise<Answer<'explain'>> {
  let answer = await controller.ask('explainWith', { need, found: null });
  for (let tries = 0; answer === 'replica' && tries < MOST_TRIES; tries++)
    answer = await controller.ask('explainWith', { need, found: await findings(need) });
  return answer === 'replica' ? await controller.ask('explain', { need }) : answer;
}
