// What words of decisions and actions mean, for `bigfleet explain WORD`. One table for each set of words that surfaces
// print. Each is typed by the union that the surfaces use, so a new word does not compile until it is explained here.

import type { ActionKind, ActionReason, CapacityType, MachineState } from '../../model/index.ts';
import type { ActionView, ExecuteOutcome, RefusedAction, WaitReason } from '../../shard/index.ts';

export interface Meaning {
  readonly summary: string;
  /** What a reader may do about it; '' or left out where there is nothing to do. */
  readonly remedy?: string;
  /** Other spellings that surfaces use. */
  readonly synonyms?: readonly string[];
}

export const ACTIONS = {
  Bootstrap: {
    summary:
      'Binds an Idle machine to a cluster: its provider starts it with the bootstrap data of the cluster, and it joins.',
  },
  Provision: {
    summary:
      'Buys a machine and binds it: the provider creates a host for a Speculative machine, which then joins the cluster.',
  },
  Preempt: {
    summary:
      'Drains a machine of a row with lower priority, so that a row of higher priority that is short can use it.',
    remedy: 'Freeze preemption with: bigfleet freeze --action preempt --why "…"',
  },
  Reclaim: {
    summary: 'Drains a machine that no row of its cluster counts on any more; it is Idle afterwards.',
    remedy: 'Freeze reclaiming with: bigfleet freeze --action reclaim --why "…"',
  },
  Delete: {
    summary:
      'Returns an Idle host to its provider, after no row has needed the machine for its release hold (settings releaseHold.*).',
  },
} as const satisfies Record<ActionKind, Meaning>;

export const ACTION_REASONS = {
  'phase1.idle': { summary: 'Phase 1 found an Idle machine that fits a row that is short.' },
  'phase1.speculative': {
    summary: 'Phase 1 found no Idle machine that fits, so it buys the cheapest that does.',
  },
  'phase2.inversion': {
    summary:
      'Phase 2 preempts a machine of a row of lower priority, because a row of higher priority is short.',
  },
  'phase2.excess': {
    summary: 'Phase 2 moves a machine that no row of its cluster counts on to a row that is short.',
  },
  'phase3.excess': {
    summary: 'Phase 3 reclaims a machine that no row of its cluster has counted on for its reclaim hold.',
  },
  'phase3.release': {
    summary: 'Phase 3 releases an Idle machine that no row has needed for its release hold.',
  },
} as const satisfies Record<ActionReason, Meaning>;

type Leaving = NonNullable<NonNullable<ActionView['leaving']>>['cause'];

export const LEAVING_CAUSES = {
  excess: { summary: 'A machine leaves its cluster because its row has enough without it.' },
  replaced: { summary: 'A machine leaves its cluster because cheaper machines replace it.' },
  ordered: { summary: 'A machine leaves its cluster because a person ordered it to be drained.' },
  'work-ended': {
    summary: 'A machine leaves its cluster because the row it was bound for is no longer reported.',
  },
  'gang-broken': {
    summary: 'A machine leaves its cluster because its gang cannot be complete now, and no part of it stays.',
  },
  'gang-moved': { summary: 'A machine leaves its cluster because its gang is now in another domain.' },
} as const satisfies Record<Leaving, Meaning>;

/** Outcomes of the API and the journal, and those that metrics sum them up to. */
type Outcome = NonNullable<ActionView['outcome']> | ExecuteOutcome;

