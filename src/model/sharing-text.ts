// Sentences about what a Need lives on and who uses a machine, without their full stop. The shard sends them with its
// answers, so that API, commands and page say the same; `bigfleet decide` uses them as well.

import type { MachineUser, RemainderCounts, Share, Verdict } from './decision.ts';
import { formatQuantity } from './quantity.ts';
import { isZero, type ResourceVector, subtract } from './resources.ts';
import { compareText, excerpt } from './text.ts';
import { grouped } from './unmet-text.ts';

/** Shares of a Need, and borrowers of a machine, that are named before the rest is only counted. */
const MAX_NAMED = 3;

/** `met: keeps 2 machines, shares 1.5 cpu of machine-7`. */
export function verdictText(
  verdict: Pick<
    Verdict,
    'satisfied' | 'deficit' | 'claimed' | 'bootstraps' | 'provisions' | 'preempts' | 'shares'
  >,
): string {
  const { bootstraps, provisions, preempts, satisfied, deficit } = verdict;
  const kept = verdict.claimed.length - bootstraps.length - provisions.length;
  const parts = [
    kept > 0 ? `keeps ${machines(kept)}` : '',
    bootstraps.length > 0 ? `binds ${machines(bootstraps.length)}` : '',
    provisions.length > 0 ? `buys ${machines(provisions.length)}` : '',
    preempts.length > 0 ? `preempts ${machines(preempts.length)}` : '',
    verdict.shares.length > 0 ? `shares ${sharesText(verdict.shares)}` : '',
    satisfied || isZero(deficit) ? '' : `lacks ${amountText(deficit)}`,
  ].filter((part) => part !== '');
  const detail = parts.length === 0 ? '' : `: ${parts.join(', ')}`;
  return `${satisfied ? 'met' : 'not met'}${detail}`;
}

/** `1.5 cpu of machine-7 and 1 cpu of machine-9`; '' without shares. */
export function sharesText(shares: readonly Share[]): string {
  const named = shares
    .slice(0, MAX_NAMED)
    .map(({ machine, amount }) => `${amountText(amount)} of ${excerpt(machine)}`);
  const rest = shares.length - named.length;
  return listed(rest === 0 ? named : [...named, `parts of ${grouped(rest)} more`]);
}

/** `3 remainders match, none holds its largest pod (4 cpu)`; '' where none matches. */
export function remaindersText({ matching, holdingUnit }: RemainderCounts, minUnit: ResourceVector): string {
  if (matching === 0) return '';
  const match = matching === 1 ? '1 remainder matches' : `${grouped(matching)} remainders match`;
  if (isZero(minUnit)) return match;
  const hold =
    holdingUnit === 0 ? 'none holds' : `${grouped(holdingUnit)} ${holdingUnit === 1 ? 'holds' : 'hold'}`;
  return `${match}, ${hold} its largest pod (${amountText(minUnit)})`;
}

/**
 * `shop/web takes 6 cpu, shop/batch shares 1.5 cpu, 0.5 cpu left over`; '' without users. `nameOf` names the row of a user,
 * `offer` is what the machine has.
 */
export function usersText<User extends Pick<MachineUser, 'isShare' | 'amount'>>(
  users: readonly User[],
  offer: ResourceVector,
  nameOf: (user: User) => string,
): string {
  if (users.length === 0) return '';
  // The claimant comes first.
  const named = users.slice(0, MAX_NAMED + 1).map((user) => {
    if (user.amount === null) return `${nameOf(user)} has it, and its size is not known`;
    return `${nameOf(user)} ${user.isShare ? 'shares' : 'takes'} ${amountText(user.amount)}`;
  });
  const rest = users.slice(named.length);
  const others = rest.length === 0 ? [] : [`${grouped(rest.length)} more share ${amountText(sumOf(rest))}`];
  const left = leftOver(users, offer);
  const over = users.some(({ amount }) => amount === null) ? [] : [`${amountText(left)} left over`];
  return [...named, ...others, ...over].join(', ');
}

