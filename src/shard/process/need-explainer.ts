// Explains a Need: the controller alone, or of a large fleet from what was found on the replica of what-if-service.ts, because
// finding that would delay its next cycle. Used by shard-facade.ts.

import type { ControllerPort } from '../events.ts';
import type { NeedFindings } from '../planning/queries/need-findings.ts';
import type { NeedExplanation } from '../views.ts';

/**
 * The verdict in the answer is of the same decision as all that explains it: on a replica of the last one when it was asked.
 * `findings`: throws BF_WHATIF_BUSY where the caller should ask again; null: the replica does not have the Need, which was
 * withdrawn meanwhile.
 */
export async function explainedNeed(
  controller: Pick<ControllerPort, 'ask'>,
  findings: (need: string) => Promise<NeedFindings | null>,
  need: string,
): Promise<NeedExplanation | null> {
  const answer = await controller.ask('explainUnlessLarge', { need });
  if (answer !== 'large') return answer;
  const found = await findings(need);
  return found && (await controller.ask('explainFound', { found }));
}
