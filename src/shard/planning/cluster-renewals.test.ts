// Renewal through a whole shard: an old fleet becomes cheaper, and everything that must stop it does.

import { describe, expect, it } from 'vitest';
import { record } from '../../../testing/support/actuation-scene.ts';
import { ControllerScene, SETTLED_MS } from '../../../testing/support/controller-scene.ts';
import { aNeed, resources, stampOf } from '../../../testing/support/fleets.ts';
import { CapacityType, type Machine, MachineState } from '../../model/index.ts';
import { MemoryControllerStore } from '../storage/controller-store-memory.ts';
import type { ActionView } from '../views.ts';
import { type ControllerOptions, DEFAULT_CONTROLLER } from './options.ts';

const { Configured, Configuring, Creating, Draining, Idle, Speculative } = MachineState;
const MINUTE_MS = 60_000;
/** Two checks agree after ten minutes; the third minute covers the start. */
const BEGUN_MS = 12 * MINUTE_MS;
const SMALL = ['b1', 'b2', 'b3', 'b4'];
const ROW = aNeed({ aggregate: resources({ cpu: 8 }), minUnit: resources({ cpu: 1 }) });

function small(id: string, state: MachineState = Configured): Machine {
  return record(id, state, {
    resources: resources({ cpu: 2 }),
    allocatable: new Map(),
    pricePerHour: 1,
    capacityType: CapacityType.OnDemand,
    ...(state === Configured || state === Draining ? { stamp: stampOf(ROW) } : { cluster: '' }),
  });
}

function large(id: string, state: MachineState): Machine {
  return record(id, state, {
    resources: resources({ cpu: 8 }),
    allocatable: new Map(),
    pricePerHour: 2,
    capacityType: CapacityType.OnDemand,
    ...(state === Configured || state === Configuring ? { stamp: stampOf(ROW) } : { cluster: '' }),
  });
}

/** A shard whose cluster has four machines of 2 cpu for $1 each, where one of 8 cpu for $2 would do. */
function oldFleet(options: Partial<ControllerOptions> = {}, store?: MemoryControllerStore): ControllerScene {
  const scene = new ControllerScene(options, store).open('c1');
  scene.list([...SMALL.map((id) => small(id)), large('s', Speculative)]);
  return scene.tick(SETTLED_MS).demand('c1', ROW).tick(2000);
}

function isReclaim({ kind }: ActionView): boolean {
  return kind === 'Reclaim';
}

function renewals(scene: ControllerScene): Readonly<Record<string, number>> {
  const outcomes = ['begun', 'finished', 'expired', 'stopped'];
  return Object.fromEntries(
    outcomes.map((outcome) => [outcome, scene.metric(`renewals_total{outcome="${outcome}"}`)]),
  );
}

describe('a cluster on machines that cheaper ones could replace', () => {
  it('given a shard with standard rules, then it buys the cheaper machine, then gives the others back', () => {
    const scene = oldFleet().tick(BEGUN_MS);
    expect(scene.logged('renewal-begun')).toMatchObject([
      { cluster: 'c1', count: 4, machines: SMALL, savesPerHour: 2 },
    ]);
    expect(scene.machine('b1')?.renewal).toMatchObject({ machines: 4, savesPerHour: 2 });
    expect(scene.machine('s')?.renewal).toBeNull();
    expect(scene.metric('renewing_machines')).toBe(4);
    expect(scene.calls('create').map(({ machine }) => machine)).toEqual(['s']);

    // The old machines stay beyond their hold until the new one is Configured.
    scene.accept('create', Creating, large('s', Creating)).tick(5 * MINUTE_MS);
    scene
      .list([])
      .list([large('s', Idle)])
      .tick(2000)
      .blobs()
      .tick(2000);
    scene.accept('configure', Configuring, large('s', Configuring)).tick(6 * MINUTE_MS);
    expect(scene.of('instruct-reclaim')).toEqual([]);
    scene
      .list([])
      .list([large('s', Configured)])
      .tick(MINUTE_MS);
    expect(scene.of('instruct-reclaim').map(({ machine }) => machine)).toEqual(SMALL);
    const reclaim = scene.controller.ask('actions', { limit: 10 }).actions.items.find(isReclaim)!;
    expect(reclaim.leaving).toEqual({ cause: 'replaced', domain: null, goesTo: null });

    for (const id of SMALL) scene.accept('drain', Draining, small(id, Draining));
    scene
      .list([])
      .list(SMALL.map((id) => small(id, Idle)))
      .tick(12 * MINUTE_MS);
    expect(scene.calls('delete').map(({ machine }) => machine)).toEqual(SMALL);
    expect(renewals(scene)).toEqual({ begun: 1, finished: 1, expired: 0, stopped: 0 });
    expect(scene.metric('renewing_machines')).toBe(0);
    expect(scene.metric('shortfalls')).toBe(0);
  });
});

