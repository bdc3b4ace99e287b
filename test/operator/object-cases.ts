// End-to-end cases about the objects that the operator reads and writes besides pods and nodes: CapacityRequests with our CRD
// and with that of the reference, UpcomingNodes, AvailableCapacities, verdicts, Events, and what `bigfleet explain pod` says.

import { expect } from 'vitest';
import { parseQuantity } from '../../src/model/index.ts';
import { KubeError, type KubeObject, pathOf, RESOURCES } from '../../src/operator/kube/index.ts';
import type { CapacityRequest } from '../../src/operator/kube/objects.ts';
import { customResourceDefinitions } from '../../src/operator/manifests/crds.ts';
import { readVerdictMap, type VerdictMap } from '../../src/operator/verdicts/verdict-map.ts';
import { offering } from '../e2e/shard-cloud.ts';
import { bigfleet } from './command.ts';
import { AMD64, type EndToEndCase } from './end-to-end-case.ts';
import { asks, KubeWorld } from './kube-world.ts';

const API = 'bigfleet.lucy.sh/v1alpha1';
const REQUESTS = pathOf(RESOURCES.capacityRequests, { namespace: 'default' });
const PODS = pathOf(RESOURCES.pods, { namespace: 'default' });
const UPCOMING_NODES = `/apis/${API}/upcomingnodes`;
const AVAILABLE_CAPACITIES = `/apis/${API}/availablecapacities`;
const OFFERINGS = [offering('m4', { cpu: 4, count: 4, labels: AMD64 })];
const ON_AMD64 = [{ key: 'kubernetes.io/arch', operator: 'In', values: ['amd64'] }];
/** More than an amount can be, and still a legal quantity. */
const ABSURD_CPU = '99999999999999999';
/** The operator waits this long for a session to repeat what is published. */
const REPEATED_MS = 180_000;

type Loose = KubeObject & {
  readonly spec: Readonly<Record<string, unknown>>;
  readonly status?: Readonly<Record<string, unknown>>;
};

async function objects(world: KubeWorld, path: string): Promise<readonly Loose[]> {
  return (await world.cluster().plane.admin.list<Loose>(path)).items;
}

/** A CapacityRequest for cores. `metadata`: more of it. */
async function request(
  world: KubeWorld,
  name: string,
  spec: Readonly<Record<string, unknown>>,
  metadata: object = {},
): Promise<void> {
  await world.cluster().plane.admin.create(REQUESTS, {
    apiVersion: API,
    kind: 'CapacityRequest',
    metadata: { name, ...metadata },
    spec: { priority: 0, requirements: ON_AMD64, ...spec },
  });
}

async function readRequest(world: KubeWorld, name: string): Promise<CapacityRequest> {
  return await world.cluster().plane.admin.get<CapacityRequest>(`${REQUESTS}/${name}`);
}

/** Creates a pod of one container by itself; returns its uid. */
async function createPod(world: KubeWorld, name: string, spec: object, metadata = {}): Promise<string> {
  const pod = { metadata: { name, ...metadata }, spec };
  const { metadata: made } = await world.cluster().plane.admin.create<KubeObject>(PODS, pod);
  return made.uid ?? '';
}

async function remove(world: KubeWorld, path: string): Promise<void> {
  try {
    await world.cluster().plane.admin.delete(path);
  } catch (error) {
    // The garbage collector was first.
    if (!(error instanceof KubeError && error.isNotFound)) throw error;
  }
}

/** Cores that the shard knows the cluster to want. */
async function wantedCores(world: KubeWorld): Promise<number> {
  const needs = await world.world.needs('web');
  return needs.reduce((sum, { wants }) => sum + parseQuantity(wants['cpu'] ?? '0', 'cpu', 'down'), 0) / 1000;
}

async function wants(world: KubeWorld, cores: number): Promise<void> {
  await world.until(`the cluster wants ${cores} cores`, async () => (await wantedCores(world)) === cores);
}

/** Our definition of CapacityRequests without what the one of the reference does not have. */
function referenceDefinition(): KubeObject {
  const ours = customResourceDefinitions().find(({ metadata }) =>
    metadata.name.startsWith('capacityrequests'),
  );
  const definition = structuredClone(ours) as unknown as KubeObject & {
    readonly spec: {
      readonly versions: readonly {
        readonly schema: {
          readonly openAPIV3Schema: {
            readonly properties: { readonly status: { readonly properties: Record<string, unknown> } };
          };
        };
      }[];
    };
  };
  const { properties } = definition.spec.versions[0]!.schema.openAPIV3Schema.properties.status;
  expect(properties).toHaveProperty('conditions');
  delete properties['conditions'];
  return definition;
}

