// Obstacles that keep machines from a Need, with details: where machines failed and with which error, why they are
// blocked and until when. One pass over the machines that meet the requirements, made when a person asks about the
// Need. Used by answers.ts.

import { explain } from '../../../engine/index.ts';
import {
  CLAIMED_CAUSES,
  codedText,
  type DecisionOptions,
  type Explanation,
  excerpt,
  type Obstacle,
  type ObstacleCause,
  sortedObstacles,
  type Verdict,
  whyUnused,
} from '../../../model/index.ts';
import type { OnTheWayView } from '../../views.ts';
import type { ControllerState } from '../controller.ts';
import { needId } from './need-names.ts';
import { stateLabel } from './status.ts';

export interface ExplainedNeed {
  readonly explanation: Explanation;
  /** Most machines first. */
  readonly obstacles: readonly Obstacle[];
  readonly onTheWay: readonly OnTheWayView[];
}

/** null: no cluster reports the Need. */
export function explainNeed(
  state: ControllerState,
  atMs: number,
  options: DecisionOptions,
  verdict: Verdict,
): ExplainedNeed | null {
  const { fleet } = state.ledger;
  const { key } = verdict;
  const tally = new ObstacleTally(state, whyUnused(verdict));
  const explanation = explain(fleet, atMs, options, key, (slot, cause) =>
    tally.add(fleet.machines.idOf(slot), cause),
  );
  if (explanation === null) return null;
  const obstacles = sortedObstacles([...claimedObstacles(explanation), ...tally.obstacles()]);
  return { explanation, obstacles: obstacles.slice(0, MAX_OBSTACLES), onTheWay: tally.onTheWay() };
}

/** Bound on obstacles in one answer: every offering out of stock and every frozen cluster is one. */
const MAX_OBSTACLES = 20;
/** Zones named in one sentence. */
const MAX_ZONES = 5;
/** Bytes of a provider's message in one sentence. */
const MAX_ERROR_BYTES = 300;

