// Sentences for everything a live view shows: one per action with its reason, why a Need is not met, what the shard is
// doing right now. Terminal, plain lines and web page share them, so this file must run in a browser. A name that only
// a newer shard knows is shown unchanged.

import type {
  Action,
  ActionKind,
  ActionOutcome,
  ActionReason,
  Cluster,
  FailedMachine,
  HeldBack,
  Plan,
  Planned,
  Shortfall,
  Status,
} from './feed.ts';
import { count, counted, measured, perHour, quantityValue, resourceName } from './figures.ts';
import { darkText, healthText, machineText } from './loss-text.ts';
import { heldOnPurpose, kindName, wouldText } from './plan-text.ts';

/** For a first-time visitor. */
export const WHAT_IT_IS = 'BigFleet gives clusters the machines their work needs, and returns the rest.';

/** Demo scenarios that a viewer can start. `key` is pressed on the terminal, `name` is the end of `/up/stories/NAME`. */
export const DEMO_SCENARIOS = [
  { key: 'b', name: 'deploy-burst', label: 'deploy burst' },
  { key: 'g', name: 'gpu-gang', label: 'GPU gang' },
  { key: 's', name: 'spot-wave', label: 'spot wave' },
  { key: 'z', name: 'zone-outage', label: 'zone outage' },
] as const;

export type DemoScenarioName = (typeof DEMO_SCENARIOS)[number]['name'];

/** States of machines in the order of their life, by the names of the wire. */
export const STATES = [
  { state: 'CONFIGURED', label: 'serving', what: 'bound to a cluster and doing its work' },
  { state: 'CONFIGURING', label: 'joining', what: 'on its way into a cluster' },
  { state: 'CREATING', label: 'starting', what: 'ordered, its provider is making it' },
  { state: 'IDLE', label: 'idle', what: 'paid for, bound to no cluster' },
  { state: 'DRAINING', label: 'leaving', what: 'its work is moving elsewhere' },
  { state: 'DELETING', label: 'returning', what: 'going back to its provider' },
  { state: 'FAILED', label: 'failed', what: 'its last transition failed, or its host is lost' },
  { state: 'SPECULATIVE', label: 'can buy', what: 'not bought: available within minutes' },
] as const;

/** Machines in a state; names of states compare without regard to case. */
export function machinesIn(status: Pick<Status, 'machinesByState'>, state: string): number {
  let sum = 0;
  for (const [name, machines] of Object.entries(status.machinesByState)) {
    if (name.toUpperCase() === state) sum += machines;
  }
  return sum;
}

export type Mood = 'doing' | 'done' | 'failed';

export interface Sentence {
  readonly mood: Mood;
  readonly text: string;
}

interface Verbs {
  /** While the action is in flight, and after its success. */
  readonly doing: string;
  readonly done: string;
  /** The text after the machine, such as ` to web`. */
  readonly toOrFrom: (action: Decided) => string;
}

/** What an action is, whether it was begun or not. */
type Decided = Pick<
  Action,
  | 'kind'
  | 'machine'
  | 'provider'
  | 'cluster'
  | 'need'
  | 'reason'
  | 'capacityType'
  | 'zone'
  | 'from'
  | 'leaving'
>;

export const VERBS: Readonly<Record<ActionKind, Verbs>> = {
  Bootstrap: { doing: 'binding', done: 'bound', toOrFrom: ({ cluster }) => ` to ${cluster}` },
  Provision: { doing: 'ordered', done: 'bought', toOrFrom: ({ cluster }) => ` for ${cluster}` },
  Preempt: {
    ...{ doing: 'preempting', done: 'preempted' },
    toOrFrom: ({ cluster, from, need }) =>
      ` from ${from?.id ?? cluster}${need === null ? '' : ` for ${need.id}`}`,
  },
  Reclaim: {
    ...{ doing: 'reclaiming', done: 'reclaimed' },
    toOrFrom: ({ cluster }) => ` from ${cluster}`,
  },
  Delete: {
    ...{ doing: 'releasing', done: 'released' },
    toOrFrom: ({ provider }) => ` to ${provider}`,
  },
};

