// A gang's choice of one domain. Everything the gang could claim in a domain is counted once per domain; the keys of
// step 1 then put the domains in order. Coverage is in whole parts per million, exact. Used by solve.ts of the oracle;
// spread.ts and verdict.ts share parts.

import { compareText, MachineState, type ResourceVector } from '../../src/model/index.ts';
import { afterAdopting, afterComing, type Coming, NOTHING_COMING } from './coming.ts';
import {
  acquirable,
  ascending,
  boundOrder,
  costFor,
  coversMinUnit,
  creatingInFlight,
  creditableBound,
  domainValue,
  drainingFor,
  idleInFlight,
  isOthersOwn,
  isOwn,
  type OracleState,
  type Row,
  type Slot,
} from './ledger.ts';
import { poolOrder } from './pool-order.ts';
import { Shortage } from './shortage.ts';

/** What a gang could claim in one domain at its turn. */
export interface Domain {
  readonly name: string;
  /** Bound in the gang's cluster or in flight for it, in claim order: own first, other live rows' own last. */
  readonly creditable: readonly Slot[];
  /** The tail of `creditable` that is other live rows' own. */
  readonly othersOwn: readonly Slot[];
  /** Free fitting Idle and Speculative machines, without those in flight for the gang. */
  readonly idle: readonly Slot[];
  readonly speculative: readonly Slot[];
  readonly draining: readonly Slot[];
  /** All of the above. */
  readonly counted: readonly Slot[];
  /** Whether all of it together covers the gang. This is also step 2's test of whether it may acquire (R40). */
  readonly satisfiable: boolean;
  readonly keys: DomainKeys;
}

export type DomainParts = Pick<Domain, 'creditable' | 'othersOwn' | 'idle' | 'speculative' | 'draining'>;

interface DomainKeys {
  readonly creditable: bigint;
  readonly own: bigint;
  readonly creditableAndIdle: bigint;
  readonly joint: bigint;
  readonly uncapped: bigint;
  /** Cost of what the gang would acquire there; 0 where it cannot be completed. */
  readonly cost: number;
}

/** "A gang first picks one domain over creditable, free acquirable and Draining-for-it machines": all of them, best first. */
export function domainsOf(oracleState: OracleState, row: Row): readonly Domain[] {
  const bound = creditableBound(oracleState, row).filter((slot) => coversMinUnit(row, slot));
  const inOrder = [...bound].sort(boundOrder(oracleState, row));
  // "Takes its own first": own bound and in-flight ones, then orphans, then other live rows' own (R38).
  const creditable = [
    ...inOrder.filter((slot) => isOwn(row, slot)),
    ...idleInFlight(oracleState, row),
    ...creatingInFlight(oracleState, row).filter((slot) => !slot.machine.blocked),
    ...inOrder.filter((slot) => !isOwn(row, slot) && !isOthersOwn(oracleState, row, slot)),
    ...inOrder.filter((slot) => isOthersOwn(oracleState, row, slot)),
  ];
  // A row that cannot bind may acquire nothing, so nothing is acquirable for it (R41).
  const pool = row.canBind ? acquirable(oracleState, row) : [];
  const idle = pool.filter((slot) => slot.machine.state === MachineState.Idle && slot.targetKey !== row.text);
  const speculative = pool.filter((slot) => slot.machine.state === MachineState.Speculative);
  const draining = drainingFor(oracleState, row).filter((slot) => !slot.machine.blocked);

  const names = new Set<string>();
  for (const slot of [...creditable, ...idle, ...speculative, ...draining]) {
    names.add(domainValue(slot, row.sameKey!)!);
  }
  return [...names]
    .map((name): Domain => {
      const inside = (slots: readonly Slot[]): readonly Slot[] =>
        slots.filter((slot) => domainValue(slot, row.sameKey!) === name);
      return measure(row, name, {
        creditable: inside(creditable),
        othersOwn: inside(creditable).filter((slot) => isOthersOwn(oracleState, row, slot)),
        idle: inside(idle),
        speculative: inside(speculative),
        draining: inside(draining),
      });
    })
    .sort(compareDomains);
}

