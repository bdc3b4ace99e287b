// An action as people see it: with the name of its row, and of what kind its machine is.

import { CapacityType, excerpt } from '../../model/index.ts';
import type { ActionView } from '../views.ts';
import type { ActionRecord } from './actuation/records.ts';
import type { Book } from './book.ts';
import { needRef, type Profiles } from './need-names.ts';

/** What a provider or an operator said last: bytes that are shown. */
const MAX_MESSAGE_BYTES = 1000;

export function actionView(record: ActionRecord, book: Book, profiles: Profiles): ActionView {
  const { need, machine } = record;
  const priority = need === null ? 0 : (profiles.of(need)?.priority ?? 0);
  const known = book.recordOf(machine);
  const kind = known === null ? {} : { capacityType: capacityLabel(known.capacityType), zone: known.zone };
  const message = excerpt(record.message, MAX_MESSAGE_BYTES);
  return { ...record, message, need: need === null ? null : needRef(need, priority), ...kind };
}

/** `ON_DEMAND`, as the wire has it. */
export function capacityLabel(type: CapacityType): string {
  const name = Object.entries(CapacityType).find(([, value]) => value === type)?.[0] ?? 'Unspecified';
  return name.replaceAll(/(?<=[a-z])(?=[A-Z])/g, '_').toUpperCase();
}
