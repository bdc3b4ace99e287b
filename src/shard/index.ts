// What other rooms may use of the shard.

export type {
  ActuationObserver,
  ActuationParts,
  RefusedAction,
} from './brain/actuation/actuation.ts';
export { Actuation, stampOf } from './brain/actuation/actuation.ts';
export type { ActuationLimits } from './brain/actuation/limits.ts';
export { ACTUATION_LIMITS } from './brain/actuation/limits.ts';
export { Book } from './brain/book.ts';
export type { DeskLimits } from './brain/desk.ts';
export { DESK_LIMITS, Desk } from './brain/desk.ts';
export type { MachineFacts, MachineStore } from './brain/memory.ts';
export { Memory } from './brain/memory.ts';
export { NodeNews } from './brain/node-news.ts';
export type { ReconcileLimits } from './brain/reconcile/limits.ts';
export { RECONCILE_LIMITS } from './brain/reconcile/limits.ts';
export type { ReconcileObserver, ReconcileParts } from './brain/reconcile/reconcile.ts';
export { Reconcile } from './brain/reconcile/reconcile.ts';
export type { BrainEvent, Effect, SessionRef } from './events.ts';
export type { ProviderEnd } from './hands/provider-hands.ts';
export { ProviderHands } from './hands/provider-hands.ts';