const REASONS: Readonly<Record<ActionReason, (action: Decided) => string>> = {
  'phase1.idle': () => 'idle, and fits',
  'phase1.speculative': () => 'nothing idle fits',
  'phase2.inversion': ({ need, from }) =>
    need === null
      ? 'more important work needs it'
      : `priority ${need.priority} goes before ${from?.priority ?? 'a lower one'}`,
  'phase2.excess': (action) => `${leavingText(action)}, and ${action.need?.id ?? 'another row'} goes without`,
  'phase3.excess': (action) => leavingText(action),
  'phase3.release': () => 'idle for a while, and no row needs it',
};

/** Why a machine that no row counts on leaves its cluster. */
function leavingText({ cluster, from, leaving }: Decided): string {
  const gang = `its gang ${from?.id ?? 'of several machines'}`;
  if (leaving?.cause === 'work-ended')
    return `the work it was bound for${from ? ` (${from.id})` : ''} has ended`;
  if (leaving?.cause === 'replaced') return 'cheaper machines replace it';
  if (leaving?.cause === 'ordered') return 'a person ordered it to be drained';
  if (leaving?.cause === 'gang-broken')
    return `${gang} can no longer be complete${leaving.domain ? ` in ${leaving.domain}` : ''}, so no part of it stays there`;
  if (leaving?.cause === 'gang-moved') return `${gang} is now in ${leaving.goesTo}`;
  return `${cluster} has more than it needs`;
}

/** Why an action failed. */
const OUTCOMES: Readonly<Record<Exclude<ActionOutcome, 'success'>, string>> = {
  ctx_canceled: 'cancelled before the provider received it',
  fenced: 'a newer shard of this name is at work',
  no_session: 'its cluster is not connected',
  transition_raced_to_idle: 'it went back to idle',
  transition_error: 'the result is unknown; it will be read again',
  blob_error: 'its cluster sent no bootstrap blob',
  provider_error: 'its provider refused',
  denied: 'its provider does not allow this shard to do it',
  stock_out: 'its provider has none left',
  transient: 'its provider is busy or unreachable',
  stale_state: 'it had changed its state before',
  inventory_miss: 'its provider no longer has it',
  missing_profile: 'the work it was meant for is gone',
  drain_withdrawn: 'its cluster could not drain it in time',
  machine_failed: 'the machine failed',
  rolled_back: 'the machine went back to its former state',
  superseded: 'something else changed the machine',
};

/** `bought m-12 (spot, zone-a) for cluster-3: nothing idle fits`. */
export function actionText(action: Action): Sentence {
  const verbs = VERBS[action.kind];
  const mood = moodOf(action);
  const why = mood === 'failed' ? failureText(action) : reasonText(action);
  if (verbs === undefined) return { mood, text: `${action.kind} ${action.machine}: ${why}` };
  const did = mood === 'failed' ? `failed to ${kindName(action.kind)}` : verbs[mood];
  return { mood, text: `${did} ${machineText(action)}${verbs.toOrFrom(action)}: ${why}` };
}

/** Why it was decided. */
export function reasonText(action: Decided): string {
  return REASONS[action.reason]?.(action) ?? action.reason;
}

/** `would buy m-12 (spot, zone-a) for cluster-3: nothing idle fits`, of an action that was decided and not begun. */
export function plannedText(action: Decided): string {
  const verbs = VERBS[action.kind];
  const why = REASONS[action.reason]?.(action) ?? action.reason;
  const what = verbs === undefined ? action.kind : `would ${kindName(action.kind)}`;
  return `${what} ${machineText(action)}${verbs?.toOrFrom(action) ?? ''}: ${why}`;
}