export const OBJECT_CASES: readonly EndToEndCase[] = [
  {
    title:
      'given a CapacityRequest, then it is demand and says what became of it, its machine is an UpcomingNode, and a pod that owns one counts once',
    run: async (target, context) => {
      const world = await KubeWorld.open(context, { target, clusters: ['web'], offerings: OFFERINGS });
      const { admin } = world.cluster().plane;
      await request(world, 'batch', { resources: { cpu: '3' } });
      await wants(world, 3);
      await world.until('it is acknowledged', async () => {
        const { status } = await readRequest(world, 'batch');
        return status?.phase === 'Acknowledged' && Date.parse(status.acknowledgedAt ?? '') > 0;
      });
      await world.until('its condition says that it is met', async () => {
        const { status } = await readRequest(world, 'batch');
        return (status?.conditions ?? []).some(
          ({ type, status: value, reason }) =>
            type === 'Satisfied' && value === 'True' && reason === 'MachinesReady',
        );
      });
      const [node] = await world.nodes();
      const upcoming = await objects(world, UPCOMING_NODES);
      expect(upcoming).toMatchObject([
        {
          spec: { labels: { 'kubernetes.io/arch': 'amd64' }, resources: { cpu: '4' } },
          status: {
            phase: 'Ready',
            nodeRef: { name: node?.metadata.name, uid: node?.metadata.uid },
            providerID: node?.spec?.providerID,
          },
        },
      ]);
      await world.until('what is left is published', async () =>
        (await objects(world, AVAILABLE_CAPACITIES)).some(({ spec }) => spec['availableCount'] === 3),
      );
      expect(await objects(world, AVAILABLE_CAPACITIES)).toMatchObject([
        {
          spec: {
            requirements: expect.arrayContaining(ON_AMD64) as unknown,
            resources: { cpu: '4' },
            availability: expect.stringMatching(/Medium|High/) as unknown,
            cost: '1',
          },
        },
      ]);
      // A queue asks for the capacity of a pod that it still holds back.
      const gated = asks('3', { schedulingGates: [{ name: 'example.com/queue' }] });
      const uid = await createPod(world, 'queued', gated);
      const owner = { apiVersion: 'v1', kind: 'Pod', name: 'queued', uid };
      await request(world, 'queued', { resources: { cpu: '3' } }, { ownerReferences: [owner] });
      await wants(world, 6);
      await admin.patch(`${PODS}/queued`, 'merge', { spec: { schedulingGates: null } });
      await world.until('the pod runs', async () => (await world.pods())[0]?.status?.phase === 'Running');
      await world.stays('the pod counts once', 2_500, async () => (await wantedCores(world)) === 6);
      expect(world.bought).toBe(2);
      for (const path of [`${REQUESTS}/batch`, `${REQUESTS}/queued`, `${PODS}/queued`])
        await remove(world, path);
      await world.until('all nodes leave', async () => (await world.nodes()).length === 0);
      await world.until(
        'no machine is upcoming',
        async () => (await objects(world, UPCOMING_NODES)).length === 0,
      );
    },
  },
  {
    title:
      'given demand that has gone, when the operator restarts, then what is available for it goes as well',
    // The operator waits two minutes before it removes anything.
    only: 'real',
    run: async (target, context) => {
      const world = await KubeWorld.open(context, { target, clusters: ['web'], offerings: OFFERINGS });
      await request(world, 'batch', { resources: { cpu: '3' } });
      await world.until('what is left is published', async () => {
        return (await objects(world, AVAILABLE_CAPACITIES)).length === 1;
      });
      await remove(world, `${REQUESTS}/batch`);
      await wants(world, 0);
      await world.stopOperator('web');
      await world.startOperator('web');
      const isGone = async () => (await objects(world, AVAILABLE_CAPACITIES)).length === 0;
      await world.until('nothing is published', isGone, REPEATED_MS);
    },
  },
  {
    title:
      'given the definition of the reference, then a CapacityRequest is acknowledged, and an Event says the rest',
    run: async (target, context) => {
      const world = await KubeWorld.open(context, { target, clusters: ['web'], offerings: OFFERINGS });
      await world.cluster().plane.apply([referenceDefinition()]);
      await request(world, 'batch', { resources: { cpu: '3' } });
      await world.until('an Event says that it is met', async () =>
        (await world.events('batch')).some((event) => event.startsWith('MachinesReady: ')),
      );
      const { status } = await readRequest(world, 'batch');
      expect(status).toEqual({ phase: 'Acknowledged', acknowledgedAt: expect.any(String) as unknown });
      expect(await world.nodes()).toHaveLength(1);
    },
  },
  {
    title:
      'given pods and requests that cannot be counted or read as meant, then they say so, and the rest of the demand is kept',
    run: async (target, context) => {
      const world = await KubeWorld.open(context, { target, clusters: ['web'], offerings: OFFERINGS });
      await world.deploy('api', 2, asks('1500m'));
      await world.runs('api', 2);
      await wants(world, 3);
      await createPod(world, 'absurd', asks(ABSURD_CPU));
      const annotations = {
        'bigfleet.lucy.sh/ignore': 'maybe',
        'bigfleet.lucy.sh/interruption-penalty': 'very high',
      };
      await createPod(world, 'odd', asks('3'), { annotations });
      await request(world, 'absurd-request', { resources: { cpu: ABSURD_CPU } });
      const near = [{ key: 'kubernetes.io/arch', operator: 'Near', values: ['amd64'] }];
      await request(world, 'odd-request', { resources: { cpu: '3' }, requirements: near });
      const said = async (name: string, text: RegExp): Promise<void> =>
        world.until(`an Event on ${name} says ${text.source}`, async () =>
          (await world.events(name)).some((event) => text.test(event)),
        );
      await Promise.all([
        said('absurd', /^NotCounted: .*cpu.* too large/),
        said('absurd-request', /^NotCounted: .*cpu.* too large/),
        said('odd-request', /^NotCounted: .*Near/),
      ]);
      // It is counted without what is not understood, and runs.
      await world.until('the odd pod runs', async () =>
        (await world.pods()).some(
          ({ metadata, status }) => metadata.name === 'odd' && status?.phase === 'Running',
        ),
      );
      await wants(world, 6);
      expect(await world.nodes()).toHaveLength(2);
      expect(await world.running('api')).toBe(2);
      expect(world.bought).toBe(2);
      expect(world.world.callsOf('drain')).toEqual([]);
    },
  },
  {
    title: 'given opt-in mode, then only pods that opt in and do not opt out are served',
    run: async (target, context) => {
      const world = await KubeWorld.open(context, {
        target,
        clusters: ['web'],
        // A machine for the others would be a large one.
        offerings: [...OFFERINGS, offering('m16', { cpu: 16, count: 4, pricePerHour: 4, labels: AMD64 })],
        operator: { demand: { mode: 'opt-in' } },
      });
      const optIn = { 'bigfleet.lucy.sh/opt-in': 'true' };
      await createPod(world, 'foreign', asks('8'));
      await createPod(world, 'ignored', asks('8'), {
        labels: { ...optIn, 'bigfleet.lucy.sh/ignore': 'true' },
      });
      await world.until('the scheduler has found no node for them', async () =>
        (await world.pods()).every(
          ({ status }) => status?.conditions?.some(({ reason }) => reason === 'Unschedulable') === true,
        ),
      );
      await world.deploy('api', 2, asks('1500m'), undefined, optIn);
      await world.runs('api', 2);
      await wants(world, 3);
      await world.stays('the others ask for nothing', 2_000, () => world.bought === 1);
      expect(await wantedCores(world)).toBe(3);
    },
  },
  {
    title:
      'given a pod that no machine can hold, then its Event, the verdicts and `bigfleet explain pod` say why it waits',
    run: async (target, context) => {
      const world = await KubeWorld.open(context, { target, clusters: ['web'], offerings: OFFERINGS });
      const { plane } = world.cluster();
      await createPod(world, 'huge', asks('64', { nodeSelector: { 'kubernetes.io/arch': 'amd64' } }), {
        annotations: { 'bigfleet.lucy.sh/interruption-penalty': 'very high' },
      });
      await world.until('an Event says that it waits', async () =>
        (await world.events('huge')).some((event) =>
          event.startsWith('WaitingForMachines: Waiting for machines: '),
        ),
      );
      await world.until('an Event says what is not understood', async () =>
        (await world.events('huge')).some((event) => /^NotExpressed: .*very high/.test(event)),
      );
      let verdicts: VerdictMap | null = null;
      await world.until('the verdict on its row is written', async () => {
        verdicts = await readVerdictMap(plane.admin, 'bigfleet-system');
        const pod = verdicts?.pods.get('default/huge');
        return verdicts?.rows.some(({ fingerprint }) => fingerprint === pod?.fingerprint) ?? false;
      });
      expect(verdicts).toMatchObject({ rows: [{ satisfied: false }] });
      const access = ['--kubeconfig', plane.kubeconfig('admin')];
      const text = await bigfleet('explain', 'pod', 'default/huge', ...access);
      expect(text).toContain('Pod default/huge');
      expect(text).toContain('Waiting for machines: ');
      expect(text).toContain('WaitingForMachines');
      expect(text).toContain('very high');
      const json = JSON.parse(
        await bigfleet('explain', 'pod', 'default/huge', '-o', 'json', ...access),
      ) as object;
      expect(json).toMatchObject({ situation: 'waiting', row: { satisfied: false }, gaps: [] });
    },
  },
];
