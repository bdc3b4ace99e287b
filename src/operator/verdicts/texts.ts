// Sentences about why a pod waits, from the shard's verdict on its row. Used for Events, conditions and `explain pod`.

import { excerpt } from '../../model/index.ts';

const MAX_SENTENCE_BYTES = 500;

/** The fields of a verdict that a sentence is made of, as the wire and the ConfigMap of verdicts have them. */
export interface VerdictFacts {
  readonly satisfied: boolean;
  readonly unmetReason: string;
  readonly cause: string;
  readonly sentence: string;
  readonly rowsAhead: number;
  readonly machines: readonly string[];
  readonly sharedMachines: readonly string[];
  readonly machineTotal: number;
  readonly notConfigured: number;
}

type WaitReason = 'WaitingForMachines' | 'MachinesJoining' | 'MachinesReady';

export interface WaitText {
  /** The reason of the Event. */
  readonly reason: WaitReason;
  /** Changes of anything else, such as the number of rows ahead, are not worth an Event at once. */
  readonly matter: string;
  readonly text: string;
}

export function waitText(verdict: VerdictFacts): WaitText {
  const { satisfied, notConfigured, cause, unmetReason } = verdict;
  if (!satisfied)
    return { reason: 'WaitingForMachines', matter: `${unmetReason} ${cause}`, text: unmetText(verdict) };
  if (notConfigured > 0)
    return {
      reason: 'MachinesJoining',
      matter: '',
      text: `Waiting for ${notConfigured} of ${countOf(machineCount(verdict), 'machine')} to join the cluster.`,
    };
  return {
    reason: 'MachinesReady',
    matter: '',
    text: 'The machines for this pod are in the cluster; waiting for the scheduler to place it.',
  };
}

/** Claimed and borrowed ones. A verdict names at most 50 borrowed ones, so more may be missing than are counted here. */
function machineCount({ machines, sharedMachines, machineTotal, notConfigured }: VerdictFacts): number {
  const claimed = new Set(machines);
  const borrowed = new Set(sharedMachines.filter((machine) => !claimed.has(machine)));
  return Math.max(machineTotal + borrowed.size, notConfigured);
}

/** "Waiting for 2 machines of …; would fit if …; 14 rows are ahead." */
function unmetText({ sentence, unmetReason, rowsAhead }: VerdictFacts): string {
  const why = excerpt(sentence || unmetReason || 'not met', MAX_SENTENCE_BYTES).replace(/[.;\s]+$/, '');
  const ahead =
    rowsAhead === 0 ? '' : `; ${countOf(rowsAhead, 'row')} ${rowsAhead === 1 ? 'is' : 'are'} ahead`;
  return `Waiting for machines: ${why}${ahead}.`;
}

export function countOf(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}