/** The text of a planned action with its Need, its price, and why it is held back. */
export function plannedLine(planned: Planned): string {
  const { need, kind, pricePerHour } = planned;
  const about = [
    need === null ? '' : `Need ${need.id}, priority ${need.priority}`,
    kind === 'Provision' ? `+${perHour(pricePerHour)}` : '',
    kind === 'Delete' ? `-${perHour(pricePerHour)}` : '',
  ].filter((part) => part !== '');
  const aside = about.length === 0 ? '' : ` (${about.join(', ')})`;
  return `${plannedText(planned)}${aside}; ${heldBackText(planned.why, planned.freeze)}`;
}

/** For a cluster that is frozen by name; the plan has no actions for it. */
export function frozenClusterText({ cluster, unmet }: Plan['frozenClusters'][number]): string {
  const needs =
    unmet === 0
      ? 'all its Needs are met'
      : `${counted(unmet, 'Need')} of it ${unmet === 1 ? 'is' : 'are'} not met`;
  return `${cluster} is frozen and claims no machines, so none is planned for it; ${needs}`;
}

function moodOf({ outcome }: Action): Mood {
  if (outcome === null) return 'doing';
  return outcome === 'success' ? 'done' : 'failed';
}

function failureText({ outcome, message }: Action): string {
  const why = OUTCOMES[outcome as keyof typeof OUTCOMES] ?? outcome ?? '';
  return message === '' ? why : `${why} (${message})`;
}

const HELD_BACK: Readonly<Record<string, string>> = {
  frozen: 'it is frozen',
  'dry-run': 'this is a dry run',
  capped: 'its cluster has just lost as many machines as it may',
  protected: 'its cluster could not drain it a short while ago',
  deferred: 'the cycle has begun as many actions as it may',
  deduped: 'another action on the machine is in flight',
  dropped: 'too many actions wait for its provider',
  held: 'the machine or its provider backs off after a failure',
  stopped: 'the shard is ending',
};

/** Notable conditions of a cluster: its connection, refused roll-ups, rows beyond a limit. */
export function clusterNotes({ hasSession, cannotBind, setAside, reports }: Cluster): readonly string[] {
  const notes = [hasSession ? cannotBind : 'not connected'];
  const [refused] = reports?.problems ?? [];
  if (refused !== undefined) notes.push(`its last roll-up was refused: ${refused}`);
  if (setAside !== null) {
    const [named] = reports?.remarks.filter((remark) => remark.startsWith('set-aside')) ?? [];
    const { unknownResource } = setAside;
    const first =
      named ??
      (unknownResource === null ? undefined : `the fleet counts too many resources for ${unknownResource}`);
    const kept =
      setAside.machinesKept > 0 ? `, ${counted(setAside.machinesKept, 'machine')} kept for them` : '';
    const rows = `${counted(setAside.rows, 'row')} beyond a limit set aside${kept}`;
    notes.push(first === undefined ? rows : `${rows} (${first.replace('set-aside: ', '')})`);
  }
  return notes.filter((note) => note !== '');
}

/** Why a decided action was not begun. */
export function heldBackText(why: string, freeze: Planned['freeze'] = null): string {
  if (freeze !== null) return `frozen by ${freeze.who}${freeze.why === '' ? '' : `, because: ${freeze.why}`}`;
  return HELD_BACK[why] ?? (OUTCOMES as Readonly<Record<string, string>>)[why] ?? why;
}

/** `would buy 12 (+$3.72/h), held back: this is a dry run`. */
export function heldBackLine(held: HeldBack): string {
  return `${wouldText(held)}, held back: ${heldBackText(held.why)}`;
}

/** `12 cores, 48 GiB memory, 8 gpu`. */
export function missingText({ missing }: Pick<Shortfall, 'missing'>): string {
  // The size of a row that is set aside is unknown.
  if (Object.keys(missing).length === 0) return 'an unknown amount';
  return Object.entries(missing)
    .map(([resource, quantity]) => {
      const value = quantityValue(quantity);
      const words = value === undefined ? quantity : measured(resource, value);
      return resource === 'cpu' ? words : `${words} ${resourceName(resource)}`;
    })
    .join(', ');
}

