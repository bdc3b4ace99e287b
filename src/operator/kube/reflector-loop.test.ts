import fc from 'fast-check';
import { describe, expect, it, onTestFinished } from 'vitest';
import { ApiServer } from '../../../testing/kube/api-server.ts';
import { FakeApi } from '../../../testing/kube/fake-api.ts';
import { MemoryClient } from '../../../testing/kube/memory-client.ts';
import { Random } from '../../runtime/random.ts';
import { VirtualClock } from '../../runtime/virtual-clock.ts';
import type { KubeClient } from './client.ts';
import { HttpKubeClient } from './http-client.ts';
import type { Pod } from './objects.ts';
import { pathOf, RESOURCES } from './paths.ts';
import type { ObjectConsumer } from './reflector.ts';
import { Reflector, type ReflectorSettings } from './reflector-loop.ts';

const PODS = pathOf(RESOURCES.pods);

/** Keeps what a consumer of the operator would: the objects by name, deletions of a list included. */
class Mirror implements ObjectConsumer<Pod> {
  readonly objects = new Map<string, Pod>();
  readonly calls: string[] = [];
  #listed: Set<string> | null = null;
  failAt: string | null = null;

  listing(): void {
    this.calls.push('listing');
    this.#listed = new Set();
  }

  set(pod: Pod): void {
    const { name } = pod.metadata;
    if (name === this.failAt) throw new Error(`no ${name}`);
    this.#listed?.add(name);
    this.objects.set(name, pod);
  }

  remove(pod: Pod): void {
    this.objects.delete(pod.metadata.name);
  }

