import { describe, expect, it } from 'vitest';
import { NEED, OTHER_NEED, record, some } from '../../../testing/support/actuation-scene.ts';
import { ControllerScene } from '../../../testing/support/controller-scene.ts';
import { stampOf } from '../../../testing/support/fleets.ts';
import { MachineState } from '../../model/index.ts';
import { DEFAULT_CONTROLLER } from '../planning/options.ts';

const { Speculative, Creating, Idle, Configuring, Configured, Deleting } = MachineState;

describe('events, logs and metrics of a controller', () => {
  it('given an action, then its start and end are events with its row, capacity type and zone', () => {
    const scene = new ControllerScene()
      .list([record('m', Speculative)])
      .open('c1')
      .demand('c1', NEED)
      .tick();
    scene.accept('create', Creating);
    expect(scene.metric('action_execute_outcomes_total{kind="Provision",outcome="success"}')).toBe(0);
    scene.list([]).list([record('m', Idle)]);

    expect(scene.events.filter(({ kind }) => kind.startsWith('action-'))).toMatchObject([
      {
        kind: 'action-started',
        action: { kind: 'Provision', outcome: null, capacityType: 'ON_DEMAND', zone: 'za' },
      },
      {
        kind: 'action-ended',
        action: { kind: 'Provision', outcome: 'success', need: { cluster: 'c1', priority: 100 } },
      },
    ]);
    expect(scene.metric('action_execute_outcomes_total{kind="Provision",outcome="success"}')).toBe(1);
    expect(scene.logged('action-failed')).toEqual([]);
  });

  it('given an action that the provider refuses, then it is logged, and counted as configure_error', () => {
    const scene = new ControllerScene()
      .list([record('m', Speculative)])
      .open('c1')
      .demand('c1', NEED)
      .tick();
    scene.answer('create', { kind: 'permanent', message: 'no such flavour' });
    scene.answer('get', { kind: 'found', machine: record('m', Speculative) });

    expect(scene.logged('action-failed')).toMatchObject([
      { action: 'buy', machine: 'm', outcome: 'provider_error', message: 'no such flavour' },
    ]);
    expect(scene.metric('action_execute_outcomes_total{kind="Provision",outcome="configure_error"}')).toBe(1);
  });

  it.each([
    ['stock-out', 'stock_out'],
    ['transient', 'transient'],
  ] as const)('given an action that ends with %s, then it is logged and counted as that', (kind, outcome) => {
    const actuation = { ...DEFAULT_CONTROLLER.actuation, attempts: 1 };
    const scene = new ControllerScene({ actuation })
      .list([record('m', Speculative)])
      .open('c1')
      .demand('c1', NEED)
      .tick();
    scene.answer('create', { kind, message: 'not now' });
    scene.answer('get', { kind: 'found', machine: record('m', Speculative) });

    expect(scene.logged('action-failed')).toMatchObject([{ machine: 'm', outcome }]);
    expect(scene.metric(`action_execute_outcomes_total{kind="Provision",outcome="${outcome}"}`)).toBe(1);
  });

  it.each([
    ['the operator reports as broken', 'drained'],
    ['still block it at its deadline', 'drain-blocked'],
  ] as const)('given a preemption and budgets that %s, then they are logged and counted', (_, what) => {
    const scene = new ControllerScene()
      .list([record('m', Configured, { cluster: 'c1', stamp: stampOf(NEED) })])
      .openWith({ drainReport: true, verdicts: false }, 'c1')
      .open('c2')
      .demand('c1', NEED)
      .demand('c2', OTHER_NEED)
      .tick();
    const { instruction, graceSeconds } = scene.of('instruct-reclaim')[0]!;
    scene.controller.handle({
      ...{ kind: 'node-reported', cluster: 'c1', machine: 'm', what, instruction },
      ...{ nodeName: 'n-1', providerId: '', reason: '', blockedBy: ['pdb/shop/web', 'pod/shop/web-1'] },
    });
    scene.tick(graceSeconds * 1000);
    expect(scene.calls('drain')).toHaveLength(1);
    expect(scene.metric('disruption_budgets_broken_total')).toBe(1);
    expect(scene.logged('drain-forced')).toMatchObject([
      { machine: 'm', brokenBudgets: ['pdb/shop/web'], message: expect.stringContaining('pdb/shop/web') },
    ]);
  });

  it('given a provider that does not answer, then the open breaker is logged, and the closed one after it answers', () => {
    const scene = new ControllerScene().list(some(1));
    for (let i = 0; i < DEFAULT_CONTROLLER.scheduler.breakerFailures; i++) scene.failList();
    expect(scene.logged('list-failed')).toHaveLength(5);
    expect(scene.logged('provider-breaker')).toMatchObject([{ provider: 'p', state: 'open' }]);

    scene.list([]);

    expect(scene.logged('provider-breaker').at(-1)).toMatchObject({ state: 'closed' });
  });

  it('given a provider that denies calls, then it is logged once with its message and counts as down, until it accepts a call', () => {
    const scene = new ControllerScene().list(some(3, Speculative)).open('c1').demand('c1', NEED).tick();
    for (let i = 0; i < 2; i++) {
      const { machine } = scene.answer('create', { kind: 'denied', message: 'who are you' });
      scene.answer('get', { kind: 'found', machine: record(machine, Speculative) });
      while (scene.calls('create').length === 0) scene.tick();
    }
    expect(scene.logged('provider-denies')).toEqual([{ provider: 'p', error: 'who are you' }]);
    expect(scene.controller.ask('status', {}).providers).toMatchObject([
      { breaker: 'closed', denial: 'who are you' },
    ]);
    expect(scene.metric('provider_down{provider="p"}')).toBe(1);

    scene.accept('create', Creating);

    expect(scene.logged('provider-permits')).toEqual([{ provider: 'p' }]);
    expect(scene.controller.ask('status', {}).providers).toMatchObject([{ denial: '' }]);
    expect(scene.metric('provider_down{provider="p"}')).toBe(0);
  });

  it('given a List that lacks most machines, then the quarantine is logged with the command that accepts it, and counted', () => {
    const scene = new ControllerScene().list(some(20)).tick();
    scene.list(
      [],
      'p',
      some(20).map(({ id }) => id),
    );

    expect(scene.logged('list-held')).toMatchObject([
      { known: 20, missing: 20, hint: 'bigfleet accept list p' },
    ]);
    expect(scene.metric('lists_held_total{provider="p"}')).toBe(1);
  });

  it('given a binding and a release, then the binding is timed and the release counted', () => {
    const scene = new ControllerScene()
      .list([record('m', Idle)])
      .open('c1')
      .demand('c1', NEED)
      .tick();
    scene.blobs().accept('configure', Configuring, { stamp: stampOf(NEED) });
    scene.list([]).list([record('m', Configured, { stamp: stampOf(NEED) })]);
    expect(scene.metric('request_bootstrap_seconds_count')).toBe(1);
    expect(scene.metric('configure_phase_seconds_count')).toBe(1);

    scene.list([record('n', Deleting)]).list([record('n', Speculative)]);
    expect(scene.metric('idle_releases_total')).toBe(1);
  });
});
