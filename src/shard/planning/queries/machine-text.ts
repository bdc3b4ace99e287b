// Search of machines by a part of their names. Texts that all machines of a class share are compared once for each class;
// ids and node names once for each machine of the other classes. Used by machine-page.ts.

import type { Attributes } from '../../../model/index.ts';
import type { ControllerState } from '../controller.ts';
import { capacityLabel } from './action-view.ts';

/** Whether a machine has the text in its id, node name, instance type, zone, capacity type or a label, in any case. */
export function textFilter(
  { ledger, machineFacts }: ControllerState,
  text: string,
): (slot: number) => boolean {
  const { machines, classes } = ledger.fleet;
  // A pattern, because it compares without regard to case and makes no copy of each name.
  const pattern = new RegExp(text.replaceAll(/[\\^$.*+?()[\]{}|/-]/g, '\\$&'), 'i');
  const byClass = new Map<number, boolean>();
  const hasIn = (c: number): boolean => {
    let has = byClass.get(c);
    if (has === undefined) {
      const { capacityType } = classes.factsOf(c);
      has = textsOf(classes.attributes[c]!, capacityLabel(capacityType)).some((each) => pattern.test(each));
      byClass.set(c, has);
    }
    return has;
  };
  // Names have no `=`, so such a text is one of a class, and half a million names need not be compared.
  if (text.includes('=')) return (slot) => hasIn(machines.classOf[slot]!);
  return (slot) => {
    if (hasIn(machines.classOf[slot]!)) return true;
    const id = machines.idOf(slot);
    if (pattern.test(id)) return true;
    // Only a machine in a cluster has a node.
    return machines.cluster[slot] !== 0 && pattern.test(machineFacts.verdictsOn(id).node?.name ?? '');
  };
}

/** With names, so that a search can be for `zone=b`. `ON_DEMAND` is found by both spellings. */
function textsOf({ instanceType, zone, labels }: Attributes, capacityType: string): readonly string[] {
  const capacity = capacityType.replaceAll('_', '-');
  const pairs = [...labels].map(([key, value]) => `${key}=${value}`);
  return [capacityType, `type=${instanceType}`, `zone=${zone}`, `capacity=${capacity}`, ...pairs];
}
