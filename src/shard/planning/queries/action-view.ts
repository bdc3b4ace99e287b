// View of an action for display: messages of providers and operators are truncated. Used by answers.ts,
// machine-view.ts and telemetry/observers.ts.

import { CapacityType, excerpt } from '../../../model/index.ts';
import type { ActionRecord } from '../../actuation/action-records.ts';
import type { ActionView } from '../../views.ts';

/** Bytes shown of the last message of a provider or an operator. */
const MAX_MESSAGE_BYTES = 1000;

export function actionView(record: ActionRecord): ActionView {
  return { ...record, message: excerpt(record.message, MAX_MESSAGE_BYTES) };
}

/** `ON_DEMAND`, the wire's spelling. */
export function capacityLabel(type: CapacityType): string {
  const name = Object.entries(CapacityType).find(([, value]) => value === type)?.[0] ?? 'Unspecified';
  return name.replaceAll(/(?<=[a-z])(?=[A-Z])/g, '_').toUpperCase();
}