/** `provider-breaker-opened provider=cloud-b`: the stable name of an event and its fields; or a sentence. */
export function logText(event: string, fields: Readonly<Record<string, unknown>>): string {
  if (event === 'need-short') return shortText(fields as unknown as ShortFields);
  if (event === 'order') return orderText(fields);
  const parts = Object.entries(fields).map(([name, value]) => {
    return `${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`;
  });
  return [event, ...parts].join(' ');
}

/** `freeze by alice (maintenance): cluster:web is frozen.` */
function orderText(fields: Readonly<Record<string, unknown>>): string {
  const { order, who, why, message } = fields as Readonly<Record<string, string | undefined>>;
  return `${order} by ${who}${why === undefined ? '' : ` (${why})`}: ${message}`;
}

/** Fields of `need-short`, by far the most frequent warning. */
interface ShortFields extends Pick<Shortfall, 'missing' | 'why'> {
  readonly need: string;
  readonly cycles: number;
}

function shortText({ need, cycles, missing, why }: ShortFields): string {
  const what = missingText({ missing });
  return `${need} has gone without ${what} for ${counted(cycles, 'cycle')}: ${why}`;
}

const BREAKER = { closed: 'fine', open: 'does not answer', 'half-open': 'being probed' } as const;

/** Whether something is wrong with a provider, or with most of its machines in some zone. */
export function isInTrouble({ breaker, denial, health }: Provider): boolean {
  return breaker !== 'closed' || denial !== '' || health.state !== 'fine';
}

type Provider = Status['providers'][number];

/** Orders providers: those in trouble first. */
export function byTrouble(a: Provider, b: Provider): number {
  return Number(isInTrouble(b)) - Number(isInTrouble(a));
}

/** `m-4 (spot, zone-a) of cloud: the host is gone`. */
export function failedText({ id, provider, zone, capacityType, lastError }: FailedMachine): string {
  const error = lastError === '' ? 'its provider does not say why' : lastError;
  return `${machineText({ machine: id, zone, capacityType })} of ${provider}: ${error}`;
}

export function providerText(provider: Provider): string {
  if (provider.breaker !== 'closed') return BREAKER[provider.breaker] ?? provider.breaker;
  if (provider.denial !== '') return `denies changes: ${provider.denial}`;
  if (!provider.hasListed) return 'being read';
  if (provider.health.state !== 'fine') return healthText(provider);
  if (provider.heldLosses > 0)
    return `${counted(provider.heldLosses, 'machine')} missing from its list, kept for now`;
  if (provider.lastError !== '') return provider.lastError;
  if (provider.health.failing > 0) return healthText(provider);
  return provider.waiting > 0 ? `${counted(provider.waiting, 'call')} waiting` : BREAKER.closed;
}

/** The current state in one sentence, for a first-time visitor. */
export function headline(
  status: Status | null,
  shortfalls: readonly Pick<Shortfall, 'id' | 'why'>[],
  isFleetFrozen: boolean,
): string {
  if (status === null) return 'Starting: waiting for the first report of the shard.';
  const held = heldText(status);
  if (held !== null) return held;
  const silent = status.providers.filter(({ breaker }) => breaker === 'open').map(({ name }) => name);
  const mute =
    silent.length === 0 ? '' : `${silent.join(' and ')} ${silent.length === 1 ? 'does' : 'do'} not answer. `;
  const aside = `${mute}${darkText(status.providers)}`;
  return `${planText(status, isFleetFrozen)}${aside}${demandText(status, shortfalls)}`;
}

