// Coalesces the demand of a cluster in the two queues between sessions and controller (paced-controller.ts,
// demand-packer.ts). A roll-up is posted as its difference from the one before it, so an older queued one is not dropped but
// becomes part of the newer one.

import { composed } from '../../model/index.ts';
import type { ControllerEvent } from '../events.ts';

export type DemandEvent = Extract<ControllerEvent, { readonly kind: 'demand' }>;

/** One event for a queued event of a cluster, if there is one, and the next one of the same cluster. */
export function coalesced(queued: DemandEvent | undefined, next: DemandEvent): DemandEvent {
  return queued === undefined ? next : { ...next, delta: composed(queued.delta, next.delta) };
}
