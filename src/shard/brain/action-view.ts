// An action as people see it: what providers and operators said about it is cut to a length that can be shown.

import { CapacityType, excerpt } from '../../model/index.ts';
import type { ActionView } from '../views.ts';
import type { ActionRecord } from './actuation/records.ts';

/** What a provider or an operator said last: bytes that are shown. */
const MAX_MESSAGE_BYTES = 1000;

export function actionView(record: ActionRecord): ActionView {
  return { ...record, message: excerpt(record.message, MAX_MESSAGE_BYTES) };
}

/** `ON_DEMAND`, as the wire has it. */
export function capacityLabel(type: CapacityType): string {
  const name = Object.entries(CapacityType).find(([, value]) => value === type)?.[0] ?? 'Unspecified';
  return name.replaceAll(/(?<=[a-z])(?=[A-Z])/g, '_').toUpperCase();
}