  listed(): void {
    this.calls.push('listed');
    for (const name of this.objects.keys()) if (!this.#listed!.has(name)) this.objects.delete(name);
    this.#listed = null;
  }

  get names(): readonly string[] {
    return [...this.objects.keys()].sort();
  }
}

const SETTINGS = { toleranceMs: 30_000, backoff: { baseMs: 500, maxMs: 30_000 } };

function scene(settings: Partial<ReflectorSettings> = {}, seed = 1) {
  const clock = new VirtualClock(1_700_000_000_000);
  const api = new FakeApi({ clock, seed });
  const mirror = new Mirror();
  const client: KubeClient = new MemoryClient(api);
  let changes = 0;
  const reflector = new Reflector<Pod>({
    client,
    path: PODS,
    consumer: mirror,
    random: new Random(seed),
    clock,
    settings: { ...SETTINGS, ...settings },
    changed: () => {
      changes++;
    },
  });
  onTestFinished(() => reflector.stop());
  const create = (name: string) =>
    api.admin('POST', '/api/v1/namespaces/default/pods', { metadata: { name }, spec: { containers: [{}] } });
  const remove = (name: string) => api.admin('DELETE', `/api/v1/namespaces/default/pods/${name}`);
  return { clock, api, mirror, reflector, create, remove, changes: () => changes };
}

describe('a reflector', () => {
  it('given 1,234 pods, then they are listed in pages of 500 and followed', async () => {
    const { clock, api, mirror, reflector, create, remove } = scene();
    for (let i = 0; i < 1234; i++) create(`p${i}`);
    expect(reflector).toMatchObject({ isCurrent: false, hasListed: false });
    reflector.start();
    expect(reflector.problem).toContain('has not been listed');
    await clock.advance(10);
    expect(reflector).toMatchObject({ isCurrent: true, hasListed: true, problem: null });
    expect(reflector.counters).toMatchObject({ lists: 1, pages: 3, watches: 1 });
    expect(mirror.objects.size).toBe(1234);
    create('new');
    remove('p7');
    await clock.advance(10);
    expect(mirror.objects.size).toBe(1234);
    expect(mirror.objects.has('p7')).toBe(false);
    expect(api.counts.get('list pods')).toBe(3);
  });

  it('given a day with watches that end by themselves, then it lists once and stays current', async () => {
    const { clock, mirror, reflector, create, api } = scene();
    reflector.start();
    for (let hour = 0; hour < 24; hour++) {
      create(`p${hour}`);
      await clock.advance(3_600_000);
      expect(reflector.isCurrent).toBe(true);
    }
    expect(mirror.objects.size).toBe(24);
    expect(reflector.counters).toMatchObject({ lists: 1, failures: 0 });
    // Between 5 and 10 minutes each.
    expect(reflector.counters.watches).toBeGreaterThan(24 * 5);
    expect(reflector.counters.watches).toBeLessThan(24 * 13);
    expect(api.watches.size).toBe(1);
  });

  it('given bookmarks on a quiet resource, then a compaction of older versions does not cause a list', async () => {
    const { clock, api, reflector } = scene();
    reflector.start();
    await clock.advance(10);
    for (let i = 0; i < 100; i++)
      api.admin('POST', '/api/v1/namespaces/default/configmaps', { metadata: { name: `c${i}` } });
    const before = api.store.version;
    await clock.advance(61_000);
    expect(reflector.counters.bookmarks).toBe(1);
    api.watches.closeAll();
    await clock.advance(2_000);
    expect(reflector.counters).toMatchObject({ lists: 1, watches: 2 });
    // It resumed from the bookmark: what was before may be gone.
    expect(api.store.since(before)).toEqual([]);
  });

  it.each(['event', 'http'] as const)(
    'given a version that is too old, as %s, then it lists again and removes what is gone',
    async (goneForm) => {
      const { clock, api, mirror, reflector, create, remove } = scene();
      api.faults.settings.goneForm = goneForm;
      create('a');
      create('b');
      reflector.start();
      await clock.advance(10);
      const undo = api.faults.add({ when: ({ verb }) => verb === 'watch', answer: 'reset' });
      api.watches.closeAll();
      await clock.advance(1_100);
      remove('a');
      create('c');
      api.compact();
      undo();
      await clock.advance(35_000);
      expect(mirror.names).toEqual(['b', 'c']);
      expect(reflector.counters).toMatchObject({ lists: 2, expired: 1 });
      expect(reflector.isCurrent).toBe(true);
    },
  );

  it('given 410 in the middle of a list, then the list begins again', async () => {
    const { clock, api, mirror, reflector, create } = scene({ pageSize: 10 });
    for (let i = 0; i < 30; i++) create(`p${i}`);
    api.faults.add({ when: ({ query }) => query.has('continue'), answer: { status: 410 }, times: 1 });
    reflector.start();
    await clock.advance(5_000);
    expect(mirror.calls).toEqual(['listing', 'listing', 'listed']);
    expect(mirror.objects.size).toBe(30);
    expect(reflector.counters).toMatchObject({ lists: 1, expired: 1 });
  });

  it('given a broken connection for an hour, then it is not current after the tolerance and never lists again', async () => {
    const { clock, api, mirror, reflector, create, changes } = scene();
    create('a');
    reflector.start();
    await clock.advance(10);
    const undo = api.faults.add({ when: () => true, answer: 'reset' });
    api.watches.closeAll();
    await clock.advance(29_000);
    expect(reflector.isCurrent).toBe(true);
    const before = changes();
    await clock.advance(3_000);
    expect(reflector.isCurrent).toBe(false);
    expect(reflector.problem).toContain('connection broke');
    expect(changes()).toBeGreaterThan(before);
    await clock.advance(3_600_000);
    create('b');
    undo();
    await clock.advance(31_000);
    expect(reflector).toMatchObject({ isCurrent: true, problem: null });
    expect(mirror.names).toEqual(['a', 'b']);
    expect(reflector.counters.lists).toBe(1);
    // Between 15 and 30 s each.
    expect(reflector.counters.failures).toBeLessThan(300);
  });

  it('given failures and then success, then the backoff begins again', async () => {
    const { clock, api, reflector } = scene();
    reflector.start();
    await clock.advance(10);
    for (let round = 0; round < 2; round++) {
      const undo = api.faults.add({ when: ({ verb }) => verb === 'watch', answer: { status: 500 } });
      api.watches.closeAll();
      await clock.advance(60_000);
      undo();
      await clock.advance(31_000);
      expect(reflector.isCurrent).toBe(true);
      // Long enough to count as a success.
      await clock.advance(61_000);
      const { failures } = reflector.counters;
      const once = api.faults.add({
        when: ({ verb }) => verb === 'watch',
        answer: { status: 500 },
        times: 1,
      });
      api.watches.closeAll();
      await clock.advance(1_000 + 500 + 10);
      expect(reflector.counters.failures).toBe(failures + 1);
      expect(api.watches.size).toBe(1);
      once();
    }
  });

  it.each([
    [403, 'revoked rights'],
    [404, 'a CRD that is removed'],
    [401, 'an expired token'],
  ])('given %i for %s, then it says so, keeps the objects, and recovers', async (status) => {
    const { clock, api, mirror, reflector, create } = scene();
    create('a');
    reflector.start();
    await clock.advance(10);
    const undo = api.faults.add({ when: () => true, answer: { status } });
    api.watches.closeAll();
    await clock.advance(120_000);
    expect(reflector.isCurrent).toBe(false);
    expect(reflector.problem).toContain(String(status));
    expect(mirror.names).toEqual(['a']);
    undo();
    await clock.advance(31_000);
    expect(reflector.isCurrent).toBe(true);
  });

  it('given no rights from the start, then it is not listed until they are granted', async () => {
    const { clock, api, reflector, create } = scene();
    create('a');
    const undo = api.faults.add({ when: () => true, answer: { status: 403 } });
    reflector.start();
    await clock.advance(600_000);
    expect(reflector).toMatchObject({ isCurrent: false, hasListed: false });
    expect(reflector.problem).toContain('403');
    undo();
    await clock.advance(31_000);
    expect(reflector).toMatchObject({ isCurrent: true, hasListed: true });
  });

  it('given a watch that is silent, then it is given up and resumed', async () => {
    const { clock, api, mirror, reflector, create } = scene();
    // No bookmarks, and changes that never arrive: the connection is dead, but neither end has noticed.
    api.faults.settings.bookmarkMs = 0;
    reflector.start();
    await clock.advance(149_000);
    expect(reflector.counters.watches).toBe(1);
    await clock.advance(5_000);
    expect(reflector.counters).toMatchObject({ watches: 2, lists: 1, silent: 1 });
    // A cluster where nothing happens is not a failure, however long it lasts.
    for (let minute = 0; minute < 60; minute++) {
      await clock.advance(60_000);
      expect(reflector.isCurrent).toBe(true);
    }
    expect(reflector.counters).toMatchObject({ failures: 0, lists: 1 });
    create('a');
    await clock.advance(10);
    expect(mirror.names).toEqual(['a']);
  });

  it('given a server that closes each watch at once, then it does not spin', async () => {
    const { clock, api, reflector } = scene();
    reflector.start();
    await clock.advance(10);
    const { opened } = api.watches;
    for (let i = 0; i < 6_000; i++) {
      api.watches.closeAll();
      await clock.advance(10);
    }
    expect(api.watches.opened - opened).toBeLessThan(40);
  });

  it('given a consumer that fails, then it is not current and everything is listed again', async () => {
    const { clock, mirror, reflector, create } = scene();
    reflector.start();
    await clock.advance(10);
    mirror.failAt = 'bad';
    create('bad');
    create('good');
    await clock.advance(40_000);
    expect(reflector.isCurrent).toBe(false);
    expect(reflector.problem).toContain('could not be handled: no bad');
    mirror.failAt = null;
    await clock.advance(31_000);
    expect(reflector.isCurrent).toBe(true);
    expect(mirror.names).toEqual(['bad', 'good']);
  });

  it('given stop and start, then it goes on from the last version', async () => {
    const { clock, api, mirror, reflector, create } = scene();
    reflector.start();
    await clock.advance(10);
    await reflector.stop();
    expect(reflector.isCurrent).toBe(false);
    expect(api.watches.size).toBe(0);
    create('a');
    await clock.advance(1_000);
    expect(mirror.names).toEqual([]);
    reflector.start();
    await clock.advance(10);
    expect(mirror.names).toEqual(['a']);
    expect(reflector.counters.lists).toBe(1);
  });

  it('given any faults, then the mirror equals the cluster once they end', async () => {
    const step = fc.record({
      act: fc.constantFrom('create', 'remove', 'label', 'close', 'compact', 'fail', 'calm', 'wait'),
      which: fc.nat(20),
      ms: fc.nat(90_000),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 60 }), fc.nat(1_000_000), async (steps, seed) => {
        const { clock, api, mirror, reflector, create, remove } = scene({ pageSize: 3 }, seed);
        const { settings } = api.faults;
        settings.closeWatchChance = 0.2;
        settings.cutWatchChance = 0.1;
        settings.goneForm = seed % 2 === 0 ? 'event' : 'http';
        reflector.start();
        const living = new Set<string>();
        for (const { act, which, ms } of steps) {
          const name = `p${which}`;
          if (act === 'create' && !living.has(name)) living.add(create(name) && name);
          if (act === 'remove' && living.delete(name)) remove(name);
          if (act === 'label' && living.has(name)) {
            const patch = { metadata: { labels: { x: String(ms) } } };
            api.admin(
              'PATCH',
              `/api/v1/namespaces/default/pods/${name}`,
              patch,
              'application/merge-patch+json',
            );
          }
          if (act === 'close') api.watches.closeAll();
          if (act === 'compact') api.compact();
          if (act === 'fail') api.faults.add({ when: () => true, answer: { status: 500 }, times: which });
          if (act === 'calm') settings.cutWatchChance = 0;
          if (act === 'wait') await clock.advance(ms);
          else await clock.advance(which);
        }
        api.faults.clear();
        await clock.advance(700_000);
        expect(reflector.isCurrent).toBe(true);
        const truth = api.store.all('/pods').map(({ metadata }) => [metadata.name, metadata.labels]);
        expect(mirror.names.map((name) => [name, mirror.objects.get(name)!.metadata.labels])).toEqual(truth);
        await reflector.stop();
      }),
      { numRuns: 60 },
    );
  });
});

