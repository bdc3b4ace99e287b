// Obstacles that keep machines from a Need, with details: where machines failed and with which error, why they are
// blocked and until when. Made from what the engine found (need-findings.ts) when a person asks about the Need. Used by
// answers.ts.

import {
  CLAIMED_CAUSES,
  codedText,
  type Explanation,
  excerpt,
  type Obstacle,
  sortedObstacles,
  whyUnused,
} from '../../../model/index.ts';
import type { OnTheWayView } from '../../views.ts';
import type { ControllerState } from '../controller.ts';
import type { NeedFindings } from './need-findings.ts';
import { needId } from './need-names.ts';
import { stateLabel } from './status.ts';

export interface ExplainedNeed {
  /** Most machines first. */
  readonly obstacles: readonly Obstacle[];
  readonly onTheWay: readonly OnTheWayView[];
}

export function explainNeed(state: ControllerState, found: NeedFindings): ExplainedNeed {
  const tally = new ObstacleTally(state);
  for (const id of found.ids.own) tally.own(id);
  for (const id of found.ids.failed) tally.failed(id);
  for (const id of found.ids.blocked) tally.blocked(id);
  const obstacles = sortedObstacles([
    ...claimedObstacles(found.explanation),
    ...countedObstacles(found),
    ...tally.obstacles(found),
  ]);
  return { obstacles: obstacles.slice(0, MAX_OBSTACLES), onTheWay: tally.onTheWay() };
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

/** Of blocked machines whose ids were left out. */
const TOO_MANY = 'there are too many to look up the reason of each';

/** Of machines about which there is no more to say than how many they are. */
function countedObstacles({ explanation, ids, verdict }: NeedFindings): readonly Obstacle[] {
  const { machines } = explanation.obstacles;
  return [
    { cause: 'too-small', machines: machines['too-small'] },
    { cause: 'in-transit', machines: machines['in-transit'] },
    { cause: 'unused', machines: machines.unused, error: whyUnused(verdict) },
    { cause: 'blocked', machines: machines.blocked - ids.blocked.length, error: TOO_MANY },
  ];
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

class ObstacleTally {
  readonly #state: ControllerState;
  /** By cause and its subject: the offering, the provider or the cluster. */
  readonly #groups = new Map<string, Mutable<Obstacle>>();
  #newestFailure = { atMs: -1, error: '' };
  readonly #onTheWay = new Map<string, Mutable<OnTheWayView>>();

  constructor(state: ControllerState) {
    this.#state = state;
  }

  obstacles({ explanation, failedByZone }: NeedFindings): readonly Obstacle[] {
    const zones = [...failedByZone]
      .map(([zone, machines]) => ({ zone: excerpt(zone), machines }))
      .sort((a, b) => b.machines - a.machines)
      .slice(0, MAX_ZONES);
    const { error } = this.#newestFailure;
    const failed = { cause: 'failed', machines: explanation.obstacles.machines.failed, zones } as const;
    return [...this.#groups.values(), error === '' ? failed : { ...failed, error }];
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

  own(id: string): void {
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

  failed(id: string): void {
    const { ledger, health } = this.#state;
    const atMs = health.failedMs(id);
    const { lastError } = ledger.particularsOf(id);
    if (lastError === '' || atMs <= this.#newestFailure.atMs) return;
    this.#newestFailure = { atMs, error: excerpt(codedText(lastError).text, MAX_ERROR_BYTES) };
  }

  blocked(id: string): void {
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
