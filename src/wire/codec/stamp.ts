// Stamps: what a machine was bound for, stored by the provider in `shard_metadata` so that it survives the loss of a
// shard. Keys are read independently: an absent one is unknown, a malformed one is skipped, foreign keys are ignored.
// machine.ts reads them, the provider client writes them with Configure.

import { isLongerThan, NameLimits, type Stamp } from '../../model/index.ts';

const PREFIX = 'bigfleet.lucy.sh/';
export const PRIORITY_KEY = `${PREFIX}assigned-priority`;
export const INTERRUPTION_KEY = `${PREFIX}assigned-interruption-penalty-dollars`;
export const RECLAMATION_KEY = `${PREFIX}assigned-reclamation-penalty-dollars`;
export const FINGERPRINT_KEY = `${PREFIX}assigned-need-fingerprint`;
export const GROUP_KEY = `${PREFIX}assigned-group`;

/**
 * A fingerprint has at most 4,096 values of 63 bytes and 64 keys of 317, with their quotes. Other clients of the provider
 * could write a longer one, but it cannot match a row of this shard.
 */
const MAX_FINGERPRINT_BYTES = 300_000;

/** The process that bound the machine: "epoch shard". The epoch comes first, because an id may have any characters. */
const BOUND_BY_KEY = `${PREFIX}bound-by`;

/** Adds shard and epoch to the metadata of a binding. A later process of the shard reads from it which epochs were used. */
export function withBinder(
  metadata: ReadonlyMap<string, string>,
  { shardId, epoch }: { readonly shardId: string; readonly epoch: bigint },
): Map<string, string> {
  return new Map([...metadata, [BOUND_BY_KEY, `${epoch} ${shardId}`]]);
}

/** The epoch of the process of this shard that bound a machine; null if another shard did, or if it is not recorded. */
export function binderEpoch(metadata: ReadonlyMap<string, string>, shardId: string): bigint | null {
  const [, epoch, binder] = /^([1-9]\d{0,18}) (.*)$/s.exec(metadata.get(BOUND_BY_KEY) ?? '') ?? [];
  return epoch !== undefined && binder === shardId ? BigInt(epoch) : null;
}

export function stampToMetadata(stamp: Stamp): Map<string, string> {
  const metadata = new Map([
    [INTERRUPTION_KEY, dollarsText(stamp.interruptionPenaltyDollars)],
    [RECLAMATION_KEY, dollarsText(stamp.reclamationPenaltyDollars)],
    [FINGERPRINT_KEY, stamp.fingerprint],
    [GROUP_KEY, stamp.group],
  ]);
  if (stamp.priority !== null) metadata.set(PRIORITY_KEY, String(stamp.priority));
  return metadata;
}

/** null if the metadata has none of these keys. */
export function stampFromMetadata(metadata: ReadonlyMap<string, string>): Stamp | null {
  const ours = [PRIORITY_KEY, INTERRUPTION_KEY, RECLAMATION_KEY, FINGERPRINT_KEY, GROUP_KEY];
  if (!ours.some((key) => metadata.has(key))) return null;
  return {
    priority: readPriority(metadata.get(PRIORITY_KEY)),
    interruptionPenaltyDollars: readDollars(metadata.get(INTERRUPTION_KEY)),
    reclamationPenaltyDollars: readDollars(metadata.get(RECLAMATION_KEY)),
    fingerprint: readName(metadata.get(FINGERPRINT_KEY), MAX_FINGERPRINT_BYTES),
    group: readName(metadata.get(GROUP_KEY), NameLimits.group),
  };
}

/** A name beyond its limit is treated as absent. */
function readName(text: string | undefined, maxBytes: number): string {
  return text === undefined || isLongerThan(text, maxBytes) ? '' : text;
}

function readPriority(text: string | undefined): number | null {
  if (text === undefined || !/^[+-]?\d{1,10}$/.test(text)) return null;
  const priority = Number(text);
  return priority === (priority | 0) ? priority : null;
}

// The text is Go's shortest float form, in which infinity is "+Inf".
function dollarsText(dollars: number): string {
  return dollars === Number.POSITIVE_INFINITY ? '+Inf' : String(dollars);
}

function readDollars(text: string | undefined): number {
  if (text === undefined) return 0;
  if (/^\+?inf$/i.test(text)) return Number.POSITIVE_INFINITY;
  if (!/^\d+(\.\d+)?([eE][+-]?\d+)?$/.test(text)) return 0;
  return Number(text);
}
