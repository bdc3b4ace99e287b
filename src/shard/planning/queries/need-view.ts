// View of a row for display. A Need may name thousands of values, and its fingerprint repeats all of them, so both are
// truncated: shorter in a list, longer in the explanation of one Need. Used by answers.ts.

import {
  excerpt,
  formatResources,
  isLongerThan,
  MAX_EXCERPT_BYTES,
  type Need,
  Operator,
  type Requirement,
  unmetText,
  type Verdict,
} from '../../../model/index.ts';
import type { NeedView } from '../../views.ts';
import { needRef } from './need-names.ts';
import { firstWithin } from './pages.ts';

export interface NeedDetail {
  readonly fingerprintBytes: number;
  readonly requirementBytes: number;
  /** Values of one requirement. */
  readonly values: number;
  /** Bytes of JSON of all requirements. */
  readonly requirementsBytes: number;
}

/** 64 requirements of maximum length amount to 17 kB. */
export const IN_LIST: NeedDetail = {
  fingerprintBytes: MAX_EXCERPT_BYTES,
  requirementBytes: MAX_EXCERPT_BYTES,
  values: Number.POSITIVE_INFINITY,
  requirementsBytes: 100_000,
};

export const IN_EXPLANATION: NeedDetail = {
  fingerprintBytes: 10_000,
  requirementBytes: 20_000,
  values: 100,
  requirementsBytes: 300_000,
};

export function needView(need: Need, verdict: Verdict, unmetCycles: number, detail: NeedDetail): NeedView {
  const { requirements } = need.profile;
  const texts = requirements.map((requirement) => requirementText(requirement, detail));
  const shown = firstWithin(texts, texts.length, detail.requirementsBytes);
  const rest = texts.length - shown.length;
  return {
    ...needRef(verdict.key, verdict.priority),
    fingerprint: excerpt(verdict.key.fingerprint, detail.fingerprintBytes),
    wants: formatResources(need.aggregate),
    minUnit: formatResources(need.minUnit),
    requirements: rest === 0 ? texts : [...shown, `… ${rest} more requirements`],
    firstSeenMs: need.firstSeenMs,
    isMet: verdict.satisfied,
    missing: formatResources(verdict.deficit),
    claimed: verdict.claimed.length,
    bootstraps: verdict.bootstraps.length,
    provisions: verdict.provisions.length,
    preempts: verdict.preempts.length,
    domain: verdict.domain,
    reason: verdict.unmet?.reason ?? null,
    why: verdict.unmet === null ? '' : unmetText(verdict.unmet.reason, verdict.unmet.fitting),
    unmetCycles,
    isFolded: verdict.foldedInto !== null,
  };
}

const OPERATOR_TEXT: ReadonlyMap<Operator, string> = new Map(
  Object.entries(Operator).map(([name, operator]) => [operator as Operator, name]),
);

/** `zone In a, b`, with the values that fit and the number of the omitted ones. */
function requirementText({ key, operator, values }: Requirement, detail: NeedDetail): string {
  let text = `${key} ${OPERATOR_TEXT.get(operator) ?? '?'}`;
  let shown = 0;
  for (const value of values) {
    const longer = `${text}${shown === 0 ? ' ' : ', '}${value}`;
    if (shown > 0 && (shown === detail.values || isLongerThan(longer, detail.requirementBytes))) break;
    text = longer;
    shown++;
  }
  const rest = values.length - shown;
  const cut = excerpt(text, detail.requirementBytes);
  return rest === 0 ? cut : `${cut} and ${rest} more`;
}