describe('a reflector over HTTP', () => {
  it('given watches closed and cut at random and a restart, then it follows without a second list', async () => {
    const server = await ApiServer.start();
    onTestFinished(() => server.stop());
    const client = new HttpKubeClient({ connection: server.connection(), userAgent: 'test' });
    onTestFinished(() => client.close());
    const mirror = new Mirror();
    const reflector = new Reflector<Pod>({
      client,
      path: PODS,
      consumer: mirror,
      random: new Random(7),
      settings: { resumeJitterMs: 5, backoff: { baseMs: 5, maxMs: 20 }, pageSize: 7 },
    });
    onTestFinished(() => reflector.stop());
    Object.assign(server.api.faults.settings, { closeWatchChance: 0.2, cutWatchChance: 0.1 });
    reflector.start();
    const create = (name: string) =>
      server.api.admin('POST', '/api/v1/namespaces/default/pods', {
        metadata: { name },
        spec: { containers: [{}] },
      });
    for (let i = 0; i < 100; i++) {
      create(`p${i}`);
      if (i === 50) {
        await server.stop();
        await server.start();
      }
      await new Promise((resolve) => setImmediate(resolve));
    }
    await expect.poll(() => mirror.objects.size).toBe(100);
    expect(reflector.counters.lists).toBe(1);
    expect(reflector.counters.watches).toBeGreaterThan(3);
  });
});
