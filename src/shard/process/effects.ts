// Carries out what the controller requests: sessions send to clusters, provider calls go to providers. Called by
// shard.ts for each effect.

import type { Effect } from '../events.ts';
import type { Sessions } from '../sessions/sessions.ts';
import type { ProviderCalls } from './provider-calls.ts';

type StopEffect = Extract<Effect, { readonly kind: 'stop' }>;

export interface EffectTargets {
  readonly sessions: Sessions;
  readonly providers: ProviderCalls;
  /** A newer shard of this name exists. */
  readonly onStop: (effect: StopEffect) => void;
}

export function carryOut(effect: Effect, { sessions, providers, onStop }: EffectTargets): void {
  switch (effect.kind) {
    case 'ask-bootstrap':
      sessions.askBootstrap(effect);
      break;
    case 'withdraw-bootstrap':
      sessions.withdrawBootstrap(effect);
      break;
    case 'instruct-reclaim':
      sessions.instructReclaim(effect);
      break;
    case 'withdraw-reclaim':
      sessions.withdrawReclaim(effect);
      break;
    case 'node-state':
      sessions.sendNodeState(effect.cluster, effect.update);
      break;
    case 'available-capacity':
      for (const update of effect.updates) sessions.sendAvailableCapacity(effect.cluster, update);
      break;
    case 'need-verdicts':
      sessions.sendVerdicts(effect.cluster, effect.frame);
      break;
    case 'ask-demand':
      void sessions.repostDemand(effect.cluster);
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