function measure(row: Row, name: string, parts: DomainParts): Domain {
  const want = row.aggregate;
  const counted = [...parts.creditable, ...parts.idle, ...parts.speculative, ...parts.draining];
  const satisfiable = new Shortage(row, counted).sumCovered;
  const domain = { name, ...parts, counted, satisfiable };
  return {
    ...domain,
    keys: {
      creditable: coverage(want, parts.creditable),
      own: coverage(
        want,
        counted.filter((slot) => isOwn(row, slot)),
      ),
      creditableAndIdle: coverage(want, [...parts.creditable, ...parts.idle]),
      joint: coverage(want, counted),
      uncapped: sum(partsPerMillion(want, counted)),
      cost: satisfiable
        ? planInDomain(row, domain).acquired.reduce((cost, slot) => cost + costFor(row, slot), 0)
        : 0,
    },
  };
}

/**
 * "Satisfiable first; if satisfiable: creditable coverage, own coverage, creditable + Idle coverage, least
 * uncapped total, lower effective cost of what it would take; if not: own coverage, creditable coverage, joint
 * coverage, creditable + Idle coverage; then count, then name."
 */
function compareDomains(a: Domain, b: Domain): number {
  if (a.satisfiable !== b.satisfiable) return a.satisfiable ? -1 : 1;
  const x = a.keys;
  const y = b.keys;
  const order = a.satisfiable
    ? larger(x.creditable, y.creditable) ||
      larger(x.own, y.own) ||
      larger(x.creditableAndIdle, y.creditableAndIdle) ||
      larger(y.uncapped, x.uncapped) ||
      ascending(x.cost, y.cost)
    : larger(x.own, y.own) ||
      larger(x.creditable, y.creditable) ||
      larger(x.joint, y.joint) ||
      larger(x.creditableAndIdle, y.creditableAndIdle);
  return order || b.counted.length - a.counted.length || compareText(a.name, b.name);
}

function larger(a: bigint, b: bigint): number {
  if (a === b) return 0;
  return a > b ? -1 : 1;
}

/**
 * What the gang would claim in a domain that can complete it. Credit until covered, skipping what adds nothing,
 * other live rows' own only for what machines Draining for the gang will not cover (R81); then free fitting machines in
 * pool order until covered. "An Idle machine with another row's target is taken only for what machines Draining for this
 * row will not cover."
 */
export function planInDomain(
  row: Row,
  domain: DomainParts,
): { readonly credited: readonly Slot[]; readonly acquired: readonly Slot[] } {
  const coming: Coming = { ...NOTHING_COMING, drains: domain.draining };
  const short = new Shortage(row);
  const credited: Slot[] = [];
  for (const slot of domain.creditable) {
    if (short.covered) break;
    const beyond = domain.othersOwn.includes(slot) ? afterComing(row, short, coming) : short;
    if (!beyond.adds(slot)) continue;
    short.take(slot);
    credited.push(slot);
  }
  const acquired: Slot[] = [];
  for (const slot of [...domain.idle, ...domain.speculative].sort(poolOrder(row, short.want))) {
    if (short.covered) break;
    if (!mayTake(row, slot, short, coming)) continue;
    short.take(slot);
    acquired.push(slot);
  }
  return { credited, acquired };
}

/** Whether an acquirable machine adds; one reserved for another row only beyond what drains will bring (R52). */
export function mayTake(row: Row, slot: Slot, short: Shortage, coming: Coming): boolean {
  const reserved =
    slot.machine.state === MachineState.Idle && slot.targetKey !== null && slot.targetKey !== row.text;
  return (reserved ? afterAdopting(row, short, coming) : short).adds(slot);
}

const MILLION = 1_000_000n;

/** `floor(1e6 × have ÷ want)` of each dimension wanted, without a cap. */
function partsPerMillion(want: ResourceVector, slots: readonly Slot[]): readonly bigint[] {
  const parts: bigint[] = [];
  for (const [name, units] of want) {
    if (units === 0) continue;
    let have = 0n;
    for (const slot of slots) have += BigInt(slot.offer.get(name) ?? 0);
    parts.push((MILLION * have) / BigInt(units));
  }
  return parts;
}

/** `floor(1e6 × have ÷ want)` of each dimension wanted, capped at 1e6. */
export function cappedParts(want: ResourceVector, slots: readonly Slot[]): readonly bigint[] {
  return partsPerMillion(want, slots).map((part) => (part > MILLION ? MILLION : part));
}

/** The sum of capped coverage over the dimensions. */
function coverage(want: ResourceVector, slots: readonly Slot[]): bigint {
  return sum(cappedParts(want, slots));
}

function sum(parts: readonly bigint[]): bigint {
  return parts.reduce((total, part) => total + part, 0n);
}
