// Carries out orders that people give a running shard. Every order is logged with its author; a refused one returns
// why. Called by controller.ts.

import { excerpt, wholeRollup } from '../../model/index.ts';
import type { Order, OrderResult } from '../views.ts';
import type { ControllerState } from './controller.ts';
import { type Freeze, freezeIdOf, freezeName, MAX_FREEZES } from './freezes.ts';
import { drainObstacle } from './ordered-drains.ts';
import { MAX_RETIREMENTS } from './retirements.ts';

/** Bytes kept of the author and of the reason in a log line. */
const MAX_WORDS_BYTES = 1000;

/** Freezes that end in one cycle and are logged in a line each. */
const MAX_END_LINES = 20;

export function carryOut(state: ControllerState, order: Order): OrderResult {
  const result = resultOf(state, order);
  logOrder(state, order, result);
  return result;
}

export function logOrder({ parts }: ControllerState, order: Order, result: OrderResult): void {
  const { kind, who } = order;
  const fields = {
    order: kind,
    ...subjectOf(order),
    who: excerpt(who, MAX_WORDS_BYTES),
    isDone: result.isDone,
    message: result.message,
  };
  parts.publish({ kind: 'log', level: 'info', event: 'order', fields });
}

function resultOf(state: ControllerState, order: Order): OrderResult {
  switch (order.kind) {
    case 'freeze':
      return freeze(state, order);
    case 'unfreeze':
      return unfreeze(state, order.id);
    case 'retry':
      return retry(state, order.machine);
    case 'quarantine':
      return about(
        state.actuation.quarantine(order.machine, order.who, order.why),
        order.machine,
        'is kept out of all decisions until "bigfleet retry"',
      );
    case 'forget':
      return forget(state, order.machine);
    case 'drain':
      return drain(state, order);
    case 'undrain':
      return state.drains.remove(order.machine)
        ? done(`Machine ${excerpt(order.machine)} is used as before.`)
        : refused(`Machine ${excerpt(order.machine)} is not to be drained on order.`);
    case 'lift-set-aside':
      return state.incomplete.lift(order.cluster)
        ? done(`Machines of ${excerpt(order.cluster)} may be reclaimed although rows of it are set aside.`)
        : refused(`No rows of ${excerpt(order.cluster)} are set aside.`);
    case 'retire':
      return retire(state, order);
    case 'unretire':
      return unretire(state, order.cluster);
    case 'accept-list':
      return state.reconcile.acceptList(order.provider)
        ? done(`The List of ${excerpt(order.provider)} counts.`)
        : refused(`There is no provider ${excerpt(order.provider)}.`);
    case 'accept-rollup':
    case 'refuse-rollup':
      throw new Error('roll-ups are held by the sessions');
  }
}

function freeze(state: ControllerState, order: Extract<Order, { readonly kind: 'freeze' }>): OrderResult {
  const { freezes, parts } = state;
  const { scope, who, why, forSeconds } = order;
  const nowMs = parts.clock.now();
  const untilMs = forSeconds === undefined ? null : nowMs + forSeconds * 1000;
  const made = freezes.add(scope, who, why, nowMs, untilMs);
  if (made === null) return refused(`There are ${MAX_FREEZES} freezes already.`);
  freezeChanged(state, scope.cluster);
  const name = excerpt(freezeName(made));
  const isOlder = made.who !== who || made.why !== why;
  const words = isOlder
    ? `${name} has been frozen since ${timeText(made.sinceMs)} by ${excerpt(made.who)}: ${excerpt(made.why)}${endText(made, untilMs)}`
    : `${name} is frozen${made.untilMs === null ? '' : ` until ${timeText(made.untilMs)}`}.`;
  return done(isKnownCluster(state, scope.cluster) ? words : `${words}${unknownText(scope.cluster!)}`);
}

/** When a freeze ends that was in force before, if it has an end or the order that repeats it has one. */
function endText({ untilMs }: Freeze, ordered: number | null): string {
  if (untilMs !== null) return `; it ends at ${timeText(untilMs)}`;
  return ordered === null ? '' : '; it stays until it is lifted';
}

