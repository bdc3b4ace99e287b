import { describe, expect, it } from 'vitest';
import { record, Scene } from '../../../testing/support/actuation-scene.ts';
import { MachineState } from '../../model/index.ts';
import { ACTUATION_LIMITS } from './actuation-limits.ts';

const { Idle, Configuring, Configured, Draining, Failed } = MachineState;

/** Asserts that no request is open and that `withdrawn` requests were withdrawn, each exactly once. */
function expectSettled({ requests }: Scene, withdrawn: number): void {
  expect(requests.ids).toEqual([]);
  expect(requests.needless).toEqual([]);
  expect(requests.withdrawn).toHaveLength(withdrawn);
}

describe('a bootstrap request', () => {
  function asking(): Scene {
    const scene = new Scene().open('c1');
    scene.list([record('m', Idle)]);
    scene.decide('Bootstrap', 'm');
    expect(scene.requests.ids).toHaveLength(1);
    return scene;
  }

  it.each(['', 'cannot'])('given an answer with error "%s", then it is not withdrawn', (error) => {
    const scene = asking();
    scene.blob({ error });
    scene.hand.advance(10 * ACTUATION_LIMITS.bootstrapMs);
    expectSettled(scene, 0);
  });

  it('given that its time is up, with or without a session, then it is withdrawn', () => {
    const scene = asking();
    scene.hand.advance(ACTUATION_LIMITS.bootstrapMs);
    expectSettled(scene, 1);
    expect(scene.effects.find(({ kind }) => kind === 'withdraw-bootstrap')).toMatchObject({ cluster: 'c1' });

    const alone = asking();
    alone.actuation.handle({ kind: 'session-closed', cluster: 'c1', session: 1 });
    alone.hand.advance(ACTUATION_LIMITS.bootstrapMs);
    expectSettled(alone, 1);
  });

  it('given a shutdown, then it is withdrawn', () => {
    const scene = asking();
    scene.actuation.stop();
    expectSettled(scene, 1);
  });

  it('given a new session, then it is sent again', () => {
    const scene = asking();
    scene.open('c1');
    scene.actuation.handle({ kind: 'session-closed', cluster: 'c1', session: 1 });
    expect(scene.requests.ids).toHaveLength(1);
    scene.blob();
    expectSettled(scene, 0);
  });

  it('given a repetition for a stale blob, then it is another request', () => {
    const scene = asking();
    scene.blob({ ttlSeconds: 1 });
    scene.hand.advance(1000);
    scene.fail('configure');
    scene.find(Idle);
    scene.hand.advance(ACTUATION_LIMITS.retry.maxMs);
    expect(scene.requests.ids).toHaveLength(1);
    scene.hand.advance(ACTUATION_LIMITS.bootstrapMs);
    expectSettled(scene, 1);
  });
});

describe('a reclaim instruction', () => {
  function draining(): Scene {
    const scene = new Scene().open('c1');
    scene.list([record('m', Configured)]);
    scene.decide('Reclaim', 'm');
    expect(scene.requests.ids).toHaveLength(1);
    return scene;
  }

  it('given a machine that is Draining, then it stays open, and is withdrawn when the machine has left', () => {
    const scene = draining();
    scene.accept('drain', Draining);
    scene.list([record('m', Draining, { pricePerHour: 2 })]);
    expect(scene.requests.ids).toHaveLength(1);
    scene.list([record('m', Idle)]);
    expectSettled(scene, 1);
    expect(scene.effects.filter(({ kind }) => kind === 'withdraw-reclaim')).toMatchObject([
      { cluster: 'c1' },
    ]);
  });

  it('given an ack, then it is not withdrawn', () => {
    const scene = draining();
    scene.ack();
    scene.accept('drain', Idle);
    expectSettled(scene, 0);
  });

  it.each([
    [
      'the provider refuses',
      (scene: Scene) => {
        scene.answer('drain', { kind: 'permanent', message: 'never' });
        scene.find(Configured);
      },
    ],
    ['it failed', (scene: Scene) => scene.accept('drain', Failed)],
    [
      'the provider does not know the machine',
      (scene: Scene) => {
        scene.fail('drain');
        scene.answer('get', { kind: 'unknown-machine' });
      },
    ],
    [
      'the machine is gone',
      (scene: Scene) => {
        scene.accept('drain', Draining);
        scene.list([], { gone: ['m'] });
        scene.answer('get', { kind: 'unknown-machine' });
      },
    ],
    ['another shard is in charge', (scene: Scene) => scene.answer('drain', { kind: 'fenced' })],
    [
      'another process bound the machine to another cluster',
      (scene: Scene) => {
        scene.accept('drain', Draining);
        scene.list([record('m', Draining, { cluster: 'c2' })]);
      },
    ],
    [
      'it serves again',
      (scene: Scene) => {
        scene.accept('drain', Draining);
        scene.list([record('m', Configured)]);
      },
    ],
    [
      'its time is up',
      (scene: Scene) => {
        scene.accept('drain', Draining);
        scene.hand.advance(ACTUATION_LIMITS.deadlineMs[Draining] + 600_000);
        scene.find(Draining);
      },
    ],
  ])('given that %s, then it is withdrawn', (_, happens) => {
    const scene = draining();
    happens(scene);
    expectSettled(scene, 1);
  });

  it('given repeated drains, then it is sent and withdrawn once', () => {
    const scene = draining();
    for (let i = 1; i < ACTUATION_LIMITS.attempts; i++) {
      scene.fail('drain');
      scene.find(Configured);
      scene.hand.advance(ACTUATION_LIMITS.retry.maxMs);
      expect(scene.requests.ids).toHaveLength(1);
    }
    scene.fail('drain');
    scene.find(Configured);
    expectSettled(scene, 1);
  });

  it('given that it was never sent, then it is not withdrawn', () => {
    const scene = new Scene({ scheduler: { mutationsPerProvider: 1 } });
    scene.list([record('first', Configured), record('second', Configured)]);
    scene.decide('Reclaim', 'first');
    scene.decide('Reclaim', 'second');
    scene.actuation.stop();
    expect(scene.requests.withdrawn).toEqual([]);
    scene.accept('drain', Idle);
    expectSettled(scene, 1);
  });

  it('given a machine that is bound again, then it is not affected', () => {
    const scene = draining();
    scene.accept('drain', Idle);
    scene.decide('Bootstrap', 'm');
    scene.blob();
    scene.accept('configure', Configuring);
    scene.list([record('m', Configured)]);
    expectSettled(scene, 1);
  });
});
