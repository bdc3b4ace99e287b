// The condition of CapacityRequests as the operator writes it with the rights of its manifests: beside conditions of other
// writers, and on the reference's CRD, which has none. Used by conditions.test.ts and conditions-real.test.ts.

import { expect } from 'vitest';
import type { CapacityRequest, KubeObject } from '../../src/operator/kube/objects.ts';
import { customResourceDefinitions } from '../../src/operator/manifests/crds.ts';
import { operatorManifests } from '../../src/operator/manifests/manifests.ts';
import { KeyedWrites } from '../../src/operator/nodes/keyed-writes.ts';
import { RequestConditions } from '../../src/operator/verdicts/request-conditions.ts';
import { VerdictTable } from '../../src/operator/verdicts/verdict-table.ts';
import { systemClock } from '../../src/runtime/system-clock.ts';
import { type ControlPlane, eventually } from '../../testing/kube/control-plane.ts';
import type { Case, CaseContext } from '../../testing/kube/suite.ts';
import { noLog, RecordedEvents, RecordedMetrics } from '../../testing/support/operator-parts.ts';
import { verdict } from '../../testing/support/verdicts.ts';

const API = '/apis/bigfleet.lucy.sh/v1alpha1';
const MANIFESTS = operatorManifests({
  ...{
    cluster: 'web',
    shard: 'shard:8080',
    image: 'bigfleet:test',
    namespace: 'bigfleet-system',
    mode: 'tokens',
  },
  ...{
    replicas: 1,
    tlsSecret: null,
    insecure: true,
    endpoint: 'api:6443',
    demandMode: 'all',
    template: null,
  },
});

/** The manifests of the operator, with the CRDs given. */
async function install(plane: ControlPlane, definitions: readonly object[]): Promise<void> {
  const others = MANIFESTS.filter(({ kind }) => kind !== 'CustomResourceDefinition' && kind !== 'Deployment');
  await plane.apply([...definitions, ...others] as KubeObject[]);
}

/** Our CRDs without the field that the reference's do not have. */
function referenceDefinitions(): readonly object[] {
  const definitions = structuredClone(customResourceDefinitions()) as unknown as Definition[];
  for (const { spec } of definitions)
    for (const { schema } of spec.versions)
      delete schema.openAPIV3Schema.properties.status?.properties?.['conditions'];
  return definitions;
}

interface Definition {
  readonly spec: { readonly versions: readonly { readonly schema: { readonly openAPIV3Schema: Schema } }[] };
}

interface Schema {
  readonly properties: { readonly status?: { readonly properties?: Record<string, unknown> } };
}

class Scene {
  readonly events = new RecordedEvents();
  readonly #context: CaseContext;
  readonly #verdicts = new VerdictTable(systemClock);
  readonly #conditions: RequestConditions;

  constructor(context: CaseContext) {
    this.#context = context;
    const writes = new KeyedWrites({ clock: systemClock, log: noLog, metrics: new RecordedMetrics() });
    context.defer(() => writes.stop());
    const row = { fingerprint: 'f1', group: '' };
    this.#conditions = new RequestConditions({
      ...{ kube: context.plane.client(), clock: systemClock, events: this.events, writes },
      verdicts: this.#verdicts,
      requests: () => [{ namespace: context.namespace, name: 'r', uid: 'u', row }],
    });
  }

  get #path(): string {
    return `${API}/namespaces/${this.#context.namespace}/capacityrequests`;
  }

  async request(): Promise<void> {
    const { admin } = this.#context.plane;
    await admin.create(this.#path, {
      ...{ apiVersion: 'bigfleet.lucy.sh/v1alpha1', kind: 'CapacityRequest', metadata: { name: 'r' } },
      spec: { priority: 5, resources: { cpu: '1' } },
    });
    await this.status({ phase: 'Acknowledged' });
  }

  /** Another writer changes the status. */
  async status(status: object): Promise<void> {
    await this.#context.plane.admin.patch(`${this.#path}/r/status`, 'merge', { status });
  }

  async conditions(): Promise<readonly string[]> {
    const { status } = await this.#context.plane.admin.get<CapacityRequest>(`${this.#path}/r`);
    return (status?.conditions ?? []).map(({ type, status: is }) => `${type} ${is}`).sort();
  }

  says(isSatisfied: boolean): void {
    const verdicts = [verdict('f1', '', { satisfied: isSatisfied, machineTotal: 1 })];
    this.#verdicts.apply({ cycle: 1n, full: true, verdicts });
    this.#conditions.tick();
  }
}

export const CONDITION_CASES: readonly Case[] = [
  {
    title: 'given conditions of other writers, when the verdict is written and changes, then they stay',
    run: async (context) => {
      await install(context.plane, customResourceDefinitions());
      const scene = new Scene(context);
      await scene.request();
      const lastTransitionTime = '2026-01-01T00:00:00Z';
      const theirs = { type: 'Approved', status: 'True', reason: 'Quota', message: '', lastTransitionTime };
      await scene.status({ conditions: [theirs] });
      for (const isSatisfied of [false, true]) {
        scene.says(isSatisfied);
        const mine = isSatisfied ? 'Satisfied True' : 'Satisfied False';
        await eventually(mine, async () => (await scene.conditions()).includes(mine));
        expect(await scene.conditions()).toEqual(['Approved True', mine]);
      }
      expect(scene.events.all).toEqual([]);
    },
  },
];

/** The fake knows no schemas. */
export const REFERENCE_CASES: readonly Case[] = [
  {
    title: "given the reference's CRD, whose status has no conditions, then an Event says the same",
    run: async (context) => {
      await install(context.plane, referenceDefinitions());
      const scene = new Scene(context);
      await scene.request();
      scene.says(false);
      await eventually('an Event', () => scene.events.all.length > 0);
      expect(scene.events.reasons()).toEqual(['WaitingForMachines']);
      expect(await scene.conditions()).toEqual([]);
    },
  },
];
