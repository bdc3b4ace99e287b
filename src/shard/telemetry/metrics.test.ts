import { describe, expect, it } from 'vitest';
import { aMachine, aNeed, anInput, resources, stampOf } from '../../../testing/support/fleets.ts';
import { anAction, anUnmetVerdict, someReclaims } from '../../../testing/support/plans.ts';
import { Engine, EngineMetrics } from '../../engine/index.ts';
import { Fleet, fleetOf } from '../../fleet/index.ts';
import { CapacityType, MachineState } from '../../model/index.ts';
import { Freezes } from '../planning/freezes.ts';
import { DEFAULT_GUARDRAILS, Guardrails } from '../planning/guardrails.ts';
import { MachinesOnHold } from '../planning/machines-on-hold.ts';
import { ClusterCosts } from '../planning/queries/cluster-costs.ts';
import { Shortfalls } from '../planning/shortfalls.ts';
import { MemoryFreezes } from '../storage/controller-store-memory.ts';
import { DemandTally } from './demand-tally.ts';
import { SupplyTally } from './machine-tally.ts';
import { ControllerMetrics, SessionMetrics } from './metrics.ts';
import { OwnedPrices } from './owned-prices.ts';

function controllerMetrics(fleet = new Fleet(), engine = new EngineMetrics()): ControllerMetrics {
  return new ControllerMetrics(engine, fleet, {
    demandTally: new DemandTally(fleet),
    supplyTally: new SupplyTally(fleet),
    clusterCosts: new ClusterCosts(fleet, new OwnedPrices(new Map()), new MachinesOnHold(fleet)),
  });
}

/** Samples other than 0, by the text before the value. */
function valuesOf(text: string): Map<string, number> {
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  const entries = lines.map((line): [string, number] => {
    const end = line.lastIndexOf(' ');
    return [line.slice(0, end).replace('bigfleet_shard_', ''), Number(line.slice(end + 1))];
  });
  return new Map(entries.filter(([, value]) => value !== 0));
}

const NAMES = [
  'cycle_duration_seconds histogram',
  'cycle_phase_duration_seconds histogram',
  'provisioning_latency_seconds histogram',
  'configure_phase_seconds histogram',
  'request_bootstrap_seconds histogram',
  'drain_phase_seconds histogram',
  'inventory_machines gauge',
  'demand_machines gauge',
  'shortfalls gauge',
  'shortfalls_aged gauge',
  'shortfalls_by_priority gauge',
  'shortfalls_spend_limit gauge',
  'actions_total counter',
  'action_execute_outcomes_total counter',
  'actions_deferred_total counter',
  'actions_dropped_total counter',
  'actions_deduped_total counter',
  'action_queue_depth gauge',
  'execute_inflight gauge',
  'reclaims_capped_total counter',
  'rollup_quarantined gauge',
  'actions_suppressed_total counter',
  'actions_dryrun_total counter',
  'actuation_paused gauge',
  'idle_releases_total counter',
  'machines_rejected_total counter',
  'rollups_rejected_total counter',
  'active_sessions gauge',
  'session_lifecycle_total counter',
  'session_identity_rejected_total counter',
  'phase1_occ_proposals_total counter',
  'phase1_occ_displacements_total counter',
  'phase1_occ_retries_exhausted_total counter',
  'phase1_occ_conflict_fraction gauge',
  'phase1_occ_retries_total counter',
  'phase1_proposal_duration_seconds histogram',
];

