// Classifies the error of an ended action by its outcome and, where that is ambiguous, by the provider's message, for the
// action's record (actuation.ts), which metrics, API and history show.

import { CapacityType } from '../../model/index.ts';
import { classOfError, type ErrorClass, type ErrorSubject } from '../inventory/error-class.ts';
import { capacityLabel } from '../planning/queries/action-view.ts';
import type { ActionInFlight } from './action-in-flight.ts';
import type { ActionOutcome } from './action-records.ts';

/** The class of the error; null after success. */
export function errorClassOf(outcome: ActionOutcome, { message, about }: ActionInFlight): ErrorClass | null {
  switch (outcome) {
    case 'success':
      return null;
    case 'ctx_canceled':
    case 'fenced':
      return 'called-off';
    case 'no_session':
    case 'blob_error':
    case 'missing_profile':
    case 'drain_withdrawn':
      return 'cluster';
    case 'denied':
      return 'denied';
    case 'stock_out':
      return 'stock-out';
    case 'inventory_miss':
      return 'vanished';
    case 'stale_state':
    case 'transition_error':
    case 'transition_raced_to_idle':
    case 'rolled_back':
    case 'superseded':
      return 'moved-away';
    case 'transient': {
      // The call went unanswered, so of the classes that the message suggests only `timeout` is kept.
      return classOfError(message, subjectOf(about)) === 'timeout' ? 'timeout' : 'unreachable';
    }
    case 'machine_failed':
    case 'provider_error':
      return classOfError(message, subjectOf(about));
  }
}

function subjectOf({ zone, capacityType }: ActionInFlight['about']): ErrorSubject {
  return { zone, isSpot: capacityType === SPOT };
}

const SPOT = capacityLabel(CapacityType.Spot);
