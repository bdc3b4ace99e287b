// `bigfleet explain machine ID`: what a machine is and who uses it, why it is here, and why it was taken or lost: from its view
// and from the actions and losses that the shard has on record.

import type { HistoryEvent, MachineView, StatusView } from '../../shard/index.ts';
import { age, count } from '../amounts.ts';
import type { ShardClient } from './client.ts';
import { eventText, readHistory } from './events.ts';
import { factLines, proseLines } from './facts.ts';
import { clientOf, type RemoteIo, type ShardFlags } from './flags.ts';
import { machineLines, machinePath } from './machines.ts';
import { type OutputOptions, sectionLines, titled } from './tables.ts';

/** A machine has some dozens of them in its life. */
const MAX_EVENTS = 100;

/** The newest event of each kind; null: none is on record. */
interface MachineRecord {
  readonly bought: HistoryEvent | null;
  readonly bound: HistoryEvent | null;
  /** Preempted, reclaimed or deleted. */
  readonly taken: HistoryEvent | null;
  readonly lost: HistoryEvent | null;
  readonly lastAction: HistoryEvent | null;
}

export async function showMachine(
  id: string,
  flags: ShardFlags & { readonly output: 'text' | 'json' },
  { out, paint }: RemoteIo,
): Promise<void> {
  const client = await clientOf(flags);
  const machine = await client.get<MachineView>(machinePath(id));
  const record = await recordOf(client, id);
  if (flags.output === 'json') return out(`${JSON.stringify({ ...machine, record }, null, 2)}\n`);
  const { nowMs } = await client.get<StatusView>('/v1/status');
  const options = { paint, isWide: false, nowMs };
  const lines = sectionLines([
    machineLines(machine, options),
    titled('Why it is here, and what happened to it', recordLines(record, options), options),
  ]);
  out(`${lines.join('\n')}\n`);
}

async function recordOf(client: ShardClient, id: string): Promise<MachineRecord> {
  const events = await readHistory(client, { machine: id, kind: 'action,loss' }, MAX_EVENTS);
  const newest = (isWanted: (event: HistoryEvent) => boolean): HistoryEvent | null =>
    events.find(isWanted) ?? null;
  const action =
    (...kinds: readonly string[]) =>
    ({ event }: HistoryEvent): boolean =>
      'action' in event && kinds.includes(event.action.kind) && didNotFail(event.action);
  return {
    bought: newest(action('Provision')),
    bound: newest(action('Bootstrap')),
    taken: newest(action('Preempt', 'Reclaim', 'Delete')),
    lost: newest(({ kind }) => kind === 'loss'),
    lastAction: newest(({ kind }) => kind === 'action'),
  };
}

function didNotFail(action: object): boolean {
  return !('outcome' in action) || action.outcome === null || action.outcome === 'success';
}

/** The Need that an action was for, where its sentence does not name it. */
function needText({ event, ...about }: HistoryEvent): string {
  if (!('action' in event)) return '';
  const { need } = event.action;
  return need == null || eventText({ event, ...about }).includes(need.id)
    ? ''
    : `; for Need ${need.id} of priority ${count(need.priority)}`;
}

function recordLines(record: MachineRecord, { nowMs }: OutputOptions): readonly string[] {
  const { bought, bound, taken, lost, lastAction } = record;
  const text = (event: HistoryEvent | null): string =>
    event === null ? '' : `${age(nowMs - event.atMs)} ago: ${eventText(event)}${needText(event)}`;
  const isShown = [bought, bound, taken].some((each) => each !== null && each.id === lastAction?.id);
  if (lastAction === null && lost === null) return proseLines(['No action and no loss of it is on record.']);
  return factLines([
    ['bought', text(bought)],
    ['bound', text(bound)],
    ['taken', text(taken)],
    ['lost', text(lost)],
    ['last action', isShown ? '' : text(lastAction)],
  ]);
}