function timeText(ms: number): string {
  return new Date(ms).toISOString();
}

/** Ends the freezes whose time is over. Logs each, up to `MAX_END_LINES`, and the number of the others. */
export function endFreezes(state: ControllerState, nowMs: number): void {
  const ended = state.freezes.expire(nowMs);
  if (ended.length === 0) return;
  const clusters = new Set(ended.map(({ cluster }) => cluster).filter((cluster) => cluster !== null));
  for (const cluster of clusters) state.frozen.changed(cluster);
  state.actuation.frozen((action) => state.freezes.isFrozen(action));
  const log = (event: string, fields: Readonly<Record<string, unknown>>): void =>
    state.parts.publish({ kind: 'log', level: 'info', event, fields });
  for (const freeze of ended.slice(0, MAX_END_LINES)) {
    const { who, why, sinceMs, untilMs } = freeze;
    const words = { who: excerpt(who, MAX_WORDS_BYTES), why: excerpt(why, MAX_WORDS_BYTES) };
    log('freeze-ended', { freeze: excerpt(freezeName(freeze)), ...words, sinceMs, untilMs });
  }
  const more = ended.length - MAX_END_LINES;
  if (more > 0) log('more-freezes-ended', { more });
}

/** A connected cluster is not gone: its pods would be evicted while its operator still asks for machines. */
function retire(state: ControllerState, order: Extract<Order, { readonly kind: 'retire' }>): OrderResult {
  const { retirements, sessions, parts } = state;
  const { cluster, who, why } = order;
  const name = excerpt(cluster);
  if (!isKnownCluster(state, cluster)) return refused(`There is no cluster ${name}.`);
  if (sessions.has(cluster) && !retirements.has(cluster))
    return refused(`${name} is connected. Stop its operator first: only a cluster that is gone is retired.`);
  const made = retirements.add(cluster, who, why, parts.clock.now());
  if (made === null) return refused(`${MAX_RETIREMENTS} clusters are retired already.`);
  clearDemand(state, cluster);
  state.actuation.retired(cluster);
  return done(
    `${name} is retired: its machines are drained and given back, at most as many at a time as guardrails.reclaimCapFraction allows.`,
  );
}

/** The demand is posted again as a whole, if the cluster has reported to this process. */
function unretire({ retirements, reported, parts }: ControllerState, cluster: string): OrderResult {
  const name = excerpt(cluster);
  if (!retirements.remove(cluster)) return refused(`${name} is not retired.`);
  // Until its demand is here again, it counts as one that has not reported: nothing is reclaimed.
  reported.delete(cluster);
  parts.emit({ kind: 'ask-demand', cluster });
  return done(`${name} is no longer retired: its demand counts again.`);
}

/** Counts the demand of a retired cluster as reported and empty. */
export function clearDemand(
  { ledger, reported, incomplete, ended, awaited }: ControllerState,
  cluster: string,
): void {
  incomplete.reported(cluster, 0);
  ledger.append({ kind: 'demand', delta: wholeRollup(cluster, []) });
  reported.add(cluster);
  awaited.reported(cluster);
  ended.look(cluster);
}

/** Whether the cluster has, or had, a session, demand or machines in this shard; null: the whole fleet. */
function isKnownCluster({ sessions, reported, ledger }: ControllerState, cluster: string | null): boolean {
  const { clusters } = ledger.fleet;
  if (cluster === null || sessions.has(cluster) || reported.has(cluster)) return true;
  // `find` returns the number of the empty name for an unknown name.
  return clusters.nameOf(clusters.find(cluster)) === cluster;
}

/** An unknown cluster is frozen, because it may connect later; the text warns because a misspelt name is more likely. */
function unknownText(cluster: string): string {
  return ` The shard does not know a cluster ${excerpt(cluster)} yet; it is frozen should it connect. "bigfleet get clusters" lists those that are known.`;
}

function unfreeze(state: ControllerState, text: string): OrderResult {
  const id = freezeIdOf(text);
  const known = state.freezes.list().find((each) => each.id === id);
  if (known === undefined || !state.freezes.remove(id))
    return refused(`There is no freeze "${excerpt(text)}".`);
  freezeChanged(state, known.cluster);
  return done(`${excerpt(freezeName(known))} is no longer frozen.`);
}

