// Actions that a cycle decided and did not carry out: counts and cost effect by reason, and the first actions with
// their explanation. Computed once per cycle from the snapshot of the ledger. Called by cycles.ts, for status, plan
// and journal.

import type { Fleet } from '../../fleet/index.ts';
import { type Action, type ActionKind, excerpt, type Leaving, type NeedKey } from '../../model/index.ts';
import type { RefusedAction } from '../actuation/actuation-types.ts';
import type { HeldBackView, WaitingActionView } from '../views.ts';
import type { ControllerState } from './controller.ts';
import type { Admission, WaitReason } from './guardrails.ts';
import { rowOf } from './leaving.ts';
import { capacityLabel } from './queries/action-view.ts';
import { needRef } from './queries/need-names.ts';

/** Bound on actions kept for display; all are counted. */
const MAX_KEPT = 1000;
/** Bytes kept of the author and of the reason of a freeze, each, in an action that it stops. */
const MAX_WORDS_BYTES = 200;

export interface HeldBack {
  /** By reason, highest count first. */
  readonly counts: readonly HeldBackView[];
  /** In the order of the plan for each reason, frozen ones first. */
  readonly actions: readonly WaitingActionView[];
}

export function heldBackOf(
  state: ControllerState,
  admission: Admission,
  refused: readonly RefusedAction[],
  leavingOf: (action: Action) => Leaving | null,
): HeldBack {
  const views: WaitingActionView[] = [];
  const counts: HeldBackView[] = [];
  for (const [why, actions] of heldByReason(admission, refused)) {
    const tally = new Tally(why, state.ledger.fleet);
    // A plan of a frozen fleet may have as many actions as there are machines.
    for (const action of actions) tally.add(action);
    counts.push(tally.view());
    for (const action of actions.slice(0, MAX_KEPT - views.length))
      views.push(viewOf(state, action, why, leavingOf(action)));
  }
  return { counts: counts.sort((a, b) => b.total - a.total), actions: views };
}

/** Reasons without an action are omitted. */
function heldByReason(
  { waiting }: Admission,
  refused: readonly RefusedAction[],
): ReadonlyMap<string, readonly Action[]> {
  const held = new Map<string, readonly Action[]>();
  for (const why of Object.keys(waiting) as WaitReason[])
    if (waiting[why].length > 0) held.set(why, waiting[why]);
  for (const [why, some] of Map.groupBy(refused, (each) => each.why))
    held.set(why, [...(held.get(why) ?? []), ...some.map(({ action }) => action)]);
  return held;
}

class Tally {
  readonly #why: string;
  readonly #fleet: Fleet;
  readonly #kinds: Partial<Record<ActionKind, number>> = {};
  readonly #needs = new Set<number>();
  /** The row of the previous action, cached because actions of one row are adjacent. */
  #lastNeed: NeedKey | null = null;
  #total = 0;
  #buysPerHour = 0;
  #releasesPerHour = 0;

  constructor(why: string, fleet: Fleet) {
    this.#why = why;
    this.#fleet = fleet;
  }

  add({ kind, machine, need }: Action): void {
    this.#total++;
    if (need !== null && need !== this.#lastNeed) this.#needs.add(this.#fleet.keys.find(need));
    this.#lastNeed = need;
    this.#kinds[kind] = (this.#kinds[kind] ?? 0) + 1;
    if (kind === 'Provision') this.#buysPerHour += priceOf(this.#fleet, machine);
    if (kind === 'Delete') this.#releasesPerHour += priceOf(this.#fleet, machine);
  }

  view(): HeldBackView {
    return {
      ...{ why: this.#why, total: this.#total, needs: this.#needs.size, kinds: this.#kinds },
      ...{ buysPerHour: this.#buysPerHour, releasesPerHour: this.#releasesPerHour },
    };
  }
}

function priceOf({ machines, classes }: Fleet, machine: string): number {
  const slot = machines.slotOf(machine);
  return slot === undefined ? 0 : classes.price[machines.classOf[slot]!]!;
}

function viewOf(
  { ledger, profiles, freezes }: ControllerState,
  action: Action,
  why: string,
  leaving: Leaving | null,
): WaitingActionView {
  const { kind, machine, cluster, reason, need, preemptorPriority } = action;
  const known = ledger.recordOf(machine);
  const status = ledger.statusOf(machine);
  const freeze = why === 'frozen' ? freezes.freezeOf(action) : undefined;
  return {
    ...{ kind, machine, cluster, reason, why },
    provider: ledger.ownerOf(machine) ?? '',
    capacityType: known === null ? '' : capacityLabel(known.capacityType),
    zone: known?.zone ?? '',
    pricePerHour: known?.pricePerHour ?? 0,
    need: need === null ? null : needRef(need, profiles.of(need)?.priority ?? preemptorPriority),
    from: status === null ? null : rowOf(status),
    leaving,
    freeze:
      freeze === undefined
        ? null
        : {
            id: freeze.id,
            who: excerpt(freeze.who, MAX_WORDS_BYTES),
            why: excerpt(freeze.why, MAX_WORDS_BYTES),
          },
  };
}
