import { describe, expect, it } from 'vitest';
import { FakeApi } from '../../../testing/kube/fake-api.ts';
import { MemoryClient } from '../../../testing/kube/memory-client.ts';
import { VirtualClock } from '../../runtime/virtual-clock.ts';
import { type EventLimits, EventRecorder } from './events.ts';

function scene(limits: Partial<EventLimits> = {}) {
  const clock = new VirtualClock(1_700_000_000_000);
  const api = new FakeApi({ clock });
  const client = new MemoryClient(api);
  const recorder = new EventRecorder({
    client,
    controller: 'bigfleet.lucy.sh/operator',
    instance: 'x',
    clock,
    limits,
  });
  const record = (name: string, note: string, reason = 'Waiting') =>
    recorder.record({
      regarding: { apiVersion: 'v1', kind: 'Pod', namespace: 'default', name, uid: `uid-${name}` },
      type: 'Normal',
      reason,
      action: 'Wait',
      note,
    });
  const notes = () => api.store.all('events').map((event) => String(event['note']));
  return { clock, api, recorder, record, notes };
}

describe('an Event recorder', () => {
  it('given the same note again, then it is written once; a change is written', async () => {
    const { clock, recorder, record, notes } = scene();
    record('a', 'for 2 machines');
    record('a', 'for 2 machines');
    await clock.advance(100);
    for (let i = 0; i < 50; i++) record('a', 'for 2 machines');
    record('a', 'for 1 machine');
    await clock.advance(100);
    expect(notes().toSorted()).toEqual(['for 1 machine', 'for 2 machines']);
    expect(recorder.counters).toMatchObject({ written: 2, unchanged: 50 });
  });

  it('given a note that lasts, then it is repeated as a series before the API server forgets it', async () => {
    const { clock, api, record } = scene();
    for (let minute = 0; minute < 60; minute++) {
      record('a', 'for 2 machines');
      await clock.advance(60_000);
    }
    expect(api.store.all('events')).toMatchObject([{ series: { count: 3 } }]);
    // The API server has deleted it meanwhile: it is created again.
    api.store.remove('events', api.store.all('events')[0]!);
    await clock.advance(1_200_000);
    record('a', 'for 2 machines');
    await clock.advance(100);
    expect(api.store.all('events').length).toBe(1);
  });

  it('given 1,000 pods at once, then the rate is kept and each pod gets its latest note', async () => {
    const { clock, recorder, record, notes } = scene({ qps: 10, burst: 20 });
    for (let i = 0; i < 1_000; i++) record(`p${i}`, 'old');
    for (let i = 0; i < 1_000; i++) record(`p${i}`, 'new');
    await clock.advance(10_000);
    expect(recorder.counters.written).toBeGreaterThan(110);
    expect(recorder.counters.written).toBeLessThan(130);
    await clock.advance(100_000);
    expect(notes().filter((note) => note === 'new').length).toBe(1_000);
    expect(notes().length).toBeLessThanOrEqual(1_020);
  });

  it('given more than may wait, then the oldest are dropped and counted', async () => {
    const { clock, recorder, record } = scene({ qps: 1, burst: 1, maxWaiting: 10 });
    for (let i = 0; i < 100; i++) record(`p${i}`, 'x');
    await clock.advance(60_000);
    expect(recorder.counters.written + recorder.counters.dropped).toBe(100);
    expect(recorder.counters.written).toBeLessThanOrEqual(11);
  });

  it('given missing rights, then the problem is named, and the next change is tried again', async () => {
    const { clock, api, recorder, record, notes } = scene();
    const undo = api.faults.add({ when: ({ resource }) => resource === 'events', answer: { status: 403 } });
    record('a', 'one');
    await clock.advance(100);
    expect(recorder.problem).toContain('403');
    expect(recorder.counters).toMatchObject({ failed: 1, written: 0 });
    undo();
    record('a', 'one');
    await clock.advance(100);
    expect(notes()).toEqual(['one']);
    expect(recorder.problem).toBeNull();
  });

  it('given a long note and a long name, then both are cut at the limits of the API server', async () => {
    const { clock, record, notes } = scene();
    record('n'.repeat(253), 'x'.repeat(5_000));
    await clock.advance(100);
    expect(notes()[0]?.length).toBe(1_024);
  });

  it('given a subject that is gone, then what waits is not written', async () => {
    const { clock, recorder, record, notes } = scene({ qps: 1, burst: 1 });
    record('a', 'x');
    record('b', 'x');
    recorder.forget(
      { apiVersion: 'v1', kind: 'Pod', namespace: 'default', name: 'b', uid: 'uid-b' },
      'Waiting',
    );
    await clock.advance(10_000);
    expect(notes().length).toBe(1);
    recorder.stop();
    record('c', 'x');
    await clock.advance(10_000);
    expect(notes().length).toBe(1);
  });
});