/** What rows leave over of a machine. */
export function leftOver(
  users: readonly Pick<MachineUser, 'amount'>[],
  offer: ResourceVector,
): ResourceVector {
  return users.reduce((left, { amount }) => (amount === null ? left : subtract(left, amount)), offer);
}

function sumOf(users: readonly Pick<MachineUser, 'amount'>[]): ResourceVector {
  const sum = new Map<string, number>();
  for (const { amount } of users)
    for (const [name, units] of amount ?? []) sum.set(name, (sum.get(name) ?? 0) + units);
  return sum;
}

/**
 * What a bound machine that no row counts on waits for. `hold`: the end of its hold. `needs`: a row of its cluster that waits
 * for machines and that it matches. `guardrails`: the machine is to be reclaimed, and a guardrail or a freeze stops that.
 */
export const UNCLAIMED_WAITS = ['hold', 'needs', 'guardrails'] as const;
/** One of `UNCLAIMED_WAITS`. */
export type UnclaimedWait = (typeof UNCLAIMED_WAITS)[number];

/** `unclaimed for 4 min, given back in 6 min`. */
export function unclaimedText(forMs: number, endsInMs: number, waitsFor: UnclaimedWait): string {
  const next = {
    hold: `given back in ${spanText(endsInMs)}`,
    needs: 'kept while a Need of its cluster waits for machines',
    guardrails: 'to be given back once guardrails and freezes allow it',
  }[waitsFor];
  return `unclaimed for ${spanText(forMs)}, ${next}`;
}

/** `to be replaced by cheaper machines for 4 min, saves about $0.40 an hour with 3 others, for another 36 min at most`. */
export function renewalText(
  forMs: number,
  endsInMs: number,
  savesPerHour: number,
  machinesInAll: number,
): string {
  const others = machinesInAll - 1;
  const together = others === 0 ? '' : ` with ${grouped(others)} ${others === 1 ? 'other' : 'others'}`;
  return [
    `to be replaced by cheaper machines for ${spanText(forMs)}`,
    `saves about $${savesPerHour.toFixed(2)} an hour${together}`,
    `for another ${spanText(endsInMs)} at most`,
  ].join(', ');
}

/** `to be drained for 4 min, as ann ordered: disk errors`. */
export function drainOrderText(forMs: number, who: string, why: string): string {
  return `to be drained for ${spanText(forMs)}, as ${who} ordered: ${why}`;
}

/** `45 s`, `4 min`, `2 h 5 min`. */
function spanText(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000));
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.round(seconds / 60);
  return minutes < 60 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

/** `1.5 cpu and 4Gi memory`, or `nothing`. */
export function amountText(amounts: ResourceVector): string {
  const named = [...amounts].filter(([, units]) => units > 0).sort(([a], [b]) => compareText(a, b));
  if (named.length === 0) return 'nothing';
  return listed(named.map(([name, units]) => `${unitsText(name, units)} ${excerpt(name)}`));
}

const BINARY = ['', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi'] as const;

/** Cores and pieces exactly, bytes with two digits after the point. */
function unitsText(resource: string, units: number): string {
  if (formatQuantity(1, resource) === '1m') return String(units / 1000);
  if (!formatQuantity(1024, resource).endsWith('Ki')) return String(units);
  let step = 0;
  while (step < BINARY.length - 1 && units >= 1024 ** (step + 1)) step++;
  return `${Number((units / 1024 ** step).toFixed(2))}${BINARY[step]}`;
}

/** `a, b and c`. */
function listed(texts: readonly string[]): string {
  if (texts.length < 2) return texts.join('');
  return `${texts.slice(0, -1).join(', ')} and ${texts.at(-1)}`;
}

function machines(count: number): string {
  return `${grouped(count)} ${count === 1 ? 'machine' : 'machines'}`;
}
