// Losses: machines that had, or were getting, a host and lost it without an action of the shard that failed. Each is
// counted and written down. What is told to people is bounded: a few machines of a zone one by one, more of them within a
// minute as one piece with their number, and a bounded number of pieces a minute in all zones together.

import type { Standing } from '../../fleet/index.ts';
import {
  CapacityType,
  type Clock,
  excerpt,
  type Machine,
  MachineState,
  type NeedKey,
} from '../../model/index.ts';
import { classOfError, type ErrorClass } from '../error-class.ts';
import type { LossesView, LossKind, LossView, NeedRef } from '../views.ts';
import { capacityLabel } from './action-view.ts';
import type { Book } from './book.ts';
import { LossGather } from './loss-gather.ts';
import type { MachineFacts } from './machine-facts-store.ts';
import { needRef } from './need-names.ts';
import type { ProvidersHealth } from './provider-health.ts';
import { stateLabel } from './status.ts';

/** A provider's words about one loss: bytes. */
const MAX_ERROR_BYTES = 1000;

const { Speculative, Creating, Configured, Deleting, Failed } = MachineState;

export interface LossesParts {
  readonly book: Book;
  readonly clock: Clock;
  readonly health: ProvidersHealth;
  /** Whether an action is pending with the machine: what befalls the machine is then told of the action. */
  readonly hasAction: (machine: string) => boolean;
  readonly priorityOf: (key: NeedKey) => number | undefined;
  /** Every loss. */
  readonly lost: (loss: LossView, capacityType: CapacityType) => void;
  /** Losses that are told one by one, and many of one zone in one piece. */
  readonly tellOne: (loss: LossView) => void;
  readonly tellMany: (losses: LossesView) => void;
}

export class Losses {
  readonly #parts: LossesParts;
  readonly #gather: LossGather;

  constructor(parts: LossesParts) {
    this.#parts = parts;
    const { clock, tellOne, tellMany } = parts;
    this.#gather = new LossGather({ clock, tellOne, tellMany });
    parts.book.listen((id, before, after, seen) => this.#moved(id, before, after, seen));
  }

  /** Tells at once what waits for others like it. */
  flush(): void {
    this.#gather.flush();
  }

  /** A machine that served a cluster when the shard was last up has lost its host since. */
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

  #moved(id: string, before: Standing | null, after: Standing | null, seen: Machine | null): void {
    const { health, hasAction } = this.#parts;
    // Moves of our own come without a record; a machine that is gone comes without one as well.
    const isObserved = seen !== null || after === null;
    const loss =
      before === null || !isObserved || hasAction(id) ? null : this.#lossOf(id, before, after, seen);
    // Before it is counted out.
    const hosts = loss === null ? 0 : health.hostsIn(loss.provider, loss.zone);
    health.moved(id, before, after, seen);
    if (loss !== null)
      this.#note(loss, hosts, this.#parts.book.recordOf(id)?.capacityType ?? CapacityType.Unspecified);
  }

  #note(loss: LossView, hosts: number, capacityType: CapacityType): void {
    const { health, lost } = this.#parts;
    // A machine that left its cluster has its host still.
    if (loss.loss !== 'unbound') health.lost(loss);
    lost(loss, capacityType);
    this.#gather.add(loss, hosts);
  }

  #lossOf(id: string, before: Standing, after: Standing | null, seen: Machine | null): LossView | null {
    const { book, clock } = this.#parts;
    const how = howLost(before, after);
    if (how === null) return null;
    const known = book.recordOf(id);
    const zone = seen?.zone ?? known?.zone ?? '';
    const capacityType = seen?.capacityType ?? known?.capacityType ?? CapacityType.Unspecified;
    return {
      ...{ atMs: clock.now(), machine: id, provider: book.ownerOf(id) ?? '', zone },
      capacityType: capacityLabel(capacityType),
      ...{ was: stateLabel(before.state), cluster: before.cluster, need: this.#needOf(before) },
      ...errorOf(how, seen, zone, capacityType),
    };
  }

  #needOf({ cluster, stamp, target }: Pick<Standing, 'cluster' | 'stamp' | 'target'>): NeedRef | null {
    const key =
      target ??
      (stamp === null || cluster === ''
        ? null
        : { cluster, fingerprint: stamp.fingerprint, group: stamp.group });
    if (key === null) return null;
    return needRef(key, this.#parts.priorityOf(key) ?? stamp?.priority ?? 0);
  }
}

/** What was lost, in which class, and in whose words. */
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
  return { loss, errorClass, error: excerpt(error, MAX_ERROR_BYTES) };
}

const CLASS_OF: Readonly<Record<'vanished' | 'unbound', ErrorClass>> = {
  vanished: 'vanished',
  unbound: 'moved-away',
};

/** What a machine that no action is pending with has lost; null: nothing. */
function howLost(before: Standing, after: Standing | null): Exclude<LossKind, 'interrupted'> | null {
  const { state } = before;
  // Without a host there is nothing to lose, and a host that is being given back may go.
  if (state === Speculative || state === Failed) return null;
  if (after?.state === Failed) return 'failed';
  if (after === null || after.state === Speculative) return state === Deleting ? null : 'vanished';
  if (state !== Configured || after.state === Creating) return null;
  return after.state === Configured && after.cluster === before.cluster ? null : 'unbound';
}
