// Executes the controller's effects on providers: calls and inventory reads. Maps provider errors to the controller's
// call outcomes; no other file classifies them. Made by shard.ts, on the main thread; effects.ts calls it.

import { excerpt, type Machine } from '../../model/index.ts';
import {
  type Accepted,
  type CallName,
  type ListKind,
  type ListReport,
  type ListSink,
  ProviderClient,
  type ProviderClientParts,
  ProviderError,
  type ProviderErrorKind,
} from '../../provider/index.ts';
import type {
  ActuationEvent,
  CallEffect,
  CallOutcome,
  ListEffect,
  ListEvent,
  ProviderRequest,
} from '../events.ts';
import { failpoint } from '../failpoints.ts';
import { isSoldOut } from '../inventory/sold-out.ts';

/** `InventoryReader`, or a proxy to one on another thread. */
export interface Inventory {
  read(wanted: ListKind, sink: ListSink): Promise<ListReport>;
}

export interface ProviderEnd {
  readonly client: Pick<ProviderClient, 'create' | 'configure' | 'drain' | 'delete' | 'get'>;
  readonly inventory: Inventory;
}

/**
 * The client through which a shard calls a provider. It retries Get and List, and attempts a mutation once: after a failed
 * mutation `ActionExecutor` reads the machine before it decides on another one, and a retry by the client would skip that.
 */
export function shardClient(parts: ProviderClientParts): ProviderClient {
  return new ProviderClient({ ...parts, limits: { ...parts.limits, mutationAttempts: 1 } });
}

export class ProviderCalls {
  readonly #ends: ReadonlyMap<string, ProviderEnd>;
  readonly #post: (event: ActuationEvent | ListEvent) => void;
  readonly #room: () => Promise<void> | void;
  readonly #sawEpoch: (provider: string, newest: bigint | null) => void;
  #hasGivenWay = false;

  /**
   * `room` resolves when the controller has processed enough posted events for a List to continue. `sawEpoch` is called after
   * every read with the newest epoch of this shard that bound one of the changed machines; null if none did.
   */
  constructor(
    ends: ReadonlyMap<string, ProviderEnd>,
    post: (event: ActuationEvent | ListEvent) => void,
    room: () => Promise<void> | void = () => {},
    sawEpoch: (provider: string, newest: bigint | null) => void = () => {},
  ) {
    this.#ends = ends;
    this.#post = post;
    this.#room = room;
    this.#sawEpoch = sawEpoch;
  }

  /** Never rejects: every outcome, errors included, is posted as an event. */
  async carryOut(effect: CallEffect | ListEffect): Promise<void> {
    const end = this.#ends.get(effect.provider);
    if (end === undefined) this.#refuse(effect, `There is no provider ${excerpt(effect.provider)}.`);
    else if (effect.kind === 'list') await this.#list(effect, end.inventory);
    else await this.#call(effect, end);
  }

  /** A newer process acts for this shard: from now on every mutating call is answered as fenced without being made. */
  giveWay(): void {
    this.#hasGivenWay = true;
  }

  #refuse(effect: CallEffect | ListEffect, message: string): void {
    if (effect.kind === 'call')
      this.#post({ kind: 'call-ended', call: effect.call, outcome: { kind: 'permanent', message } });
    else {
      const { provider, reading } = effect;
      this.#post({ kind: 'list-ended', provider, reading, report: null, error: message });
    }
  }

  async #call(effect: CallEffect, end: ProviderEnd): Promise<void> {
    const { command } = effect.request;
    if (command !== 'get' && this.#hasGivenWay) {
      this.#post({ kind: 'call-ended', call: effect.call, outcome: { kind: 'fenced' } });
      return;
    }
    if (command !== 'get') failpoint(`${command}.calling`);
    const outcome = await made(end, effect);
    if (command !== 'get') failpoint(`${command}.answered`);
    this.#post({ kind: 'call-ended', call: effect.call, outcome });
  }

  async #list({ provider, reading, wanted }: ListEffect, inventory: Inventory): Promise<void> {
    const sink: ListSink = {
      changed: (batch) => {
        this.#post({ kind: 'list-changed', provider, reading, batch });
        return this.#room();
      },
      gone: (ids) => {
        this.#post({ kind: 'list-gone', provider, reading, ids });
        return this.#room();
      },
    };
    const read = await inventory.read(wanted, sink).catch(messageOf);
    if (typeof read === 'string') {
      this.#post({ kind: 'list-ended', provider, reading, report: null, error: read });
      return;
    }
    const { newestEpoch, ...report } = read;
    // Before `list-ended`, so that a superseded process gives way before the controller decides on what was read.
    this.#sawEpoch(provider, newestEpoch ?? null);
    this.#post({ kind: 'list-ended', provider, reading, report, error: '' });
  }
}

/** Limit for a provider's error message: it is kept and shown with each action, hold and quarantine it caused. */
const MAX_WORDS_BYTES = 1000;

function messageOf(error: unknown): string {
  return excerpt(error instanceof Error ? error.message : String(error), MAX_WORDS_BYTES);
}

async function made({ client }: ProviderEnd, { machine, request }: CallEffect): Promise<CallOutcome> {
  try {
    if (request.command === 'get') return found(await client.get(machine));
    const { operationId: operation, machine: record } = await transition(client, machine, request);
    return { kind: 'accepted', operation: excerpt(operation), machine: record };
  } catch (error) {
    return outcomeOf(error, request.command);
  }
}

function found(machine: Machine): CallOutcome {
  return { kind: 'found', machine };
}

function transition(
  client: ProviderEnd['client'],
  machine: string,
  request: Exclude<ProviderRequest, { readonly command: 'get' }>,
): Promise<Accepted> {
  switch (request.command) {
    case 'create':
      return client.create(machine);
    case 'configure': {
      const { cluster, blob: bootstrapBlob, metadata } = request;
      return client.configure(machine, { cluster, bootstrapBlob, metadata });
    }
    case 'drain':
      return client.drain(machine, request.graceSeconds);
    case 'delete':
      return client.delete(machine);
  }
}

/**
 * The outcome for each kind of error. `denied` concerns the shard and not the machine, so it must not make one machine
 * after another fail.
 */
const MEANINGS: Readonly<
  Record<ProviderErrorKind, 'fenced' | 'unknown-machine' | 'transient' | 'denied' | 'permanent'>
> = {
  fenced: 'fenced',
  'not-found': 'unknown-machine',
  unimplemented: 'permanent',
  invalid: 'permanent',
  'too-large': 'permanent',
  position: 'transient',
  denied: 'denied',
  throttled: 'transient',
  unavailable: 'transient',
  deadline: 'transient',
  cancelled: 'transient',
  malformed: 'transient',
  internal: 'transient',
};

export function outcomeOf(error: unknown, command: Exclude<CallName, 'list'>): CallOutcome {
  if (!(error instanceof ProviderError))
    return { kind: 'transient', message: excerpt(String(error), MAX_WORDS_BYTES) };
  const message = messageOf(error);
  const kind = MEANINGS[error.kind];
  if (kind === 'fenced' || kind === 'unknown-machine') return { kind };
  if (command === 'create' && isSoldOut(detailOf(error))) return { kind: 'stock-out', message };
  return { kind, message };
}

/** The provider's text, without our error code before it and our remedy after it. */
function detailOf({ problems, message }: ProviderError): string {
  return problems[0]?.message ?? message;
}