describe('a renewal', () => {
  it('given machines that do not leave, then it ends after the hold and half an hour, and says so', () => {
    const scene = oldFleet().tick(BEGUN_MS);
    const { sinceMs, untilMs, sentence } = scene.machine('b1')!.renewal!;
    expect(untilMs - sinceMs).toBe(40 * MINUTE_MS);
    expect(sentence).toMatch(
      /^to be replaced by cheaper machines for \d+ (s|min), saves about \$2\.00 an hour with 3 others, for another \d+ min at most$/,
    );
    scene.tick(untilMs - scene.hand.now() - 2000);
    expect(scene.machine('b1')?.renewal).not.toBeNull();
    scene.tick(4000);
    expect(scene.machine('b1')?.renewal).toBeNull();
    expect(scene.logged('renewal-ended')).toMatchObject([{ cluster: 'c1', outcome: 'expired', kept: 4 }]);
    expect(renewals(scene)).toEqual({ begun: 1, finished: 0, expired: 1, stopped: 0 });
  });

  it('given a freeze of its cluster, then it ends at once, and none begins until the freeze is lifted', () => {
    const scene = oldFleet().tick(BEGUN_MS).freeze('c1').tick(2000);
    expect(scene.logged('renewal-ended')).toMatchObject([{ cluster: 'c1', outcome: 'stopped', kept: 4 }]);
    expect(scene.machine('b1')?.renewal).toBeNull();
    scene.tick(60 * MINUTE_MS);
    expect(renewals(scene)).toMatchObject({ begun: 1 });
    scene.unfreeze('c1').tick(BEGUN_MS);
    expect(renewals(scene)).toMatchObject({ begun: 2 });
  });

  it('given a restart, then its marks are forgotten and the machines stay', () => {
    const store = new MemoryControllerStore();
    const scene = oldFleet({}, store).tick(BEGUN_MS);
    expect(scene.machine('b1')?.renewal).not.toBeNull();
    const next = oldFleet({}, store).tick(5000);
    expect(next.machine('b1')?.renewal).toBeNull();
    expect(next.of('instruct-reclaim')).toEqual([]);
  });
});

describe('what keeps a renewal from beginning', () => {
  const { economy, guardrails, renewal, spending } = DEFAULT_CONTROLLER;
  it.each<[string, Partial<ControllerOptions>]>([
    ['renewal off', { renewal: { ...renewal, isOn: false } }],
    ['sharing off', { economy: { ...economy, sharing: 'off' } }],
    ['no reclaim hold', { economy: { ...economy, reclaimHoldSeconds: 0 } }],
    ['a dry run', { guardrails: { ...guardrails, dryRun: true } }],
    ['a ceiling that the old machines reach', { spending: { ...spending, maxPurchasedPerHour: 4 } }],
  ])('given %s, then none begins', (_, options) => {
    const scene = oldFleet(options).tick(2 * BEGUN_MS);
    expect(renewals(scene)).toMatchObject({ begun: 0 });
    expect(scene.calls('create')).toEqual([]);
  });

  it.each(['Provision', 'Bootstrap', 'Reclaim', 'Delete'] as const)(
    'given a freeze of all actions %s, then none begins',
    (action) => {
      const scene = oldFleet();
      scene.order({ kind: 'freeze', scope: { cluster: null, action }, who: 'ada', why: 'a test' });
      expect(renewals(scene.tick(2 * BEGUN_MS))).toMatchObject({ begun: 0 });
    },
  );

  it.each([
    [6.5, 0],
    [9, 1],
  ])(
    'given a ceiling of $%d and a Need of another cluster that wants a machine for $3, then %i begin',
    (limit, begun) => {
      const spending = { ...DEFAULT_CONTROLLER.spending, maxPurchasedPerHour: limit };
      const size = { aggregate: resources({ cpu: 32 }), minUnit: resources({ cpu: 32 }) };
      const scene = oldFleet({ spending }).open('c2');
      scene.demand('c2', aNeed({ cluster: 'c2', ...size }));
      // A renewal would cost $2 at first, which is within the ceiling of $6.50.
      scene.list([{ ...large('x', Speculative), resources: resources({ cpu: 32 }), pricePerHour: 3 }]);
      expect(renewals(scene.tick(BEGUN_MS))).toMatchObject({ begun });
    },
  );
});
