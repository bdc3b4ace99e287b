// One verdict of the last cycle as the operator receives it, and the cutting of many into frames. operator-verdicts.ts
// decides which ones are sent, and when.

import {
  excerpt,
  MachineState,
  unmetText,
  type Verdict,
  verdictText,
  WIRE_UNMET_REASON,
} from '../../model/index.ts';
import { type NeedVerdicts, NeedVerdicts_Verdict } from '../../wire/gen/bigfleet/v1alpha1/shard.ts';
import { UnmetReason } from '../../wire/gen/bigfleet/v1alpha1/shardread.ts';

/** Bounds of the contract. */
export const VerdictLimits = {
  verdicts: 1000,
  frameBytes: 1024 * 1024,
  sentenceBytes: 500,
  machines: 50,
} as const;

/** Groups whose verdicts name all their machines: the operator ends such an episode when all of them are empty. */
const STUCK = 'stuck:';

const REASON_NAMES: ReadonlyMap<number, string> = new Map(
  Object.entries(UnmetReason).map(([name, number]) => [number, name]),
);

export interface VerdictKey {
  readonly fingerprint: string;
  readonly group: string;
}

export function verdictFrameOf(
  { fingerprint, group }: VerdictKey,
  verdict: Verdict,
  rowsAhead: number,
  stateOf: (machine: string) => MachineState | undefined,
): NeedVerdicts_Verdict {
  const { claimed, shares, unmet, satisfied } = verdict;
  const limit = group.startsWith(STUCK) ? claimed.length : VerdictLimits.machines;
  return {
    profileFingerprint: fingerprint,
    group,
    satisfied,
    unmetReason: unmet === null ? '' : (REASON_NAMES.get(WIRE_UNMET_REASON[unmet.reason]) ?? ''),
    cause: unmet?.reason ?? '',
    sentence: cutSentence(sentenceOf(verdict)),
    rowsAhead,
    machines: claimed.slice(0, limit),
    sharedMachines: shares.slice(0, VerdictLimits.machines).map(({ machine }) => machine),
    machineTotal: claimed.length,
    notConfigured: notConfiguredOf(verdict, stateOf),
    removed: false,
  };
}

/** Counts borrowed machines too: the pods of a row that only borrows wait for the machine of the lender to join. */
function notConfiguredOf(
  { claimed, shares }: Verdict,
  stateOf: (machine: string) => MachineState | undefined,
): number {
  const machines = new Set(claimed);
  for (const { machine } of shares) machines.add(machine);
  let count = 0;
  for (const machine of machines) if (stateOf(machine) !== MachineState.Configured) count++;
  return count;
}

export function removedFrameOf({ fingerprint, group }: VerdictKey): NeedVerdicts_Verdict {
  return {
    ...NeedVerdicts_Verdict.decode(new Uint8Array()),
    ...{ profileFingerprint: fingerprint, group, removed: true },
  };
}

function sentenceOf(verdict: Verdict): string {
  const { unmet } = verdict;
  if (unmet === null) return verdictText(verdict);
  const more = unmet.extraSupply;
  const remedy = more === null ? '' : `; would fit with ${more.count} more like ${excerpt(more.like)}`;
  return `${verdictText(verdict)}; ${unmetText(unmet.reason, unmet.fitting)}${remedy}`;
}

/** `excerpt` appends the full length to what it cuts, and its escapes take more bytes than what they replace. */
function cutSentence(text: string): string {
  const whole = excerpt(text, VerdictLimits.sentenceBytes);
  if (Buffer.byteLength(whole) <= VerdictLimits.sentenceBytes) return whole;
  const cut = excerpt(text, SHORTER_BYTES);
  return Buffer.byteLength(cut) <= VerdictLimits.sentenceBytes ? cut : 'not met';
}

const SHORTER_BYTES = VerdictLimits.sentenceBytes - 50;

/**
 * Cuts verdicts into frames of bounded number and bytes. The first of a full set says that it replaces all others; the
 * ones that follow have the same cycle and add to it. A full set without verdicts is one empty frame.
 */
export function framesOf(
  cycle: number,
  isFull: boolean,
  verdicts: readonly NeedVerdicts_Verdict[],
): NeedVerdicts[] {
  const frames: NeedVerdicts[] = [];
  let part: NeedVerdicts_Verdict[] = [];
  let bytes = 0;
  const close = (): void => {
    frames.push({ cycle: BigInt(cycle), full: isFull && frames.length === 0, verdicts: part });
    part = [];
    bytes = 0;
  };
  for (const verdict of verdicts) {
    const size = sizeOf(verdict);
    const isPartFull = part.length === VerdictLimits.verdicts || bytes + size > VerdictLimits.frameBytes;
    if (part.length > 0 && isPartFull) close();
    part.push(verdict);
    bytes += size;
  }
  if (part.length > 0 || (isFull && frames.length === 0)) close();
  return frames;
}

function sizeOf(verdict: NeedVerdicts_Verdict): number {
  return NeedVerdicts_Verdict.encode(verdict).finish().length + FIELD_OVERHEAD_BYTES;
}

/** Tag and length of the field that contains a verdict; the frame around all of them takes a few bytes more. */
const FIELD_OVERHEAD_BYTES = 8;
