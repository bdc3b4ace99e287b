import { describe, expect, it } from 'vitest';
import { NEED, OTHER_NEED, record, Scene } from '../../../testing/support/actuation-scene.ts';
import { type ActionKind, COMMANDS, keyOf, type Machine, MachineState } from '../../model/index.ts';
import { needId } from '../planning/queries/need-names.ts';
import { COMMAND_OF } from './action-in-flight.ts';
import { ACTUATION_LIMITS } from './actuation-limits.ts';

const { Speculative, Creating, Idle, Configured, Draining, Deleting, Failed } = MachineState;

/** A scene in which the provider has accepted an action and its machine is in transition. */
function accepted(kind: ActionKind): Scene {
  const command = COMMAND_OF[kind];
  const scene = new Scene().open('c1');
  scene.list([record('m', COMMANDS[command].from)]);
  scene.decide(kind, 'm', kind === 'Preempt' ? { need: keyOf(OTHER_NEED), preemptorPriority: 900_000 } : {});
  if (kind === 'Bootstrap') scene.blob();
  scene.accept(command, COMMANDS[command].to);
  // A reading that began before the call is stale.
  scene.list([]);
  return scene;
}

function seen(scene: Scene, state: MachineState, given: Partial<Machine> = {}): void {
  scene.list([record('m', state, given)]);
  if (scene.calls('get').length > 0) scene.find(state, given);
}

describe('an action that its provider has accepted', () => {
  it.each<[ActionKind]>([['Bootstrap'], ['Provision'], ['Preempt'], ['Reclaim'], ['Delete']])(
    'given %s, then it is pending, and the machine may be read',
    (kind) => {
      const scene = accepted(kind);
      expect(scene.ended).toEqual([]);
      expect(scene.actuation.isBusy('m')).toBe(false);
      expect(scene.actuation.actionOf('m')).toMatchObject({ kind, outcome: null, errorClass: null });
      expect(scene.actuation.counts).toEqual({ queued: 0, evicting: 0, inFlight: 0, accepted: 1 });
    },
  );

  it.each<[ActionKind, MachineState]>([
    ['Provision', Idle],
    ['Bootstrap', Configured],
    ['Preempt', Idle],
    ['Reclaim', Idle],
    ['Delete', Speculative],
  ])('given a %s, when the machine reaches its target state, then it is a success, once', (kind, state) => {
    const scene = accepted(kind);
    seen(scene, state);
    seen(scene, state, { pricePerHour: 9 });
    expect(scene.ended).toMatchObject([{ kind, outcome: 'success', errorClass: null }]);
    expect(scene.actuation.actionOf('m')).toBeNull();
  });

  it.each<[ActionKind]>([['Provision'], ['Bootstrap'], ['Reclaim'], ['Delete']])(
    'given a %s, when the machine fails, then it has failed with the error of the provider',
    (kind) => {
      const scene = accepted(kind);
      seen(scene, Failed, { lastError: 'za is unavailable' });
      expect(scene.ended).toMatchObject([
        { outcome: 'machine_failed', errorClass: 'zone-outage', message: 'za is unavailable' },
      ]);
    },
  );

  it('given a purchase that runs out of stock after its acceptance, then its outcome is a stock-out', () => {
    const scene = accepted('Provision');
    seen(scene, Failed, { lastError: 'insufficient capacity: no big in za' });
    expect(scene.ended).toMatchObject([{ outcome: 'stock_out', errorClass: 'stock-out' }]);
  });

  it.each<[ActionKind, MachineState, string]>([
    ['Provision', Speculative, 'rolled_back'],
    ['Bootstrap', Idle, 'transition_raced_to_idle'],
    ['Reclaim', Configured, 'rolled_back'],
    ['Delete', Idle, 'rolled_back'],
    ['Bootstrap', Deleting, 'superseded'],
  ])('given a %s, when the machine is in state %i instead, then %s', (kind, state, outcome) => {
    const scene = accepted(kind);
    seen(scene, state);
    expect(scene.ended).toMatchObject([{ outcome, errorClass: 'moved-away' }]);
  });

  it('given a bind, when the machine serves another cluster, then it is superseded', () => {
    const scene = accepted('Bootstrap');
    seen(scene, Configured, { cluster: 'c9' });
    expect(scene.ended).toMatchObject([{ outcome: 'superseded' }]);
  });

  it.each<[ActionKind, string, string | null]>([
    ['Provision', 'inventory_miss', 'vanished'],
    ['Reclaim', 'inventory_miss', 'vanished'],
    ['Delete', 'success', null],
  ])('given a %s, when the provider no longer has the machine, then %s', (kind, outcome, errorClass) => {
    const scene = accepted(kind);
    scene.ledger.lose('m');
    expect(scene.ended).toMatchObject([{ outcome, errorClass }]);
  });

  it('given an answer that accepts and fails at once, then it has failed', () => {
    const scene = new Scene();
    scene.list([record('m', Speculative)]);
    scene.decide('Provision', 'm');
    scene.accept('create', Failed, { lastError: 'quota exceeded: 5 hosts' });
    expect(scene.ended).toMatchObject([{ outcome: 'machine_failed', errorClass: 'quota' }]);
  });

  it('given a machine that stays in transit, when its deadline passes, then it has failed by a timeout', () => {
    const scene = accepted('Provision');
    scene.hand.advance(ACTUATION_LIMITS.deadlineMs[Creating]);
    scene.find(Creating);
    expect(scene.ended).toMatchObject([{ outcome: 'machine_failed', errorClass: 'timeout' }]);
  });

  it('given a preemption, then it names the row that gets the machine', () => {
    const scene = accepted('Preempt');
    seen(scene, Idle);
    expect(scene.ended).toMatchObject([
      { need: { id: needId(keyOf(OTHER_NEED)), cluster: 'c2', priority: 900_000 } },
    ]);
  });

  it('given its own row and stamp, then the action on a leaving machine names the row it was bound for', () => {
    const scene = new Scene().open('c1');
    scene.list([record('m', Idle)]);
    scene.decide('Bootstrap', 'm');
    scene.blob();
    scene.accept('configure', Configured);
    scene.decide('Reclaim', 'm');
    scene.accept('drain', Draining);
    expect(scene.actuation.actionOf('m')).toMatchObject({
      from: { id: needId(keyOf(NEED)), cluster: 'c1', priority: 100 },
    });
  });
});

it('given a bind that is refused at once, then nothing is pending', () => {
  const scene = new Scene().open('c1');
  scene.list([record('m', Idle)]);
  scene.decide('Bootstrap', 'm');
  scene.blob({ error: 'no token' });
  expect(scene.ended).toMatchObject([{ outcome: 'blob_error', errorClass: 'cluster' }]);
  expect(scene.actuation.hasAction('m')).toBe(false);
  expect(scene.committed('m')).toMatchObject({ state: Idle });
});
