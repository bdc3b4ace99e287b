// Status of the shard, computed from the columns of the ledger: cheap enough to be sent after every cycle. Used by
// cycles.ts and answers.ts.

import { HARDWARE, type ServedHardware } from '../../../engine/index.ts';
import type { Fleet } from '../../../fleet/index.ts';
import { excerpt, formatQuantity, MachineState, stateName } from '../../../model/index.ts';
import { ALL_FINE } from '../../inventory/provider-health.ts';
import { costView } from '../../telemetry/cost.ts';
import type {
  Counts,
  CycleView,
  HardwareView,
  ProviderHealth,
  ProviderView,
  ResourceView,
  StatusView,
} from '../../views.ts';
import type { ControllerState } from '../controller.ts';
import { AGE_BUCKETS, PRIORITY_CLASSES } from '../shortfalls.ts';
import { firstWithin } from './pages.ts';

/** Bytes of JSON: keeps a status below 1 MB with any number of providers. */
const PROVIDER_BYTES = 700_000;

const STATES: readonly MachineState[] = Object.values(MachineState);

/** `served` is the result of the last cycle, by index in HARDWARE. */
export function statusOf(
  state: ControllerState,
  cycle: CycleView | null,
  served: readonly ServedHardware[],
): StatusView {
  const { parts, ledger, sessions, shortfalls, freezes, demandTally, supplyTally } = state;
  const { shard, epoch, guardrails } = parts.options;
  const { fleet } = ledger;
  const { total, escalated, byBoth } = shortfalls.gauges;
  const { byState, cost: micros, owned, offered } = supplyTally.total();
  const cost = costView(micros);
  const health = state.health.views(state.machineFacts.forgotten());
  return {
    ...{ shard, epoch: Number(epoch), startedMs: state.startedMs, nowMs: parts.clock.now() },
    ...{ phase: state.phase, dryRun: guardrails.dryRun, cycle },
    machines: fleet.machines.count,
    ...{ machinesByState: labelled(byState), costPerHour: cost.perHour, cost },
    ownedCost: supplyTally.ownedPrices.areSet ? costView(owned) : null,
    needs: fleet.demand.count,
    clusters: clusterCount(fleet),
    ...{ sessions: sessions.size, shortfalls: total, escalated, freezes: freezes.list().length },
    unmetByAge: unmetByAge(byBoth),
    supply: supplyOf(fleet, demandTally.wanted(), offered),
    hardware: served.map((each, kind) => hardwareView(fleet, kind, each, offered[kind]!)),
    providers: firstWithin(
      parts.options.providers
        .map((name) => providerOf(state, name, health.get(name)))
        .sort(troubledProvidersFirst),
      parts.options.providers.length,
      PROVIDER_BYTES,
    ),
  };
}

function unmetByAge(byBoth: readonly number[]): StatusView['unmetByAge'] {
  return byBoth.flatMap((count, i) => {
    const priority = PRIORITY_CLASSES[Math.floor(i / AGE_BUCKETS.length)]!;
    return count === 0 ? [] : [{ priority, age: AGE_BUCKETS[i % AGE_BUCKETS.length]!, count }];
  });
}

/** Providers with a problem sort first, because a long list is truncated; otherwise the configured order is kept. */
function troubledProvidersFirst(a: ProviderView, b: ProviderView): number {
  const isFine = ({ breaker, denial, heldLosses, lastError, health }: ProviderView): boolean =>
    breaker === 'closed' && denial === '' && heldLosses === 0 && lastError === '' && health.state === 'fine';
  return Number(isFine(a)) - Number(isFine(b));
}

/** Bytes shown of a provider's message: the status of hundreds of providers is sent after every cycle. */
const MAX_WORDS_BYTES = 500;

function providerOf(
  { scheduler, ledger, reconcile, health }: ControllerState,
  name: string,
  trouble: ProviderHealth | undefined,
): ProviderView {
  const readings = reconcile.readingsOf(name);
  return {
    name,
    breaker: scheduler.breakerOf(name),
    denial: excerpt(scheduler.denialOf(name), MAX_WORDS_BYTES),
    machines: ledger.countOf(name),
    waiting: scheduler.waitingAt(name),
    ...readings,
    lastError: excerpt(readings.lastError, MAX_WORDS_BYTES),
    heldLosses: reconcile.heldLosses(name),
    health: trouble ?? { ...ALL_FINE, machines: health.hostsOf(name) },
  };
}

function labelled(byState: Float64Array): Counts {
  const present = STATES.filter((state) => byState[state]! > 0);
  return Object.fromEntries(present.map((state) => [stateLabel(state), byState[state]!]));
}

/** `CONFIGURED`, as the wire has it. */
export function stateLabel(state: MachineState): string {
  return stateName(state).toUpperCase();
}

function clusterCount({ clusters, demand, machines }: Fleet): number {
  let count = 0;
  for (const cluster of clusters.sorted()) {
    if (demand.rowsOf(cluster).length > 0 || machines.boundOf(cluster) !== undefined) count++;
  }
  return count;
}

/** By resource: the demand of all rows, and the supply. */
function supplyOf(
  { dimensions }: Fleet,
  wanted: Float64Array,
  offered: readonly Float64Array[],
): StatusView['supply'] {
  const supply: Record<string, { wanted: number; configured: number }> = {};
  for (const [d, units] of wanted.entries()) {
    const name = dimensions.nameOf(d);
    const configured = offered.reduce((sum, amounts) => sum + amounts[d]!, 0);
    if (units > 0 || configured > 0)
      supply[name] = { wanted: plain(units, name), configured: plain(configured, name) };
  }
  return supply;
}

/** Includes only resources with demand or supply. */
function hardwareView(
  { dimensions }: Fleet,
  kind: number,
  served: ServedHardware,
  offered: Float64Array,
): HardwareView {
  const resources: Record<string, ResourceView> = {};
  for (const [d, wanted] of served.wanted.entries()) {
    const name = dimensions.nameOf(d);
    if (wanted === 0 && offered[d] === 0) continue;
    const amount = (units: Float64Array): number => plain(units[d]!, name);
    resources[name] = {
      ...{ wanted: amount(served.wanted), served: amount(served.served) },
      ...{ coming: amount(served.coming), unmet: amount(served.unmet) },
      ...{ offered: amount(offered), used: amount(served.used) },
    };
  }
  return { kind: HARDWARE[kind]!, needs: served.needs, unmetNeeds: served.unmetNeeds, resources };
}

/** Converts units to cores, bytes or pieces. */
function plain(units: number, resource: string): number {
  return formatQuantity(1, resource).endsWith('m') ? units / 1000 : units;
}
