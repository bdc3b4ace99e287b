// Cost of the fleet for display: by aspect, what is paid for and not used, what spot saves, the bill at the present rate,
// and the price of what would meet unmet Needs. Used by answers.ts.

import { type Decision, HARDWARE, type ServedHardware } from '../../../engine/index.ts';
import { CapacityType, dollarsOfMicros, effectiveCost, microsOf } from '../../../model/index.ts';
import { costView, hasHostState, SERVING } from '../../telemetry/cost.ts';
import type { CostGroups } from '../../telemetry/cost-breakdown.ts';
import { COST_STEP_MS } from '../../telemetry/cost-history.ts';
import { usedShareOf } from '../../telemetry/used-share.ts';
import type { Answer, CostGroupView, CostReport, Questions } from '../../views.ts';
import type { ControllerState } from '../controller.ts';
import { capacityLabel } from './action-view.ts';
import { needRef } from './need-names.ts';
import { jsonBytes, offsetPage, pageOf, thinnedTo } from './pages.ts';

const HOUR_MS = 3_600_000;
/** Bytes of JSON of the points of a series and their names. */
const SERIES_BYTES = 900_000;

export function costReport(
  state: ControllerState,
  served: readonly ServedHardware[],
  ask: Questions['cost']['ask'],
): CostReport {
  const { supplyTally, breakdown, costHistory, parts } = state;
  const nowMs = parts.clock.now();
  const { cost: micros, owned, offered } = supplyTally.total();
  const cost = costView(micros);
  return {
    nowMs,
    by: ask.by,
    cost,
    ownedCost: supplyTally.ownedPrices.areSet ? costView(owned) : null,
    stranded: strandedOf(state, served, offered, breakdown.by('hardware', nowMs)),
    spot: spotOf(state),
    forecast: { ...forecastOf(nowMs, cost.perHour), sinceStart: costHistory.sinceStart },
    groups: groupPage(ask, groupViews(breakdown.by(ask.by, nowMs))),
  };
}

function groupPage(ask: Questions['cost']['ask'], groups: readonly CostGroupView[]): CostReport['groups'] {
  if (ask.order !== 'name') return offsetPage(ask, groups);
  const { after } = ask;
  const rest = after === undefined ? groups : groups.filter(({ name }) => name > after);
  return pageOf(ask, {
    entries: rest.toSorted((a, b) => (a.name < b.name ? -1 : 1)),
    total: groups.length,
    viewOf: (group) => group,
    positionOf: ({ name }) => name,
  });
}

/** The most expensive first; ties by name. */
function groupViews(groups: CostGroups): readonly CostGroupView[] {
  return [...groups]
    .map(([name, { machines, cost }]) => ({ name, machines, cost: costView(cost) }))
    .sort((a, b) => b.cost.perHour - a.cost.perHour || (a.name < b.name ? -1 : 1));
}

/** What serving machines of a kind cost, times the share that no row counts on of the resource used most. */
function strandedOf(
  { ledger }: ControllerState,
  served: readonly ServedHardware[],
  offered: readonly Float64Array[],
  groups: CostGroups,
): CostReport['stranded'] {
  const { dimensions } = ledger.fleet;
  const byHardware = served.map((each, kind) => {
    const serving = groups.get(HARDWARE[kind]!)?.cost[SERVING] ?? 0;
    const most = usedShareOf(each.used, offered[kind]!);
    const usedShare = most?.share ?? 0;
    const resource = most === null ? '' : dimensions.nameOf(most.index);
    const perHour = dollarsOfMicros(most === null ? 0 : Math.round(serving * (1 - usedShare)));
    return { kind: HARDWARE[kind]!, servingPerHour: dollarsOfMicros(serving), usedShare, resource, perHour };
  });
  return { perHour: byHardware.reduce((sum, { perHour }) => sum + perHour, 0), byHardware };
}

