// Losses: machines that had, or were getting, a host and lost it without a failed action of the shard. Each loss is
// counted and journaled. Reports to people are bounded: a few machines of a zone are reported one by one, more within
// a minute as one report with their number, and all zones together get a bounded number of reports per minute. Made by
// planning/controller.ts; telemetry/observers.ts reports them.

import type { MachineChange, MachineStatus } from '../../fleet/index.ts';
import {
  CapacityType,
  codedText,
  excerpt,
  type Machine,
  MachineState,
  type NeedKey,
} from '../../model/index.ts';
import type { Clock } from '../../runtime/clock.ts';
import { capacityLabel } from '../planning/queries/action-view.ts';
import { needRef } from '../planning/queries/need-names.ts';
import { stateLabel } from '../planning/queries/status.ts';
import type { LossesView, LossKind, LossView, NeedRef } from '../views.ts';
import { classOfError, type ErrorClass } from './error-class.ts';
import { LossGather } from './loss-gather.ts';
import type { MachineFacts } from './machine-facts-store.ts';
import type { MachineLedger } from './machine-ledger.ts';
import type { ProvidersHealth } from './provider-health.ts';

/** Bytes kept of a provider's message about a loss. */
const MAX_ERROR_BYTES = 1000;

const { Speculative, Creating, Configured, Deleting, Failed } = MachineState;

export interface LossesParts {
  readonly ledger: MachineLedger;
  readonly clock: Clock;
  readonly health: ProvidersHealth;
  /** Whether the machine has a pending action, which then reports the failure instead. */
  readonly hasAction: (machine: string) => boolean;
  readonly priorityOf: (key: NeedKey) => number | undefined;
  /** Called for every loss. */
  readonly lost: (loss: LossView, capacityType: CapacityType) => void;
  /** Report a single loss, and many losses of one zone at once. */
  readonly reportOne: (loss: LossView) => void;
  readonly reportMany: (losses: LossesView) => void;
}

export class Losses {
  readonly #parts: LossesParts;
  readonly #gather: LossGather;

  constructor(parts: LossesParts) {
    this.#parts = parts;
    const { clock, reportOne, reportMany } = parts;
    this.#gather = new LossGather({ clock, reportOne, reportMany });
    parts.ledger.listen((change) => this.#moved(change));
  }

  /** Reports pending batches immediately. */
  flush(): void {
    this.#gather.flush();
  }

  /** A machine that served a cluster before the restart has lost its host since. */
  lostWhileAway(facts: MachineFacts, provider: string, seen: Machine | null): void {
    const { clock, health } = this.#parts;
    const { id, cluster, stamp } = facts;
    const how = seen?.state === Failed ? 'failed' : 'vanished';
    const zone = seen?.zone ?? '';
    const capacityType = seen?.capacityType ?? CapacityType.Unspecified;
    const loss = {
      ...{ atMs: clock.now(), machine: id, provider, zone, capacityType: capacityLabel(capacityType) },
      ...{ was: stateLabel(Configured), cluster, need: this.#needOf({ cluster, stamp, target: null }) },
      ...errorOf(how, seen, zone, capacityType),
    };
    this.#note(loss, health.hostsIn(provider, zone), capacityType);
  }

  #moved(change: MachineChange): void {
    const { id, before, after, seen } = change;
    const { health, hasAction } = this.#parts;
    // The shard's own moves have no record (`seen`); neither has a machine that is gone, but it counts as observed.
    const isObserved = seen !== null || after === null;
    const loss =
      before === null || !isObserved || hasAction(id) ? null : this.#lossOf(id, before, after, seen);
    // Read before `health.moved` removes the machine from the count.
    const hosts = loss === null ? 0 : health.hostsIn(loss.provider, loss.zone);
    health.moved(change);
    if (loss !== null)
      this.#note(loss, hosts, this.#parts.ledger.recordOf(id)?.capacityType ?? CapacityType.Unspecified);
  }

  #note(loss: LossView, hosts: number, capacityType: CapacityType): void {
    const { health, lost } = this.#parts;
    // An unbound machine still has its host.
    if (loss.loss !== 'unbound') health.lost(loss);
    lost(loss, capacityType);
    this.#gather.add(loss, hosts);
  }

  #lossOf(
    id: string,
    before: MachineStatus,
    after: MachineStatus | null,
    seen: Machine | null,
  ): LossView | null {
    const { ledger, clock } = this.#parts;
    const how = howLost(before, after);
    if (how === null) return null;
    const known = ledger.recordOf(id);
    const zone = seen?.zone ?? known?.zone ?? '';
    const capacityType = seen?.capacityType ?? known?.capacityType ?? CapacityType.Unspecified;
    return {
      ...{ atMs: clock.now(), machine: id, provider: ledger.ownerOf(id) ?? '', zone },
      capacityType: capacityLabel(capacityType),
      ...{ was: stateLabel(before.state), cluster: before.cluster, need: this.#needOf(before) },
      ...errorOf(how, seen, zone, capacityType),
    };
  }

  #needOf({ cluster, stamp, target }: Pick<MachineStatus, 'cluster' | 'stamp' | 'target'>): NeedRef | null {
    const key =
      target ??
      (stamp === null || cluster === ''
        ? null
        : { cluster, fingerprint: stamp.fingerprint, group: stamp.group });
    if (key === null) return null;
    return needRef(key, this.#parts.priorityOf(key) ?? stamp?.priority ?? 0);
  }
}

/** Class and message of the error behind a loss. */
function errorOf(
  how: Exclude<LossKind, 'interrupted'>,
  seen: Machine | null,
  zone: string,
  capacityType: CapacityType,
): Pick<LossView, 'loss' | 'errorClass' | 'error'> {
  if (how !== 'failed') return { loss: how, errorClass: CLASS_OF[how], error: '' };
  const error = seen?.lastError ?? '';
  const errorClass = classOfError(error, { zone, isSpot: capacityType === CapacityType.Spot });
  const loss = errorClass === 'interrupted' ? 'interrupted' : 'failed';
  return { loss, errorClass, error: excerpt(codedText(error).text, MAX_ERROR_BYTES) };
}

const CLASS_OF: Readonly<Record<'vanished' | 'unbound', ErrorClass>> = {
  vanished: 'vanished',
  unbound: 'moved-away',
};

/** The kind of loss of a machine without a pending action; null: none. */
function howLost(
  before: MachineStatus,
  after: MachineStatus | null,
): Exclude<LossKind, 'interrupted'> | null {
  const { state } = before;
  // A machine without a host cannot lose one. Below, a Deleting machine is excluded: its host is being released.
  if (state === Speculative || state === Failed) return null;
  if (after?.state === Failed) return 'failed';
  if (after === null || after.state === Speculative) return state === Deleting ? null : 'vanished';
  if (state !== Configured || after.state === Creating) return null;
  return after.state === Configured && after.cluster === before.cluster ? null : 'unbound';
}