/** A freeze of a named cluster blocks its Configured machines; a fleet-wide one does not. Both withdraw unsent actions. */
function freezeChanged({ frozen, actuation, freezes }: ControllerState, cluster: string | null): void {
  if (cluster !== null) frozen.changed(cluster);
  actuation.frozen((action) => freezes.isFrozen(action));
}

/** The message states when the machine will be read, which may be after its action or its provider's outage ends. */
function retry({ actuation, reconcile, ledger, scheduler }: ControllerState, machine: string): OrderResult {
  const isDone = actuation.retry(machine);
  if (isDone) reconcile.checkNow(machine);
  const provider = ledger.ownerOf(machine) ?? '';
  const isSilent = isDone && scheduler.breakerOf(provider) !== 'closed';
  const when = actuation.isBusy(machine)
    ? ' when the action that is under way with it has ended'
    : isSilent
      ? ` when its provider ${excerpt(provider)} answers again`
      : '';
  return about(isDone, machine, `is looked at afresh${when}`);
}

function forget({ actuation, ledger }: ControllerState, machine: string): OrderResult {
  if (actuation.forget(machine))
    return done(`Machine ${excerpt(machine)} is hidden. It stays on record and costs what it costs.`);
  const isThere = ledger.statusOf(machine) !== null;
  return refused(
    isThere ? `Machine ${excerpt(machine)} is not Failed.` : `There is no machine ${excerpt(machine)}.`,
  );
}

/** Its row acquires other machines first. A hold that runs already counts as over. */
function drain(state: ControllerState, order: Extract<Order, { readonly kind: 'drain' }>): OrderResult {
  const { machine, who, why } = order;
  const { drains, ledger, parts } = state;
  const obstacle = drainObstacle(state, machine);
  if (obstacle !== null) return refused(obstacle);
  const nowMs = parts.clock.now();
  if (!drains.add(machine, { who, why, sinceMs: nowMs }))
    return refused('As many machines as possible are to be drained on order already.');
  if ((ledger.statusOf(machine)?.unclaimedSinceMs ?? null) !== null) {
    const sinceMs = nowMs - parts.options.economy.reclaimHoldSeconds * 1000;
    ledger.append({ kind: 'unclaimed', id: machine, sinceMs });
  }
  return done(
    `Machine ${excerpt(machine)} is drained once others serve its Needs, under all guardrails; then it is Idle. "bigfleet quarantine" keeps it out of use, a restart of the shard forgets the order.`,
  );
}

function about(isDone: boolean, machine: string, what: string): OrderResult {
  return isDone
    ? done(`Machine ${excerpt(machine)} ${what}.`)
    : refused(`There is no machine ${excerpt(machine)}.`);
}

function subjectOf(order: Order): Readonly<Record<string, unknown>> {
  switch (order.kind) {
    case 'freeze':
      return {
        cluster: order.scope.cluster === null ? null : excerpt(order.scope.cluster),
        ...{ action: order.scope.action, why: excerpt(order.why, MAX_WORDS_BYTES) },
        ...(order.forSeconds === undefined ? {} : { forSeconds: order.forSeconds }),
      };
    case 'unfreeze':
      return { freeze: excerpt(order.id) };
    case 'quarantine':
    case 'retry':
    case 'forget':
    case 'drain':
    case 'undrain':
      return { machine: excerpt(order.machine), ...whyOf(order) };
    case 'accept-list':
      return { provider: excerpt(order.provider), ...whyOf(order) };
    case 'accept-rollup':
    case 'refuse-rollup':
    case 'lift-set-aside':
    case 'retire':
    case 'unretire':
      return { cluster: excerpt(order.cluster), ...whyOf(order) };
  }
}

function whyOf({ why }: { readonly why?: string | undefined }): { readonly why?: string } {
  return why === undefined ? {} : { why: excerpt(why, MAX_WORDS_BYTES) };
}

function done(message: string): OrderResult {
  return { isDone: true, message };
}

function refused(message: string): OrderResult {
  return { isDone: false, message };
}