function claimedObstacles({ obstacles }: Explanation): readonly Obstacle[] {
  return CLAIMED_CAUSES.map((cause) => ({
    cause,
    machines: obstacles.machines[cause],
    rows: obstacles.claimants
      .filter((claimant) => claimant.cause === cause)
      .map(({ key, priority, machines }) => ({ id: excerpt(needId(key)), priority, machines })),
    rowsTotal: obstacles.claimantsTotal[cause],
  }));
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

class ObstacleTally {
  readonly #state: ControllerState;
  /** By cause and its subject: the offering, the provider or the cluster. */
  readonly #groups = new Map<string, Mutable<Obstacle>>();
  readonly #failedByZone = new Map<string, number>();
  #newestFailureMs = -1;
  readonly #onTheWay = new Map<string, Mutable<OnTheWayView>>();

  readonly #whyUnused: string;

  constructor(state: ControllerState, unusedBecause: string) {
    this.#state = state;
    this.#whyUnused = unusedBecause;
  }

  add(id: string, cause: ObstacleCause | 'own'): void {
    if (cause === 'own') this.#own(id);
    else if (cause === 'failed') this.#failed(id);
    else if (cause === 'blocked') this.#blocked(id);
    else if (cause === 'unused') this.#group(cause, '', { cause, machines: 0, error: this.#whyUnused });
    // The engine's explanation already names the rows of claimed machines, so they are not read here.
    else if (!CLAIMED_CAUSES.some((claimed) => claimed === cause))
      this.#group(cause, '', { cause, machines: 0 });
  }

  obstacles(): readonly Obstacle[] {
    const zones = [...this.#failedByZone]
      .map(([zone, machines]) => ({ zone: excerpt(zone), machines }))
      .sort((a, b) => b.machines - a.machines)
      .slice(0, MAX_ZONES);
    return [...this.#groups.values()].map((group) =>
      group.cause === 'failed' ? { ...group, zones } : group,
    );
  }

  onTheWay(): readonly OnTheWayView[] {
    return [...this.#onTheWay.values()];
  }

  #group(cause: Obstacle['cause'], key: string, first: Obstacle): Mutable<Obstacle> {
    const text = `${cause} ${key}`;
    const group = this.#groups.get(text) ?? { ...first };
    group.machines++;
    this.#groups.set(text, group);
    return group;
  }

  #own(id: string): void {
    const passing = this.#state.actuation.passageOf(id);
    if (passing === null) return;
    const state = stateLabel(passing.state);
    const known = this.#onTheWay.get(state);
    if (known === undefined) {
      this.#onTheWay.set(state, { ...passing, state, machines: 1 });
      return;
    }
    known.machines++;
    known.sinceMs = Math.min(known.sinceMs, passing.sinceMs);
    // The Need waits for the machine that arrives last.
    known.expectedByMs =
      known.expectedByMs === null || passing.expectedByMs === null
        ? null
        : Math.max(known.expectedByMs, passing.expectedByMs);
  }

  #failed(id: string): void {
    const { ledger, health } = this.#state;
    const group = this.#group('failed', '', { cause: 'failed', machines: 0 });
    const zone = ledger.recordOf(id)?.zone ?? '';
    this.#failedByZone.set(zone, (this.#failedByZone.get(zone) ?? 0) + 1);
    const failedMs = health.failedMs(id);
    const { lastError } = ledger.particularsOf(id);
    if (lastError === '' || failedMs <= this.#newestFailureMs) return;
    this.#newestFailureMs = failedMs;
    group.error = excerpt(codedText(lastError).text, MAX_ERROR_BYTES);
  }

  #blocked(id: string): void {
    const { actuation, ledger, scheduler, machineFacts } = this.#state;
    const block = actuation.blockOf(id);
    if (block === null) {
      this.#frozenOrAwaiting(id);
      return;
    }
    const provider = ledger.ownerOf(id) ?? '';
    const { instanceType = '', zone = '' } = ledger.recordOf(id) ?? {};
    const error = excerpt(block.why, MAX_ERROR_BYTES);
    const untilMs = block.untilMs === null ? {} : { untilMs: block.untilMs };
    const cause = block.kind;
    switch (cause) {
      case 'out-of-stock': {
        const offering = `${excerpt(instanceType)} in ${excerpt(zone)}`;
        this.#group(cause, `${provider} ${offering}`, {
          cause,
          machines: 0,
          provider,
          offering,
          error,
          ...untilMs,
        });
        break;
      }
      case 'provider-unreachable':
        this.#group(cause, provider, { cause, machines: 0, provider });
        break;
      case 'provider-denies': {
        const denial = excerpt(scheduler.denialOf(provider), MAX_ERROR_BYTES);
        this.#group(cause, provider, { cause, machines: 0, provider, error: denial });
        break;
      }
      case 'quarantined': {
        const who = excerpt(machineFacts.verdictsOn(id).quarantine?.by ?? 'the shard');
        this.#group(cause, `${who} ${error}`, { cause, machines: 0, who, error });
        break;
      }
      case 'backing-off':
      case 'call-lost': {
        const group = this.#group(cause, '', { cause, machines: 0, error, ...untilMs });
        if (block.untilMs !== null) group.untilMs = Math.min(group.untilMs ?? block.untilMs, block.untilMs);
        break;
      }
    }
  }

  #frozenOrAwaiting(id: string): void {
    const { ledger, freezes } = this.#state;
    const status = ledger.statusOf(id);
    const freeze = status === null ? null : freezes.heldBy(status);
    // The machine was removed since the last cycle.
    if (status === null) return;
    if (freeze === null) {
      // The block that the last cycle saw may have ended since.
      const cause = status.blocked ? 'awaiting-report' : 'released';
      this.#group(cause, '', { cause, machines: 0 });
      return;
    }
    const cluster = excerpt(status.cluster);
    const who = excerpt(freeze.who);
    this.#group('frozen', cluster, {
      cause: 'frozen',
      machines: 0,
      cluster,
      who,
      error: excerpt(freeze.why),
      ...(freeze.untilMs === null ? {} : { untilMs: freeze.untilMs }),
    });
  }
}