/** One pass over the stamps of spot machines: the penalty belongs to the row that each one serves. */
function spotOf({ ledger }: ControllerState): CostReport['spot'] {
  const { machines, classes } = ledger.fleet;
  const onDemand = onDemandPrices(ledger.fleet);
  const sums = { machines: 0, unpriced: 0, cost: 0, others: 0, interruptions: 0 };
  for (let slot = 0; slot < machines.size; slot++) {
    const c = machines.classOf[slot]!;
    const state = machines.state[slot]!;
    if (state === 0 || classes.capacityType[c] !== CapacityType.Spot || !hasHostState(state)) continue;
    const { instanceType, zone } = classes.attributes[c]!;
    const other = onDemand.get(`${instanceType}/${zone}`) ?? onDemand.get(instanceType);
    if (other === undefined) {
      sums.unpriced++;
      continue;
    }
    const price = classes.price[c]!;
    const penalty = machines.stamps.interruptionDollars[machines.stamp[slot]!]!;
    const weighed = effectiveCost(price, classes.probability[c]!, penalty);
    sums.machines++;
    sums.cost += microsOf(price);
    sums.others += microsOf(other);
    sums.interruptions += Number.isFinite(weighed) ? microsOf(weighed - price) : 0;
  }
  const saves = sums.others - sums.cost;
  return {
    machines: sums.machines,
    perHour: dollarsOfMicros(sums.cost),
    onDemandPerHour: dollarsOfMicros(sums.others),
    savesPerHour: dollarsOfMicros(saves),
    interruptionsPerHour: dollarsOfMicros(sums.interruptions),
    netSavesPerHour: dollarsOfMicros(saves - sums.interruptions),
    unpriced: sums.unpriced,
  };
}

/** The lowest on-demand price by instance type, and by instance type and zone. */
function onDemandPrices({ classes }: ControllerState['ledger']['fleet']): ReadonlyMap<string, number> {
  const prices = new Map<string, number>();
  for (const [c, attributes] of classes.attributes.entries()) {
    if (attributes === undefined || classes.capacityType[c] !== CapacityType.OnDemand) continue;
    for (const name of [attributes.instanceType, `${attributes.instanceType}/${attributes.zone}`])
      prices.set(name, Math.min(prices.get(name) ?? Number.POSITIVE_INFINITY, classes.price[c]!));
  }
  return prices;
}

function forecastOf(nowMs: number, perHour: number) {
  const now = new Date(nowMs);
  const monthStartMs = Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), 1);
  const monthEndMs = Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1, 1);
  const hoursLeft = (monthEndMs - nowMs) / HOUR_MS;
  const cents = (dollars: number): number => Math.round(dollars * 100) / 100;
  return {
    monthEndMs,
    hoursLeft,
    restOfMonth: cents(hoursLeft * perHour),
    wholeMonth: cents(((monthEndMs - monthStartMs) / HOUR_MS) * perHour),
  };
}

export function costSeries(
  { costHistory, parts }: ControllerState,
  { by, sinceMs }: Questions['costSeries']['ask'],
): Answer<'costSeries'> {
  const points = thinnedTo(
    costHistory.points(by, sinceMs),
    SERIES_BYTES,
    (each) => jsonBytes(each) + jsonBytes([...namesIn(each)]),
  );
  const last = points.at(-1)?.byName ?? {};
  return {
    nowMs: parts.clock.now(),
    by,
    stepMs: COST_STEP_MS,
    names: [...namesIn(points)].sort((a, b) => (last[b] ?? 0) - (last[a] ?? 0) || (a < b ? -1 : 1)),
    points,
  };
}

function namesIn(points: Answer<'costSeries'>['points']): ReadonlySet<string> {
  return new Set(points.flatMap(({ byName }) => Object.keys(byName)));
}

export function remediesFor(
  { ledger }: ControllerState,
  decided: Decision | null,
  { limit, maxBytes = Number.POSITIVE_INFINITY }: Questions['remedies']['ask'],
): Answer<'remedies'> {
  // Verdicts in rank order.
  const unmet = decided?.unmet ?? [];
  const cheapest = decided?.cheapestPurchase() ?? { machines: 0, micros: 0 };
  const items: Answer<'remedies'>['items'][number][] = [];
  let micros = 0;
  let total = 0;
  let bytes = 0;
  for (const { key, priority, unmet: detail } of unmet) {
    const extra = detail?.extraSupply ?? null;
    const record = extra === null ? null : ledger.recordOf(extra.like);
    if (extra === null || record === null) continue;
    total++;
    const each = microsOf(record.pricePerHour);
    micros += extra.count * each;
    if (items.length >= limit || bytes > maxBytes) continue;
    const remedy = {
      ...{ need: needRef(key, priority), count: extra.count, like: extra.like },
      ...{ instanceType: record.instanceType, zone: record.zone },
      capacityType: capacityLabel(record.capacityType),
      ...{ pricePerHour: record.pricePerHour, perHour: dollarsOfMicros(extra.count * each) },
    };
    bytes += jsonBytes(remedy);
    if (bytes <= maxBytes) items.push(remedy);
  }
  return {
    perHour: dollarsOfMicros(micros),
    cheapest: { machines: cheapest.machines, perHour: dollarsOfMicros(cheapest.micros) },
    ...{ items, total, withoutRemedy: unmet.length - total },
  };
}
