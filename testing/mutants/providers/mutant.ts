// A mutant is a provider made with the kit, with one deliberate defect. The conformance suite has to detect it and name
// the behaviours it breaks: a suite that lets a mutant pass would let the same mistake pass in a real provider. Defects
// wrap the kit's calls, its store or its backend; the kit itself is not changed. Base of all files of this folder.

import type {
  Area,
  Backend,
  ProviderRpc,
  Store,
  StoredState,
  TransitionKind,
} from '../../../src/provider/index.ts';
import type { Machine, TransitionAck } from '../../../src/wire/gen/bigfleet/v1alpha1/provider.ts';
import { RpcError, status } from '../../../src/wire/index.ts';

export interface Mutant {
  readonly name: string;
  /** Area of the suite that the defect belongs to. */
  readonly area: Area;
  /** Behaviours that must fail; others may. */
  readonly named: readonly string[];
  /** Called once per provider, since a defect may have state. */
  readonly build: () => Defect;
}

export interface Defect {
  readonly calls?: (kit: ProviderRpc, store: Store, stored: StoredState) => ProviderRpc;
  readonly store?: (kept: Store) => Store;
  readonly backend?: (cloud: Backend) => Backend;
  /** Disables the timeout of transitions. */
  readonly isPatient?: boolean;
}

/** A defect in the calls alone. */
export function inCalls(calls: NonNullable<Defect['calls']>): Mutant['build'] {
  return () => ({ calls });
}

/** A defect of records. `make` is called once per provider and returns the change to every record that is sent. */
export function inRecords(make: () => (machine: Machine) => Machine): Mutant['build'] {
  return () => ({ calls: (kit) => shown(kit, make()) });
}

/** Changes every record that is sent. */
export function shown(kit: ProviderRpc, show: (machine: Machine) => Machine): ProviderRpc {
  const withRecord = async (call: Promise<TransitionAck>): Promise<TransitionAck> => {
    const ack = await call;
    return ack.machine === undefined ? ack : { ...ack, machine: show(ack.machine) };
  };
  return {
    create: (request) => withRecord(kit.create(request)),
    configure: (request) => withRecord(kit.configure(request)),
    drain: (request) => withRecord(kit.drain(request)),
    delete: (request) => withRecord(kit.delete(request)),
    get: async (request) => show(await kit.get(request)),
    list: async (filter) => {
      const { machines, revision } = await kit.list(filter);
      return { machines: machines.map(show), revision };
    },
  };
}

/** Fields that the four mutating requests have in common. */
export interface ChangeRequest {
  readonly machineId: string;
  readonly shardId: string;
  readonly shardEpoch: bigint;
  readonly sequenceNumber: bigint;
}

export interface Change {
  readonly kind: TransitionKind;
  readonly request: ChangeRequest;
  /** The answer of the kit. */
  readonly send: () => Promise<TransitionAck>;
  /** The answer of the kit to the same request without a token. */
  readonly sendUnfenced: () => Promise<TransitionAck>;
}

const UNFENCED = { shardId: '', shardEpoch: 0n, sequenceNumber: 0n };

/** Handles the four mutating calls in one place. */
export function changes(kit: ProviderRpc, handle: (change: Change) => Promise<TransitionAck>): ProviderRpc {
  const through =
    <R extends ChangeRequest>(kind: TransitionKind, call: (request: R) => Promise<TransitionAck>) =>
    (request: R) =>
      handle({
        kind,
        request,
        send: () => call(request),
        sendUnfenced: () => call({ ...request, ...UNFENCED }),
      });
  return {
    ...kit,
    create: through('create', kit.create),
    configure: through('configure', kit.configure),
    drain: through('drain', kit.drain),
    delete: through('delete', kit.delete),
  };
}

/** The state a machine is in; undefined for one that does not exist. */
export async function stateOf(kit: ProviderRpc, id: string): Promise<number | undefined> {
  try {
    return (await kit.get({ id })).state;
  } catch (error) {
    if (error instanceof RpcError) return undefined;
    throw error;
  }
}

export function isRefusedWith(error: unknown, code: status): boolean {
  return error instanceof RpcError && error.code === code;
}

export function staleToken(): RpcError {
  return new RpcError(status.FAILED_PRECONDITION, 'stale token');
}

/** A clock for defects that last a while. */
export const now = () => performance.now();
