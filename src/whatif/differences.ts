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
import type { Renames } from './renames.ts';

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

export interface ActionChanges {
  readonly added: Listed<WhatIfAction>;
  readonly dropped: Listed<WhatIfAction>;
}

/** Actions of one decision alone: the other one has another kind, cluster or Need for the machine, or no action. */
export function actionChanges(
  now: readonly Action[],
  after: readonly Action[],
  renames: Renames,
  naming: Naming,
): ActionChanges {
  const [before, later] = [byMachine(now), byMachine(after)];
  const isKept = (a: Action | undefined, b: Action | undefined): boolean =>
    a !== undefined && b !== undefined && isSame(a, b, renames);
  const added = after.filter((action) => !isKept(before.get(action.machine), action));
  const dropped = now.filter((action) => !isKept(action, later.get(action.machine)));
  // Needs keep the name that they have now.
  const named = added.map((action) =>
    action.need === null ? action : { ...action, need: renames.formerOf(action.need)[0]! },
  );
  return { added: listedActions(named, naming), dropped: listedActions(dropped, naming) };
}

function byMachine(actions: readonly Action[]): ReadonlyMap<string, Action> {
  return new Map(actions.map((action) => [action.machine, action]));
}

function listedActions(only: readonly Action[], naming: Naming): Listed<WhatIfAction> {
  const items = only.slice(0, naming.limit).map(
    ({ kind, machine, cluster, reason, need }): WhatIfAction => ({
      ...{ kind, machine, cluster, reason },
      need: need === null ? null : needName(naming, need),
    }),
  );
  return { total: only.length, items };
}

function isSame(now: Action, after: Action, renames: Renames): boolean {
  if (now.kind !== after.kind || now.cluster !== after.cluster) return false;
  if (now.need === null || after.need === null) return now.need === after.need;
  return renames.isSame(now.need, after.need);
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
  renames: Renames,
  naming: Naming,
): VerdictChanges {
  const byKey = new Map(changedTo.map((verdict) => [keyText(verdict.key), verdict]));
  const seen = new Set<string>();
  const met: Pair[] = [];
  const changed: Pair[] = [];
  for (const verdict of now) {
    const text = keyText(verdict.key);
    seen.add(text);
    const after = byKey.get(keyText(renames.laterOf(verdict.key))) ?? null;
    if (after === null) met.push({ key: verdict.key, now: verdict, after: null });
    else if (after.unmet!.reason !== verdict.unmet!.reason)
      changed.push({ key: verdict.key, now: verdict, after });
  }
  const unmet = changedTo.flatMap((verdict) =>
    renames
      .formerOf(verdict.key)
      .filter((key) => !seen.has(keyText(key)))
      .map((key): Pair => ({ key, now: null, after: verdict })),
  );
  return { unmet: listed(unmet, naming), met: listed(met, naming), changed: listed(changed, naming) };
}

interface Pair {
  readonly key: NeedKey;
  readonly now: Verdict | null;
  readonly after: Verdict | null;
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