export const OUTCOMES = {
  success: { summary: 'The machine reached the state that the action was for.', synonyms: ['done'] },
  ctx_canceled: { summary: 'It was cancelled: a deadline passed, a freeze began, or the shard stopped.' },
  fenced: {
    summary: 'The provider refused, because a newer process acts for this shard.',
    remedy: 'Make sure that only one process runs with this shard id.',
  },
  no_session: {
    summary: 'The cluster is not connected, so no machine can join it.',
    remedy: 'See "bigfleet get clusters", and reconnect its operator.',
  },
  transition_raced_to_idle: { summary: 'The machine went back to Idle while it was joining.' },
  transition_error: { summary: 'The result is unknown; the shard reads the machine again before using it.' },
  blob_error: {
    summary: 'The cluster sent no bootstrap blob, or an error instead of one.',
    remedy: 'See the log of the operator of that cluster.',
  },
  provider_error: {
    summary: 'The provider refused, and a retry would not help.',
    remedy: 'See its message and its log.',
  },
  configure_error: {
    summary: 'The provider refused, and a retry would not help; metrics call it provider_error or denied.',
  },
  denied: {
    summary: 'The provider does not allow this shard to change anything.',
    remedy: 'Check the certificate of the shard, and its permissions at the provider.',
  },
  stock_out: {
    summary: 'The provider has no machine of that kind left for now.',
    remedy: 'Wait, or offer another instance type or zone.',
  },
  transient: { summary: 'The provider was busy, unreachable or too slow at every attempt.' },
  stale_state: { summary: 'The machine had changed its state before the action began.' },
  inventory_miss: { summary: 'The provider no longer has the machine.' },
  machine_gone: {
    summary: 'The provider no longer has the machine or its host; metrics call it inventory_miss.',
  },
  missing_profile: { summary: 'The row that the machine was meant for is gone.' },
  drain_withdrawn: {
    summary: 'Its cluster could not drain the node within the grace, so the machine stays for now.',
    remedy: 'See the message of the action: it names the pods or disruption budgets that block the drain.',
  },
  machine_failed: {
    summary: 'The provider accepted the action, and the machine is Failed.',
    remedy: 'See the last error in "bigfleet get machines ID"; "bigfleet retry ID" tries it again.',
  },
  rolled_back: { summary: 'The provider accepted the action, and the machine is back in its former state.' },
  superseded: {
    summary: 'The machine is in another state than the action was for, and not by this shard.',
  },
} as const satisfies Record<Outcome, Meaning>;

/** Reasons why a decided action was not begun, without those that are also outcomes. */
type HeldBack = WaitReason | Exclude<RefusedAction['why'], Outcome>;

export const HELD_BACK = {
  frozen: {
    summary: 'A person stopped such actions with a freeze.',
    remedy: 'See "bigfleet get freezes"; "bigfleet unfreeze ID" lifts one.',
  },
  'dry-run': {
    summary: 'The shard runs with --dry-run: it decides, shows the plan, and carries out nothing.',
    remedy: 'Start the shard without --dry-run.',
  },
  capped: {
    summary:
      'The cluster has lost as many machines as it may within ten seconds (guardrails.reclaimCapFraction).',
  },
  protected: {
    summary:
      'Its cluster could not drain it within the last 30 minutes; it is reclaimed later if it still may be.',
    remedy: 'See the last action in "bigfleet get actions"; it names what blocked the drain.',
  },
  deferred: { summary: 'The cycle has begun as many actions as it may (guardrails.maxActionsPerCycle).' },
  deduped: { summary: 'Another action on the machine is under way.' },
  dropped: { summary: 'Too many actions already wait for the provider.' },
  held: {
    summary: 'The machine or its provider backs off after a failure, or the machine is in quarantine.',
    remedy: 'See the note in "bigfleet get machines ID"; "bigfleet retry ID" clears it.',
  },
  stopped: { summary: 'The shard is ending, or was fenced by a newer process.' },
} as const satisfies Record<HeldBack, Meaning>;

export const MACHINE_STATES = {
  Speculative: {
    summary: 'Could be bought: a slot in a quota. No host exists, and nothing is paid.',
    synonyms: ['can buy'],
  },
  Creating: { summary: 'Ordered: its provider is making the host.', synonyms: ['starting'] },
  Idle: { summary: 'A host that is paid for and bound to no cluster.' },
  Configuring: { summary: 'Joining a cluster.', synonyms: ['joining'] },
  Configured: { summary: 'Bound to a cluster and serving it.', synonyms: ['serving'] },
  Draining: { summary: 'Leaving its cluster: its work is moving elsewhere.', synonyms: ['leaving'] },
  Deleting: { summary: 'Its host is being returned to the provider.', synonyms: ['returning'] },
  Failed: {
    summary: 'Its last transition failed, or its host is lost; the last error says how.',
    remedy:
      'See "bigfleet get machines ID"; "bigfleet retry ID" tries it again, "bigfleet forget ID" hides it.',
  },
} as const satisfies Record<keyof typeof MachineState, Meaning>;

export const CAPACITY_TYPES = {
  Unspecified: { summary: 'The provider does not say how the machine is paid for.' },
  BareMetal: {
    summary: 'Owned hardware: it costs the same whether it is used or not.',
    synonyms: ['bare-metal'],
  },
  Reserved: { summary: 'Paid for in advance, used or not.' },
  OnDemand: { summary: 'Rented by the hour, for as long as it is needed.', synonyms: ['on-demand'] },
  Spot: { summary: 'Rented below the usual price; the cloud may take it back at any time.' },
} as const satisfies Record<keyof typeof CapacityType, Meaning>;
