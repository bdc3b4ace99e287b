// Stamps: what a machine was bound for, kept by the provider in `shard_metadata` so that it survives the loss
// of a shard. Reading is per key: absent stays unknown, malformed is skipped, foreign keys are left alone.

import type { Stamp } from '../model/index.ts';

const PREFIX = 'bigfleet.lucy.sh/';
export const PRIORITY_KEY = `${PREFIX}assigned-priority`;
export const INTERRUPTION_KEY = `${PREFIX}assigned-interruption-penalty-dollars`;
export const RECLAMATION_KEY = `${PREFIX}assigned-reclamation-penalty-dollars`;
export const FINGERPRINT_KEY = `${PREFIX}assigned-need-fingerprint`;
export const GROUP_KEY = `${PREFIX}assigned-group`;

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

/** null if none of our keys is there. */
export function stampFromMetadata(metadata: ReadonlyMap<string, string>): Stamp | null {
  const ours = [PRIORITY_KEY, INTERRUPTION_KEY, RECLAMATION_KEY, FINGERPRINT_KEY, GROUP_KEY];
  if (!ours.some((key) => metadata.has(key))) return null;
  return {
    priority: readPriority(metadata.get(PRIORITY_KEY)),
    interruptionPenaltyDollars: readDollars(metadata.get(INTERRUPTION_KEY)),
    reclamationPenaltyDollars: readDollars(metadata.get(RECLAMATION_KEY)),
    fingerprint: metadata.get(FINGERPRINT_KEY) ?? '',
    group: metadata.get(GROUP_KEY) ?? '',
  };
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
