// Carries out what the controller wants done: hands speak to clusters, provider hands to providers.

import type { Effect } from '../events.ts';
import type { Hands } from '../sessions/sessions.ts';
import type { ProviderHands } from './provider-calls.ts';

type StopEffect = Extract<Effect, { readonly kind: 'stop' }>;

export interface Limbs {
  readonly hands: Hands;
  readonly providers: ProviderHands;
  /** A newer shard of this name exists. */
  readonly onStop: (effect: StopEffect) => void;
}

export function carryOut(effect: Effect, { hands, providers, onStop }: Limbs): void {
  switch (effect.kind) {
    case 'ask-bootstrap':
      hands.askBootstrap(effect);
      break;
    case 'withdraw-bootstrap':
      hands.withdrawBootstrap(effect);
      break;
    case 'instruct-reclaim':
      hands.instructReclaim(effect);
      break;
    case 'withdraw-reclaim':
      hands.withdrawReclaim(effect);
      break;
    case 'node-state':
      hands.sendNodeState(effect.cluster, effect.update);
      break;
    case 'available-capacity':
      for (const update of effect.updates) hands.sendAvailableCapacity(effect.cluster, update);
      break;
    case 'call':
    case 'list':
      void providers.carryOut(effect);
      break;
    case 'stop':
      onStop(effect);
      break;
  }
}
