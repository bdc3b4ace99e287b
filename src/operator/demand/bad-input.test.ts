// Objects that cannot be counted or read, and switches with odd values: what counts then, and what is said about it.

import { beforeEach, describe, expect, it } from 'vitest';
import { DemandScene, pod, ZONE } from '../../../testing/support/demand-scene.ts';
import type { CapacityRequest, Pod } from '../kube/objects.ts';
import type { DemandOptions } from './pod-demand.ts';

let scene: DemandScene;
let clock: DemandScene['clock'];
let demand: DemandScene['demand'];
let logged: DemandScene['logged'];
const list: DemandScene['list'] = (kind, ...objects) => scene.list(kind, ...objects);
const built: DemandScene['built'] = (...given) => scene.built(...given);

function begin(options: Partial<DemandOptions> = {}): void {
  scene = new DemandScene(options).listAll();
  ({ clock, demand, logged } = scene);
}

beforeEach(() => begin());

describe('objects that cannot be counted or read', () => {
  it('given an absurd request, a missing claim or an unreadable pod, then the others count and the reason is known', () => {
    const containers = [{ name: 'main', resources: { requests: { cpu: '99999999999999999' } } }];
    const volumes = [{ name: 'v', persistentVolumeClaim: { claimName: 'gone' } }];
    list('pods', pod('absurd', { containers }), pod('claims', { volumes }), pod('good'));
    demand.consumers.pods.set({ metadata: { name: 'broken', namespace: 'team' } } as Pod);
    demand.consumers.pods.set({} as Pod);
    expect(built().amounts).toEqual([{ sum: { cpu: '1' }, unit: { cpu: '1' } }]);
    expect([...demand.uncounted()].map(({ name, problem }) => [name, problem])).toEqual([
      ['absurd', expect.stringContaining('too large')],
      ['claims', 'It waits for the claim team/gone, which does not exist.'],
    ]);
    expect(demand.counts.unreadable).toBe(2);
    demand.consumers.persistentvolumeclaims.set({ metadata: { name: 'gone', namespace: 'team' }, spec: {} });
    expect(built().amounts[0]?.sum).toEqual({ cpu: '2' });
  });

  it('given an event of a pod that cannot be read, then what was known of it stays', () => {
    list('pods', pod('a'));
    demand.consumers.pods.set({ ...pod('a'), spec: null } as unknown as Pod);
    expect(built().rows).toBe(1);
    expect([...demand.uncounted()]).toMatchObject([
      { kind: 'Pod', name: 'a', isUnreadable: true, problem: expect.stringContaining('has no spec') },
    ]);
    demand.consumers.pods.set(pod('a'));
    expect([...demand.uncounted()]).toEqual([]);
    // There is one reason for each object, also where the last version that could be read has a problem of its own.
    const volumes = [{ name: 'v', persistentVolumeClaim: { claimName: 'gone' } }];
    demand.consumers.pods.set(pod('a', { volumes }));
    demand.consumers.pods.set({ ...pod('a'), spec: null } as unknown as Pod);
    expect([...demand.uncounted()]).toMatchObject([{ name: 'a', isUnreadable: true }]);
  });

  it.each([
    ['no resources', { priority: 1 }, 'spec.resources'],
    ['amounts that are lists', { priority: 1, resources: { cpu: [] } }, 'spec.resources.cpu'],
    ['a priority that is a text', { priority: 'high', resources: { cpu: '1' } }, 'spec.priority'],
    ['requirements by key', { resources: { cpu: '1' }, requirements: { [ZONE]: 'a' } }, 'spec.requirements'],
    ['no spec', undefined, 'Its spec is'],
  ])(
    'given a CapacityRequest with %s, then its last good demand stays, and it says what to do',
    (_, spec, what) => {
      const request = (name: string, each: unknown) =>
        ({ metadata: { name, namespace: 'team', uid: `uid-${name}` }, spec: each }) as CapacityRequest;
      list('capacityrequests', request('a', { priority: 0, resources: { cpu: '2' } }));
      demand.consumers.capacityrequests.set(request('a', spec));
      demand.consumers.capacityrequests.set(request('b', spec));
      expect(built().amounts).toEqual([{ sum: { cpu: '2' }, unit: { cpu: '2' } }]);
      const said = [...demand.uncounted()];
      expect(said.map(({ kind, name, isUnreadable }) => [kind, name, isUnreadable])).toEqual([
        ['CapacityRequest', 'a', true],
        ['CapacityRequest', 'b', true],
      ]);
      for (const { problem } of said) {
        expect(problem).toContain(what);
        expect(problem).toContain('install the CRD');
      }
      expect(said.map(({ problem }) => problem.includes('as it was before'))).toEqual([true, false]);
      expect(logged).toEqual([]);
      // Also where it is listed again as it is.
      list('capacityrequests', request('a', spec));
      expect(built().amounts).toEqual([{ sum: { cpu: '2' }, unit: { cpu: '2' } }]);
      expect([...demand.uncounted()].map(({ name }) => name)).toEqual(['a']);
      // A list that has only one of them, and that one again as it should be.
      list('capacityrequests', request('a', { priority: 0, resources: { cpu: '3' } }));
      expect(built().amounts[0]?.sum).toEqual({ cpu: '3' });
      expect([...demand.uncounted()]).toEqual([]);
    },
  );

  it('given errors that no object should cause, then they are logged, one line per resource and ten seconds', async () => {
    const broken = (name: string) =>
      ({ metadata: { name, uid: name, namespace: 'team' }, spec: { containers: [null] } }) as unknown as Pod;
    for (let i = 0; i < 100; i++) demand.consumers.pods.set(broken(`p${i}`));
    const volume = {
      metadata: { name: 'v' },
      spec: { nodeAffinity: { required: { nodeSelectorTerms: 7 } } },
    };
    demand.consumers.persistentvolumes.set(volume as never);
    demand.consumers.nodes.set({} as never);
    expect(logged.filter(({ resource }) => resource === 'Pod')).toMatchObject([
      { level: 'error', event: 'consumer-failed', name: 'p0', omitted: 0, error: expect.any(TypeError) },
    ]);
    expect(logged.map(({ resource }) => resource)).toContain('nodes');
    await clock.advance(10_000);
    demand.consumers.pods.set(broken('p100'));
    expect(logged.at(-1)).toMatchObject({ resource: 'Pod', name: 'p100', omitted: 99 });
    expect([...demand.uncounted()]).toHaveLength(101);
    expect([...demand.uncounted()][0]?.problem).toContain('log of the operator');
  });
});

