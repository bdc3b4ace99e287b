// What differs between two decisions: actions, and verdicts that change. Used by what-if.ts.

import {
  type Action,
  formatResources,
  keyText,
  type NeedKey,
  unmetText,
  type Verdict,
} from '../model/index.ts';
import type { Listed, NeedName, WhatIfAction, WhatIfVerdict } from './answer.ts';
import type { Renamed } from './change-fleet.ts';

export interface Naming {
  readonly nameOf: (key: NeedKey) => string;
  readonly limit: number;
}

function needName({ nameOf }: Naming, key: NeedKey): NeedName {
  return { id: nameOf(key), cluster: key.cluster, group: key.group, priority: priorityOf(key) };
}

/** Fingerprints of rows and folds begin with the priority; the row itself may be gone. */
function priorityOf({ fingerprint }: NeedKey): number {
  return Number(/^p=(-?\d+)\|/.exec(fingerprint)?.[1] ?? 0);
}

/** Actions of `list` that are not among `others`: another kind, machine, cluster or Need. */
export function actionsOnlyIn(
  list: readonly Action[],
  others: readonly Action[],
  naming: Naming,
): Listed<WhatIfAction> {
  const known = new Map(others.map((action) => [action.machine, action]));
  const only = list.filter((action) => !isSame(action, known.get(action.machine)));
  const items = only.slice(0, naming.limit).map(
    ({ kind, machine, cluster, reason, need }): WhatIfAction => ({
      ...{ kind, machine, cluster, reason },
      need: need === null ? null : needName(naming, need),
    }),
  );
  return { total: only.length, items };
}

function isSame(a: Action, b: Action | undefined): boolean {
  if (b === undefined || a.kind !== b.kind || a.cluster !== b.cluster) return false;
  if (a.need === null || b.need === null) return a.need === b.need;
  return a.need.fingerprint === b.need.fingerprint && a.need.group === b.need.group;
}

export interface VerdictChanges {
  readonly unmet: Listed<WhatIfVerdict>;
  readonly met: Listed<WhatIfVerdict>;
  readonly changed: Listed<WhatIfVerdict>;
}

/** Needs keep the name that they have now. */
export function verdictChanges(
  now: readonly Verdict[],
  changedTo: readonly Verdict[],
  renamed: Renamed,
  naming: Naming,
): VerdictChanges {
  const byKey = new Map(changedTo.map((verdict) => [keyText(verdict.key), verdict]));
  const seen = new Set<string>();
  const met: Pair[] = [];
  const changed: Pair[] = [];
  for (const verdict of now) {
    const text = keyText(verdict.key);
    seen.add(text);
    const after = byKey.get(keyText(renamed.get(text)?.to ?? verdict.key)) ?? null;
    if (after === null) met.push({ key: verdict.key, now: verdict, after: null });
    else if (after.unmet!.reason !== verdict.unmet!.reason)
      changed.push({ key: verdict.key, now: verdict, after });
  }
  const former = formerKeys(renamed);
  const unmet = changedTo.flatMap((verdict): readonly Pair[] => {
    const keys = former.get(keyText(verdict.key)) ?? [verdict.key];
    return keys.filter((key) => !seen.has(keyText(key))).map((key) => ({ key, now: null, after: verdict }));
  });
  return { unmet: listed(unmet, naming), met: listed(met, naming), changed: listed(changed, naming) };
}

interface Pair {
  readonly key: NeedKey;
  readonly now: Verdict | null;
  readonly after: Verdict | null;
}

/** By text of a key in the changed fleet: the keys that these Needs have now. */
function formerKeys(renamed: Renamed): ReadonlyMap<string, readonly NeedKey[]> {
  const former = Map.groupBy(renamed.values(), ({ to }) => keyText(to));
  return new Map([...former].map(([text, renames]) => [text, renames.map(({ from }) => from)]));
}

function listed(pairs: readonly Pair[], naming: Naming): Listed<WhatIfVerdict> {
  const items = pairs.slice(0, naming.limit).map(
    ({ key, now, after }): WhatIfVerdict => ({
      need: needName(naming, key),
      ...{ reason: after?.unmet?.reason ?? null, why: whyOf(after) },
      missing: after === null ? {} : formatResources(after.deficit),
      ...{ reasonNow: now?.unmet?.reason ?? null, whyNow: whyOf(now) },
    }),
  );
  return { total: pairs.length, items };
}

function whyOf(verdict: Verdict | null): string | null {
  const unmet = verdict?.unmet ?? null;
  return unmet === null ? null : unmetText(unmet.reason, unmet.fitting);
}
