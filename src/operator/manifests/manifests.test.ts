// The objects that install the operator.

import { describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { loadSettings } from '../process/load-settings.ts';
import { type ManifestOptions, manifestText, operatorManifests, settingsText } from './manifests.ts';
import type { Manifest } from './objects.ts';

const OPTIONS: ManifestOptions = {
  cluster: 'web',
  shard: 'shard.example:7780',
  image: 'example/bigfleet:1',
  namespace: 'ops',
  mode: 'template',
  replicas: 2,
  tlsSecret: 'operator-tls',
  insecure: false,
  endpoint: null,
  demandMode: 'opt-in',
  template: null,
};

interface Rule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
  readonly resourceNames?: readonly string[];
}

function named(all: readonly Manifest[], kind: string, namespace?: string): Manifest {
  const found = all.filter((each) => each.kind === kind && each.metadata.namespace === namespace);
  if (found.length !== 1) throw new Error(`${found.length} of ${kind} in ${namespace ?? 'the cluster'}`);
  return found[0]!;
}

function rules(all: readonly Manifest[]): Rule[] {
  return all.flatMap((each) => (each['rules'] as Rule[] | undefined) ?? []);
}

describe('manifests', () => {
  it('given the same options, then the same text, in both formats, and every object with a name once', () => {
    const all = operatorManifests(OPTIONS);
    expect(manifestText(operatorManifests(OPTIONS), 'yaml')).toBe(manifestText(all, 'yaml'));
    const documents = parseAllDocuments(manifestText(all, 'yaml')).map((each) => each.toJS() as Manifest);
    expect(documents).toEqual(JSON.parse(JSON.stringify(all)));
    expect((JSON.parse(manifestText(all, 'json')) as { items: unknown }).items).toEqual(documents);
    const names = all.map(({ kind, metadata }) => `${kind} ${metadata.namespace ?? ''}/${metadata.name}`);
    expect(new Set(names).size).toBe(names.length);
    expect(manifestText(all, 'yaml')).not.toMatch(/[&*][a-z]\d+\b/);
  });

  it('given their order, then definitions and the namespace come before what needs them', () => {
    const kinds = operatorManifests(OPTIONS).map(({ kind }) => kind);
    expect(kinds.slice(0, 4)).toEqual([
      'CustomResourceDefinition',
      'CustomResourceDefinition',
      'CustomResourceDefinition',
      'Namespace',
    ]);
    expect(kinds.slice(-3)).toEqual(['ConfigMap', 'Deployment', 'PodDisruptionBudget']);
  });

  it('given any mode, then no rule reads Secrets, uses a wildcard or escalates; only mode tokens writes Secrets, in kube-system', () => {
    for (const mode of ['tokens', 'template'] as const) {
      const all = operatorManifests({ ...OPTIONS, mode });
      for (const { apiGroups, resources, verbs } of rules(all)) {
        expect([...apiGroups, ...resources, ...verbs]).not.toContain('*');
        expect(verbs).not.toEqual(expect.arrayContaining(['escalate']));
        if (resources.includes('secrets')) expect(verbs).toEqual(['create', 'delete']);
      }
      const withSecrets = all.filter((each) =>
        rules([each]).some(({ resources }) => resources.includes('secrets')),
      );
      expect(withSecrets.map(({ kind, metadata }) => `${kind} ${metadata.namespace}`)).toEqual(
        mode === 'tokens' ? ['Role kube-system'] : [],
      );
    }
  });

  it('given the rights, then they are those that the operator uses, and no others', () => {
    const all = rules(operatorManifests({ ...OPTIONS, mode: 'tokens' }));
    const rights = all.flatMap(({ resources, verbs, resourceNames }) =>
      resources.map((resource) => [[resource, ...(resourceNames ?? [])].join(' '), verbs.join(' ')]),
    );
    // One object is read by name in: drains (nodes), episodes, tokens, cluster-info, and the election. Only the Lease is
    // replaced; everything else is patched.
    expect(rights).toEqual([
      ['pods', 'list watch delete'],
      ['pods/eviction', 'create'],
      ['nodes', 'get list watch patch delete'],
      ['namespaces', 'list watch'],
      ['persistentvolumeclaims', 'list watch'],
      ['persistentvolumes', 'list watch'],
      ['daemonsets', 'list watch'],
      ['priorityclasses', 'list watch'],
      ['poddisruptionbudgets', 'list watch'],
      ['capacityrequests', 'list watch'],
      ['capacityrequests/status', 'patch'],
      ['upcomingnodes', 'list create patch delete'],
      ['availablecapacities', 'list create patch delete'],
      ['upcomingnodes/status', 'patch'],
      ['events', 'create patch'],
      ['leases', 'create'],
      ['leases bigfleet-operator', 'get update'],
      ['configmaps', 'create'],
      ['configmaps bigfleet-verdicts', 'patch'],
      ['configmaps bigfleet-episodes bigfleet-operator-tokens', 'get patch'],
      ['configmaps cluster-info', 'get'],
      ['secrets', 'create delete'],
    ]);
    const template = JSON.stringify(rules(operatorManifests({ ...OPTIONS, mode: 'template' })));
    expect(template).not.toMatch(/tokens|secrets/);
  });

  it('given each role, then the account of the operator is bound to it', () => {
    const all = operatorManifests({ ...OPTIONS, mode: 'tokens' });
    for (const [role, namespace] of [
      ['ClusterRole', undefined],
      ['Role', 'ops'],
      ['Role', 'kube-system'],
      ['Role', 'kube-public'],
    ] as const) {
      const { name } = named(all, role, namespace).metadata;
      expect(named(all, `${role}Binding`, namespace)).toMatchObject({
        roleRef: { kind: role, name },
        subjects: [{ kind: 'ServiceAccount', name: 'bigfleet-operator', namespace: 'ops' }],
      });
    }
    expect(named(all, 'ServiceAccount', 'ops').metadata.name).toBe('bigfleet-operator');
  });

  it('given the settings in the ConfigMap, then the operator accepts them; changed ones replace the pods', () => {
    for (const options of [
      OPTIONS,
      { ...OPTIONS, mode: 'tokens' as const, endpoint: 'api.example:6443' },
      { ...OPTIONS, tlsSecret: null, insecure: true },
    ]) {
      const result = loadSettings({ file: { path: 'x', text: settingsText(options) }, flags: {} });
      expect(result.ok ? result.value.cluster : result.problems).toBe('web');
    }
    const hashOf = (options: ManifestOptions) =>
      JSON.stringify(named(operatorManifests(options), 'Deployment', 'ops')).match(
        /settings-hash":"(\w+)/,
      )?.[1];
    expect(hashOf(OPTIONS)).not.toBe(hashOf({ ...OPTIONS, cluster: 'other' }));
    expect(hashOf(OPTIONS)).not.toBe(hashOf({ ...OPTIONS, template: 'x' }));
  });

  it('given the pods, then they satisfy the restricted level of Pod Security, and mount what the settings name', () => {
    const text = manifestText([named(operatorManifests(OPTIONS), 'Deployment', 'ops')], 'yaml');
    for (const line of [
      'runAsNonRoot: true',
      'allowPrivilegeEscalation: false',
      'readOnlyRootFilesystem: true',
      'type: RuntimeDefault',
      'secretName: operator-tls',
      'mountPath: /etc/bigfleet/tls',
      'path: /readyz',
      'path: /healthz',
    ])
      expect(text).toContain(line);
    expect(text).not.toMatch(/hostPath|hostNetwork|privileged: true/);
    expect(settingsText(OPTIONS)).toContain('cert: /etc/bigfleet/tls/tls.crt');
  });

  it('given the options of Node in the Deployment, then Node takes each from its environment', () => {
    const text = manifestText([named(operatorManifests(OPTIONS), 'Deployment', 'ops')], 'json');
    const [, value = ''] = /"name": ?"NODE_OPTIONS",\s*"value": ?"([^"]*)"/.exec(text) ?? [];
    const options = value.split(' ').map((option) => option.split('=')[0]!);
    expect(options).toContain('--max-old-space-size');
    expect(options.filter((option) => !process.allowedNodeEnvironmentFlags.has(option))).toEqual([]);
  });

  it('given the definitions, then they have the names, columns and fields of the reference', () => {
    const [capacity, request, node] = operatorManifests(OPTIONS) as unknown as readonly {
      metadata: { name: string };
      spec: {
        group: string;
        scope: string;
        names: Record<string, unknown>;
        versions: readonly Record<string, unknown>[];
      };
    }[];
    expect([capacity, request, node].map((each) => [each!.metadata.name, each!.spec.scope])).toEqual([
      ['availablecapacities.bigfleet.lucy.sh', 'Cluster'],
      ['capacityrequests.bigfleet.lucy.sh', 'Namespaced'],
      ['upcomingnodes.bigfleet.lucy.sh', 'Cluster'],
    ]);
    expect(request!.spec.names).toEqual({
      categories: ['fleet'],
      kind: 'CapacityRequest',
      listKind: 'CapacityRequestList',
      plural: 'capacityrequests',
      shortNames: ['cr', 'crs'],
      singular: 'capacityrequest',
    });
    expect(request!.spec.versions).toMatchObject([
      {
        name: 'v1alpha1',
        served: true,
        storage: true,
        subresources: { status: {} },
        selectableFields: [{ jsonPath: '.status.phase' }],
        additionalPrinterColumns: [{ name: 'Phase' }, { name: 'Priority' }, { name: 'Age' }],
        schema: {
          openAPIV3Schema: {
            required: ['spec'],
            properties: {
              spec: { required: ['priority', 'resources'] },
              status: { required: ['phase'], properties: { phase: { enum: ['Pending', 'Acknowledged'] } } },
            },
          },
        },
      },
    ]);
    expect(node!.spec.versions[0]).not.toHaveProperty('selectableFields');
  });
});