describe('switches on pods and namespaces', () => {
  const IGNORE = 'bigfleet.lucy.sh/ignore';
  const OPT_IN = 'bigfleet.lucy.sh/opt-in';
  const ON = ['true', 'True', 'yes', 'on', '1', ''];
  const OFF = ['false', 'No', 'off', '0'];
  const UNKNOWN = ['maybe', 'enabled', 'true!', '2'];
  const namespace = (labels: Record<string, string>) =>
    list('namespaces', { metadata: { name: 'team', labels } });
  const remarks = () => [...demand.pendingPods()].flatMap((each) => each.remarks).join(' ');
  const reasons = () => [...demand.uncounted()].map(({ problem }) => problem).join(' ');

  it.each([
    ...ON.map((value) => [value, 0, false] as const),
    ...OFF.map((value) => [value, 1, false] as const),
    ...UNKNOWN.map((value) => [value, 1, true] as const),
  ])('given ignore with the value "%s", then %i rows count, and a remark: %s', (value, rows, isRemarked) => {
    for (const metadata of [{ labels: { [IGNORE]: value } }, { annotations: { [IGNORE]: value } }]) {
      list('pods', pod('a', {}, metadata));
      expect([built().rows, remarks().includes(`"${value}" of ${IGNORE}`)]).toEqual([rows, isRemarked]);
    }
    namespace({ [IGNORE]: value });
    list('pods', pod('a'));
    expect([built().rows, remarks().includes(`"${value}" of ${IGNORE}`)]).toEqual([rows, isRemarked]);
  });

  it.each([
    ...ON.map((value) => [value, 1, false] as const),
    ...OFF.map((value) => [value, 0, false] as const),
    ...UNKNOWN.map((value) => [value, 0, true] as const),
  ])(
    'given opt-in with the value "%s", then %i rows count in that mode, and a remark: %s',
    (value, rows, isRemarked) => {
      begin({ mode: 'opt-in' });
      list('pods', pod('a', {}, { labels: { [OPT_IN]: value } }));
      expect([built().rows, reasons().includes(`"${value}" of ${OPT_IN}`)]).toEqual([rows, isRemarked]);
      list('pods', pod('a'));
      expect([built().rows, reasons()]).toEqual([0, '']);
      namespace({ [OPT_IN]: value });
      expect([built().rows, reasons().includes(`"${value}" of ${OPT_IN}`)]).toEqual([rows, isRemarked]);
      // It does not matter where the pod is left alone on purpose.
      list('pods', pod('a', {}, { labels: { [IGNORE]: 'true' } }));
      expect([built().rows, reasons()]).toEqual([0, '']);
    },
  );

  it.each([
    ...ON.map((value) => [value, 1, false] as const),
    ...OFF.map((value) => [value, 0, false] as const),
    ...UNKNOWN.map((value) => [value, 1, true] as const),
  ])(
    'given do-not-disrupt with the value "%s", then it protects %i pods, and a remark: %s',
    (value, pods, isRemarked) => {
      for (const key of ['bigfleet.lucy.sh/do-not-disrupt', 'karpenter.sh/do-not-disrupt']) {
        demand.consumers.nodes.set({ metadata: { name: 'node-1' } });
        list('pods', pod('a', { nodeName: 'node-1' }, { annotations: { [key]: value } }));
        expect(demand.useOf('node-1')?.doNotDisrupt).toBe(pods);
        list('pods', pod('a', {}, { annotations: { [key]: value } }));
        expect(remarks().includes(`"${value}" of ${key}`)).toBe(isRemarked);
      }
    },
  );
});