/** `Frozen: would bind 3 and buy 12 (+$3.72/h) for 7 Needs. ` or `Dry run: …`; '' if nothing is held back on purpose. */
function planText(status: Status, isFleetFrozen: boolean): string {
  const heldBack = status.cycle?.heldBack ?? [];
  const ofFreezes = heldBack.find(({ why }) => why === 'frozen');
  const ofDryRun = heldBack.find(({ why }) => why === 'dry-run');
  const words = (held: HeldBack | undefined) =>
    held === undefined
      ? ''
      : `${wouldText(held)}${held.needs === 0 ? '' : ` for ${counted(held.needs, 'Need')}`}`;
  if (isFleetFrozen) return `Frozen: ${words(ofFreezes) || 'nothing would be done now'}. `;
  const dry = status.dryRun ? `Dry run: ${words(ofDryRun) || 'nothing would be done now'}. ` : '';
  return ofFreezes === undefined ? dry : `${dry}Frozen in part: ${words(ofFreezes)}. `;
}

/** Why the shard decides nothing; null if it decides. */
function heldText(status: Status): string | null {
  switch (status.phase) {
    case 'starting':
      return `Starting: reading what ${counted(status.providers.length, 'provider')} can offer, then deciding.`;
    case 'stopping':
      return 'Stopping: nothing new is begun, actions in flight are completed or withdrawn.';
    case 'fenced':
      return 'Stopped: a newer shard of this name has taken over.';
    case 'running':
      break;
  }
  return status.cycle === null ? 'Started: about to decide for the first time.' : null;
}

function demandText(status: Status, shortfalls: readonly Pick<Shortfall, 'id' | 'why'>[]): string {
  const unmet = status.cycle?.unmet ?? 0;
  const moves = moveText(status);
  // A Need that the plan covers is met by its verdict, also where the plan is not carried out.
  const isPlanned = heldOnPurpose(status.cycle?.heldBack ?? []).some(({ needs }) => needs > 0);
  if (status.needs === 0) return `No cluster wants anything yet${moves === '' ? '.' : `; ${moves}.`}`;
  if (unmet === 0) {
    if (isPlanned) return `All other Needs are met${moves === '' ? '' : `; ${moves}`}.`;
    const met = `All ${count(status.needs)} Needs of ${counted(status.clusters, 'cluster')} are met${isComing(status) ? ' or about to be' : ''}`;
    return moves === '' ? `${met}; nothing to do.` : `${met}; ${moves}.`;
  }
  const be = unmet === 1 ? 'is' : 'are';
  const short = `${count(unmet)} of ${count(status.needs)} Needs ${isPlanned ? 'would not be met even then' : `${be} not met yet`}`;
  if (moves !== '') return `${short}; ${moves}.`;
  const [first] = shortfalls;
  if (first === undefined) return `${short}.`;
  // What holds for one Need need not hold for the others.
  return unmet === 1 ? `${short}: ${first.why}.` : `${short}; the most urgent is ${first.id}: ${first.why}.`;
}

/** Whether a Need waits for a machine that was ordered for it: its verdict is met, but it is not served yet. */
function isComing({ hardware }: Status): boolean {
  return hardware.some(({ resources }) => Object.values(resources).some(({ coming }) => coming > 0));
}

/** `3 machines are starting, 2 are joining`; what a cycle has only just begun shows in no machine yet. */
function moveText(status: Status): string {
  const moving = STATES.filter(({ state }) => MOVING.has(state))
    .map(({ state, label }) => ({ label, machines: machinesIn(status, state) }))
    .filter(({ machines }) => machines > 0);
  const begun = Object.values(status.cycle?.admitted ?? {}).reduce((sum, n) => sum + n, 0);
  if (moving.length === 0 && begun > 0) return `${counted(begun, 'action')} just begun`;
  return moving
    .map(({ label, machines }, i) => {
      const who = i === 0 ? counted(machines, 'machine') : count(machines);
      return `${who} ${machines === 1 ? 'is' : 'are'} ${label}`;
    })
    .join(', ');
}

const MOVING: ReadonlySet<string> = new Set(['CREATING', 'CONFIGURING', 'DRAINING', 'DELETING']);