describe('metrics of a shard', () => {
  const text = controllerMetrics().text() + new SessionMetrics().text();

  it.each(NAMES)('include %s', (name) => {
    expect(text).toContain(`# TYPE bigfleet_shard_${name}\n`);
  });

  it('have unique names, and only lines of the exposition format', () => {
    const types = text.split('\n').filter((line) => line.startsWith('# TYPE'));
    const line = /^(# (HELP|TYPE) \w+ .+|\w+(\{(\w+="[^"]*",?)+\})? (-?[\d.e+-]+|\+Inf))$/;

    expect(new Set(types).size).toBe(types.length);
    expect(text.split('\n').filter((each) => each !== '' && !line.test(each))).toEqual([]);
  });

  it('given admitted actions, then they are counted by kind as begun, capped, deferred, suppressed or dry run', () => {
    const metrics = controllerMetrics();
    const freezes = new Freezes(new MemoryFreezes());
    freezes.add({ cluster: null, action: 'Delete' }, 'ada', 'x', 1);
    const actions = [...someReclaims('c1', 3), anAction('Preempt', 'p'), anAction('Delete', 'd')];
    const view = { nowMs: 0, configuredOf: () => 40, freezes, isProtected: () => false };
    const admit = (options: Partial<typeof DEFAULT_GUARDRAILS>): void =>
      metrics.admitted(new Guardrails({ ...DEFAULT_GUARDRAILS, ...options }).admit(actions, view));

    admit({});
    admit({ maxActionsPerCycle: 1 });
    admit({ dryRun: true });
    metrics.freezes(1, false);

    const values = valuesOf(metrics.text());
    expect(values.get('actions_total{kind="Reclaim"}')).toBe(2 + 1);
    expect(values.get('actions_total{kind="Preempt"}')).toBe(2);
    expect(values.get('reclaims_capped_total')).toBe(1);
    expect(values.get('actions_deferred_total')).toBe(2);
    expect(values.get('actions_suppressed_total{kind="Delete"}')).toBe(3);
    expect(values.get('actions_dryrun_total{kind="Reclaim"}')).toBe(3);
    expect(values.get('freezes')).toBe(1);
    expect(values.get('actuation_paused')).toBeUndefined();
  });

  it('given shortfalls, then they are exposed by age and class of priority', () => {
    const metrics = controllerMetrics();
    const need = aNeed({ priority: 1000 });
    const shortfalls = new Shortfalls();
    for (let i = 0; i < 12; i++) {
      shortfalls.observe([anUnmetVerdict(need, 'priority-starved')], () => need.profile);
    }

    metrics.shortfalls(shortfalls.gauges);

    const values = valuesOf(metrics.text());
    expect(values.get('shortfalls')).toBe(1);
    expect(values.get('shortfalls_escalated')).toBe(1);
    expect(values.get('shortfalls_aged{bucket="10-59"}')).toBe(1);
    expect(values.get('shortfalls_by_priority{priority_class="service"}')).toBe(1);
  });

  it('given a fleet, then machines and demand are exposed as of the scrape', () => {
    const stamp = { ...stampOf(aNeed()), interruptionPenaltyDollars: 8 };
    const spot = { capacityType: CapacityType.Spot };
    const fleet = fleetOf(
      anInput(
        [
          aMachine('a', MachineState.Configured, { stamp }),
          aMachine('b', MachineState.Speculative, spot),
          aMachine('c', MachineState.Speculative, spot),
        ],
        [aNeed({ interruptionBucket: 3, aggregate: resources({ cpu: 9 }), minUnit: resources({ cpu: 4 }) })],
      ),
    );
    const metrics = controllerMetrics(fleet);
    const machines = (labels: string): number | undefined =>
      valuesOf(metrics.text()).get(`inventory_machines{${labels}}`);
    const speculative = 'state="Speculative",capacity_type="Spot",interruption_penalty_bucket="unspecified"';

    expect(machines('state="Configured",capacity_type="OnDemand",interruption_penalty_bucket="8"')).toBe(1);
    expect(machines(speculative)).toBe(2);
    expect(valuesOf(metrics.text()).get('demand_machines{interruption_penalty_bucket="1"}')).toBe(3);

    fleet.machines.remove('b');
    fleet.machines.remove('c');

    expect(metrics.text()).not.toContain(speculative);
  });

  it('given an engine, then its times are exposed in seconds, and its counts', () => {
    const fleet = fleetOf(anInput([aMachine('a', MachineState.Idle)], [aNeed()]));
    let ms = 0;
    const engine = new Engine(fleet, { clock: () => (ms += 500) });
    engine.decide(1, anInput([], []).options);

    const values = valuesOf(controllerMetrics(fleet, engine.metrics).text());

    expect(values.get('decide_duration_seconds_count')).toBe(1);
    expect(values.get('decide_duration_seconds_sum')).toBe(engine.metrics.cycleMs.sum / 1000);
    expect(values.get('phase_duration_seconds_bucket{phase="credit",le="+Inf"}')).toBe(1);
    expect(values.get('phase1_rows_total{path="score"}')).toBe(1);
    expect(values.get('phase1_lanes')).toBe(1);
  });

  it('given a quarantined cluster, then its series exists for as long as the quarantine lasts', () => {
    const metrics = new SessionMetrics();
    metrics.quarantined('c1', true);
    expect(valuesOf(metrics.text()).get('rollup_quarantined{cluster="c1"}')).toBe(1);

    metrics.quarantined('c1', false);

    expect(metrics.text()).not.toContain('cluster="c1"');
  });

  it('given more providers than series, then the series "other" has the worst of the rest; absent providers have none', () => {
    const metrics = controllerMetrics();
    const failing = (name: string, count: number) => {
      const health = {
        state: 'failing',
        machines: 10,
        failing: count,
        failedPurchases: 0,
        zones: [],
      } as const;
      return { name, health };
    };
    const many = Array.from({ length: 64 }, (_, i) => failing(`p${i}`, 10));
    metrics.health([...many, failing('x', 5), failing('y', 1)]);
    expect(valuesOf(metrics.text()).get('provider_failing_share{provider="other"}')).toBe(0.5);

    metrics.health([failing('p0', 10)]);
    const shares = [...valuesOf(metrics.text())].filter(([name]) =>
      name.startsWith('provider_failing_share'),
    );
    expect(shares).toEqual([['provider_failing_share{provider="p0"}', 1]]);
  });

  it('have short bucket bounds', () => {
    const bounds = [...text.matchAll(/cycle_duration_seconds_bucket\{le="([^"]+)"\}/g)].map(([, le]) => le);

    expect(bounds[0]).toBe('0.001');
    expect(bounds.at(-2)).toBe('16.384');
    expect(bounds.every((le) => le!.length <= 6)).toBe(true);
  });
});
