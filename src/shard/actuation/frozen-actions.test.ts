import { describe, expect, it } from 'vitest';
import { record, Scene, some } from '../../../testing/support/actuation-scene.ts';
import { type ActionKind, COMMANDS, MachineState } from '../../model/index.ts';
import { COMMAND_OF } from './action-in-flight.ts';

const { Speculative, Idle, Configured, Configuring, Draining } = MachineState;
const MINUTE_MS = 60_000;

/** Kinds whose first step is a provider call, with their initial state. */
const CALLED: readonly (readonly [ActionKind, MachineState])[] = [
  ['Provision', Speculative],
  ['Preempt', Configured],
  ['Reclaim', Configured],
  ['Delete', Idle],
];

/** A Bootstrap that failed once and waits for its retry. */
function waiting(ttlSeconds = 0): Scene {
  const scene = new Scene().open('c1');
  scene.list([record('m', Idle)]);
  scene.decide('Bootstrap', 'm');
  scene.blob({ ttlSeconds });
  scene.fail('configure');
  scene.find(Idle);
  return scene;
}

/** Asserts that after a Get which finds the machine Idle, the shard makes no further call and ends the action. */
function expectGivenUp(scene: Scene): void {
  scene.find(Idle);
  scene.hand.advance(MINUTE_MS);
  expect(scene.calls('configure')).toEqual([]);
  expect(scene.committed('m')).toMatchObject({ state: Idle, cluster: '' });
  expect(scene.ended).toMatchObject([{ outcome: 'transient', attempts: 1 }]);
}

describe('a freeze', () => {
  it.each(CALLED)(
    'given a %s that waits and one that is called, then the first is withdrawn and the second completes',
    (kind, state) => {
      const scene = new Scene({ scheduler: { mutationsPerProvider: 1 } });
      scene.list(some(2, state));
      for (const { id } of some(2)) scene.decide(kind, id);
      const command = COMMAND_OF[kind];

      scene.actuation.frozen((action) => action.kind === kind);

      expect(scene.ended).toMatchObject([{ machine: 'm-1', outcome: 'ctx_canceled', attempts: 0 }]);
      expect(scene.committed('m-1')).toMatchObject({ state });
      scene.accept(command, COMMANDS[command].to);
      scene.list([record('m-0', kind === 'Delete' ? Speculative : Idle)]);
      expect(scene.ended[1]).toMatchObject({ machine: 'm-0', outcome: 'success' });
      expect(scene.calls(command)).toEqual([]);
    },
  );

  it('given actions outside its scope, then they continue', () => {
    const scene = new Scene({ scheduler: { mutationsPerProvider: 1 } });
    scene.list(some(2, Configured));
    for (const { id } of some(2)) scene.decide('Reclaim', id);
    scene.actuation.frozen(({ cluster }) => cluster === 'c2');
    scene.accept('drain', Draining);
    expect(scene.calls('drain')).toMatchObject([{ machine: 'm-1' }]);
  });

  it('given a bootstrap request, then it is withdrawn, and no machine joins', () => {
    const scene = new Scene().open('c1');
    scene.list([record('m', Idle)]);
    scene.decide('Bootstrap', 'm');
    scene.actuation.frozen(() => true);
    expect(scene.requests.ids).toEqual([]);
    expect(scene.committed('m')).toMatchObject({ state: Idle, cluster: '' });
  });

  it('given a wait for a retry, then it ends after a read', () => {
    const scene = waiting();
    scene.actuation.frozen(() => true);
    expectGivenUp(scene);
  });

  it('given a wait for the blob of a retry, then it ends after a read', () => {
    const scene = waiting(0.1);
    scene.hand.advance(2000);
    expect(scene.requests.ids).toHaveLength(1);
    scene.actuation.frozen(() => true);
    expect(scene.requests.ids).toEqual([]);
    expectGivenUp(scene);
  });

  it('given a call that succeeded late, then it is adopted', () => {
    const scene = waiting();
    scene.actuation.frozen(() => true);
    scene.find(Configuring, { cluster: 'c1' });
    scene.list([record('m', Configured)]);
    expect(scene.ended).toMatchObject([{ outcome: 'success' }]);
  });

  it('given a call that fails later, then it is not retried', () => {
    const scene = new Scene();
    scene.list([record('m', Configured)]);
    scene.decide('Reclaim', 'm');
    scene.actuation.frozen(() => true);
    scene.fail('drain');
    scene.find(Configured);
    scene.hand.advance(MINUTE_MS);
    expect(scene.calls('drain')).toEqual([]);
    expect(scene.ended).toMatchObject([{ outcome: 'transient', attempts: 1 }]);
    expect(scene.requests.ids).toEqual([]);
  });

  it('given that it was lifted, then it stops nothing', () => {
    const scene = new Scene();
    let isFrozen = true;
    scene.list([record('m', Configured)]);
    scene.actuation.frozen(() => isFrozen);
    isFrozen = false;
    scene.decide('Reclaim', 'm');
    scene.fail('drain');
    scene.find(Configured);
    scene.hand.advance(MINUTE_MS);
    expect(scene.calls('drain')).toHaveLength(1);
  });
});

describe('a quarantine', () => {
  it('given actions that wait, then only those of its machine are withdrawn, and the machine is blocked', () => {
    const scene = new Scene({ scheduler: { mutationsPerProvider: 1 } });
    scene.list(some(3, Speculative));
    for (const { id } of some(3)) scene.decide('Provision', id);

    scene.actuation.quarantine('m-1', 'ada', 'noisy');

    expect(scene.ended).toMatchObject([{ machine: 'm-1', outcome: 'ctx_canceled' }]);
    expect(scene.committed('m-1')).toMatchObject({ state: Speculative, blocked: true });
    scene.accept('create', Idle);
    expect(scene.calls('create')).toMatchObject([{ machine: 'm-2' }]);
  });

  it('given a wait for a retry, then it ends after a read', () => {
    const scene = waiting();
    scene.actuation.quarantine('m', 'ada', 'noisy');
    expectGivenUp(scene);
    expect(scene.actuation.blockOf('m')).toMatchObject({ why: 'noisy' });
  });
});
