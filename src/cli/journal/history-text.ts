// Renders each item of a history as one sentence, for `bigfleet history` (history.ts).

import { CapacityType, formatResources, type Need, stateName, unmetText } from '../../model/index.ts';
import type { HistoryItem, MachineHistoryFacts } from '../../shard/index.ts';
import {
  actionText,
  heldBackText,
  kindName,
  logText,
  lossesText,
  lossText,
  missingText,
} from '../../web/index.ts';
import { amounts, countOf, dollars } from '../amounts.ts';

export function itemText(item: HistoryItem): string {
  switch (item.kind) {
    case 'started':
      return `the shard started (epoch ${item.epoch}) and reads everything again`;
    case 'gap':
      return 'some time is missing here: the journal could not keep up';
    case 'action':
      return actionText(item.action).text;
    case 'loss':
      return lossText(item.loss);
    case 'losses':
      return lossesText(item.losses);
    case 'waiting':
      return `to ${kindName(item.action.kind)} ${item.action.machine} was decided and held back: ${heldBackText(item.action.why, item.action.freeze)}`;
    case 'need':
      return item.reason === null
        ? `Need ${item.need.id} is met or no longer reported`
        : `Need ${item.need.id} is not met: ${unmetText(item.reason)} (${missingText(item)} missing)`;
    case 'log':
      return logText(item.event, item.fields);
    case 'machine-changed':
      return machineText(item.before, item.after, item.meaning);
    case 'need-changed':
      return needText(item.before, item.after);
    case 'demand-changed':
      return item.before === item.after
        ? `its demand changed, ${countOf(item.after, 'Need')} as before`
        : `its demand changed: ${countOf(item.after, 'Need')}, before ${item.before}`;
    case 'joined':
      return `machine ${item.machine} serves it`;
    case 'left':
      return `machine ${item.machine} no longer serves it`;
    case 'binding':
      return item.canBind ? 'machines can join again' : 'no machine can join now';
  }
}

const MEANINGS: Readonly<Record<string, string>> = {
  'rolled-back': 'the transition was undone',
  failed: 'the transition failed',
  lost: 'it is lost',
  recovered: 'it is usable again',
  foreign: 'not by an action of this shard',
};

function machineText(
  before: MachineHistoryFacts | null,
  after: MachineHistoryFacts | null,
  meaning: string | null,
): string {
  const means = meaning === null ? '' : `: ${MEANINGS[meaning] ?? meaning}`;
  if (after === null)
    return `its provider no longer has it${before === null ? '' : `; it was ${stateText(before)}`}`;
  if (before === null) return `is on record: ${stateText(after)}, ${offerText(after)}`;
  const changes = [
    ...(stateText(before) === stateText(after) ? [] : [`${stateText(before)} → ${stateText(after)}`]),
    ...(before.blocked === after.blocked
      ? []
      : [after.blocked ? 'is kept out of decisions' : 'is back in decisions']),
    ...(before.target === after.target || after.target === null
      ? []
      : [`is on its way to Need ${after.target}`]),
    ...(before.boundFor === after.boundFor || after.boundFor === null
      ? []
      : [`counts for Need ${after.boundFor}`]),
    ...(offerText(before) === offerText(after) ? [] : [`is now ${offerText(after)}`]),
  ];
  return `${changes.length === 0 ? 'something about it changed' : changes.join('; ')}${means}`;
}

/** `Configured in web`. */
function stateText({ state, cluster }: MachineHistoryFacts): string {
  return cluster === '' ? stateName(state) : `${stateName(state)} in ${cluster}`;
}

const CAPACITY: Readonly<Record<CapacityType, string>> = {
  [CapacityType.Unspecified]: '',
  [CapacityType.BareMetal]: 'bare-metal ',
  [CapacityType.Reserved]: 'reserved ',
  [CapacityType.OnDemand]: 'on-demand ',
  [CapacityType.Spot]: 'spot ',
};

function offerText({ capacityType, instanceType, zone, pricePerHour }: MachineHistoryFacts): string {
  return `${CAPACITY[capacityType]}${instanceType} in ${zone} at ${dollars(pricePerHour)} an hour`;
}

function needText(before: Need | null, after: Need | null): string {
  if (after === null) return 'its cluster no longer reports it';
  return before === null
    ? `its cluster wants ${sizeText(after)} at priority ${after.profile.priority}`
    : `its cluster wants ${sizeText(after)}, before ${sizeText(before)}`;
}

function sizeText({ aggregate, setAside }: Need): string {
  return setAside === true ? 'more than the shard can count' : amounts(formatResources(aggregate));
}
