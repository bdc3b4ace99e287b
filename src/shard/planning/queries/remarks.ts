// Conditions outside the decision that affect a Need and that people can change. Unreachable providers and offerings
// out of stock are obstacles of the Needs they concern instead (need-obstacles.ts). Used by answers.ts in the
// explanation of a Need.

import { ACTION_WORDS, excerpt, type Verdict } from '../../../model/index.ts';
import type { ControllerState } from '../controller.ts';
import { freezeName } from '../freezes.ts';

export function remarksOn(state: ControllerState, { key }: Verdict): readonly string[] {
  const { sessions, actuation, freezes, reconcile, parts } = state;
  const { cluster } = key;
  const name = excerpt(cluster);
  const remarks: string[] = [];
  if (!sessions.has(cluster)) remarks.push(`Cluster ${name} has no session, so no machine can join it.`);
  for (const muted of actuation.mutedClusters) {
    if (muted.cluster === cluster)
      remarks.push(
        `Cluster ${name} is asked for no bootstrap data until ${time(muted.untilMs)}: ${excerpt(muted.why)}`,
      );
  }
  for (const freeze of freezes.list()) {
    const { cluster: of, action, who, why, untilMs } = freeze;
    const until = untilMs === null ? '' : ` until ${time(untilMs)}`;
    const what = action === null ? 'Everything' : `Action ${ACTION_WORDS[action].verb}`;
    if (of === null || of === cluster)
      remarks.push(
        `${what} is frozen (${excerpt(freezeName(freeze))})${until} by ${excerpt(who)}: ${excerpt(why)}`,
      );
  }
  for (const provider of parts.options.providers) {
    const { hasListed, lastError } = reconcile.readingsOf(provider);
    const why = lastError === '' ? '.' : `: ${excerpt(lastError, MAX_WORDS_BYTES)}`;
    if (!hasListed) remarks.push(`Provider ${provider} has not been read since the start${why}`);
  }
  if (parts.options.guardrails.dryRun) remarks.push('This is a dry run: nothing is carried out.');
  return remarks;
}

/** Bytes kept of a provider's message. */
const MAX_WORDS_BYTES = 500;

function time(ms: number): string {
  return new Date(ms).toISOString();
}
