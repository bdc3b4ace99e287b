// What words about problems mean, for `bigfleet explain WORD`: obstacles, losses, errors, and the health of providers
// and of the shard itself. Typed by the unions that surfaces use, like the tables in decision-terms.ts.

import type { BlockedCause, Meaning as Finding, ObstacleCause } from '../../model/index.ts';
import type { LossView, ProviderView, StatusView } from '../../shard/index.ts';
import type { Meaning } from './decision-terms.ts';

export const OBSTACLES = {
  'too-small': {
    summary: 'The machine cannot hold the largest pod of the Need.',
    remedy: 'Offer larger machines, or make the pod smaller.',
  },
  failed: { summary: 'The machine is Failed.', remedy: 'See "bigfleet get machines --state failed".' },
  blocked: {
    summary: 'The machine is kept out of decisions: back-off, quarantine, freeze or a lack of stock.',
  },
  'claimed-by-better': { summary: 'A row of higher priority or penalties claims the machine.' },
  'claimed-by-equals': {
    summary: 'A row of the same priority and penalties, which came first, claims the machine.',
  },
  'claimed-by-worse': {
    summary:
      'A row of lower priority or penalties uses the machine, and preempting it was impossible or unnecessary.',
  },
  'in-transit': { summary: 'The machine is between two states, for no row.' },
  unused: {
    summary: 'The machine is free, but the Need cannot use it: its cluster, its spread or its domain.',
  },
  'out-of-stock': { summary: 'Its provider has none left of its kind for now.' },
  'provider-unreachable': {
    summary: 'Its provider does not answer.',
    remedy: 'See "bigfleet get providers".',
  },
  'provider-denies': {
    summary: 'Its provider does not allow this shard to change anything.',
    remedy: 'Check the certificate of the shard, and its permissions at the provider.',
  },
  'backing-off': { summary: 'It failed a short while ago, and is tried again later.' },
  quarantined: {
    summary: 'It failed too often, or a person put it into quarantine.',
    remedy: 'Clear it with: bigfleet retry ID',
  },
  'call-lost': {
    summary: 'A call about it got no answer, so it is read again before anything else is done.',
  },
  frozen: { summary: 'A freeze keeps it where it is.', remedy: 'See "bigfleet get freezes".' },
  'awaiting-report': { summary: 'Its cluster has not reported its demand since the shard started.' },
  released: { summary: 'It was blocked when the last cycle decided, and is free for the next one.' },
} as const satisfies Record<ObstacleCause | BlockedCause, Meaning>;

export const LOSSES = {
  failed: { summary: 'A machine that had a host failed, without an action of the shard.' },
  interrupted: { summary: 'The cloud took a spot host back.' },
  vanished: { summary: 'A machine is no longer in the List of its provider.' },
  unbound: { summary: 'A machine was removed from its cluster, and not by this shard.' },
} as const satisfies Record<LossView['loss'], Meaning>;

export const ERROR_CLASSES = {
  'stock-out': { summary: 'Nothing of the kind is available now.' },
  quota: { summary: 'The quota of the account is used up.', remedy: 'Raise the quota at the cloud.' },
  denied: { summary: 'The provider does not allow this shard to do it.' },
  unreachable: { summary: 'The provider or the host did not answer, or throttled.' },
  timeout: { summary: 'It took longer than the provider or the shard allows.' },
  'zone-outage': { summary: 'The whole zone is down.' },
  interrupted: { summary: 'The cloud took a spot host back.' },
  'host-failed': { summary: 'The host broke: hardware, disk, kernel or power.' },
  vanished: { summary: 'The provider no longer has the machine, or no longer its host.' },
  'moved-away': { summary: 'The machine went back to its former state, or to another one than intended.' },
  cluster: { summary: 'The cluster is not connected, or sent no bootstrap blob.' },
  'called-off': { summary: 'A freeze, a stop, a newer shard or another decision cancelled it.' },
  other: { summary: 'The error text of the provider matches no known class; it is shown unchanged.' },
} as const satisfies Record<LossView['errorClass'], Meaning>;

export const FINDINGS = {
  unchanged: { summary: 'The provider reports the machine where it was.' },
  progress: { summary: 'A transition is under way, or has ended as it should.' },
  'rolled-back': { summary: 'A transition was undone: the machine is back where it started.' },
  failed: { summary: 'A transition failed.' },
  lost: { summary: 'Capacity that served, or could have served, is gone.' },
  recovered: { summary: 'A Failed machine is usable again, or was cleaned up.' },
  foreign: { summary: 'The machine changed its state without a request of this shard.' },
} as const satisfies Record<Finding, Meaning>;

export const PROVIDER_HEALTH = {
  fine: { summary: 'Fewer than a twentieth of the machines of the provider are failing.' },
  degraded: {
    summary:
      'A twentieth of the machines of a provider are failing, or a fifth of those in one of its zones.',
  },
  failing: { summary: 'At least half of the machines of a provider, or of a zone, are failing.' },
} as const satisfies Record<ProviderView['health']['state'], Meaning>;

export const BREAKERS = {
  closed: { summary: 'The provider answers, and calls go through.' },
  open: { summary: 'The provider does not answer, so calls that buy or bind wait.' },
  'half-open': { summary: 'The provider did not answer; single calls probe whether it does again.' },
} as const satisfies Record<ProviderView['breaker'], Meaning>;

export const PHASES = {
  starting: { summary: 'The shard reads its providers, and decides nothing yet.' },
  running: { summary: 'The shard decides and acts.' },
  stopping: { summary: 'The shard completes or withdraws actions in flight, and begins no new ones.' },
  fenced: {
    summary: 'A newer process of the same shard exists; this one does nothing any more.',
    remedy: 'Make sure that only one process runs with this shard id.',
  },
} as const satisfies Record<StatusView['phase'], Meaning>;
