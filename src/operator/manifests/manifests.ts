// All objects that install the operator in a cluster, in the order in which they must be applied. Plain manifests: the
// output is stable, so that it can be kept in version control and compared. Printed by `bigfleet operator manifests`.

import { createHash } from 'node:crypto';
import { stringify } from 'yaml';
import { KUBEADM_TEMPLATE, PLAIN_TEMPLATE } from '../bootstrap/default-template.ts';
import type { BootstrapMode } from '../bootstrap/template-context.ts';
import { customResourceDefinitions } from './crds.ts';
import { deployment } from './deployment.ts';
import { APP, COMMON_LABELS, LABELS, type Manifest } from './objects.ts';
import { accessRules } from './rbac.ts';

export interface ManifestOptions {
  readonly cluster: string;
  readonly shard: string;
  readonly image: string;
  readonly namespace: string;
  readonly mode: BootstrapMode;
  readonly replicas: number;
  /** Secret with tls.crt, tls.key and ca.crt; null: plaintext. */
  readonly tlsSecret: string | null;
  readonly insecure: boolean;
  /** Address of the API server for new nodes; null: found by the operator. */
  readonly endpoint: string | null;
  readonly demandMode: 'all' | 'opt-in';
  /** What a new machine starts with; null: the template of the mode. */
  readonly template: string | null;
}

const SETTINGS_FILE = '/etc/bigfleet/operator/operator.yaml';
const TEMPLATE_FILE = '/etc/bigfleet/operator/bootstrap.tmpl';
const TLS_FOLDER = '/etc/bigfleet/tls';

export function operatorManifests(options: ManifestOptions): readonly Manifest[] {
  const { namespace, mode } = options;
  const settings = settingsText(options);
  const template = options.template ?? (mode === 'tokens' ? KUBEADM_TEMPLATE : PLAIN_TEMPLATE);
  const data = { 'bootstrap.tmpl': template, 'operator.yaml': settings };
  return [
    ...customResourceDefinitions(),
    namespaceOf(namespace),
    ...accessRules(namespace, mode),
    { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: APP, namespace, labels: COMMON_LABELS }, data },
    deployment({
      ...options,
      tlsFolder: TLS_FOLDER,
      settingsFile: SETTINGS_FILE,
      settingsHash: createHash('sha256').update(JSON.stringify(data)).digest('hex').slice(0, 16),
    }),
    {
      apiVersion: 'policy/v1',
      kind: 'PodDisruptionBudget',
      metadata: { name: APP, namespace, labels: COMMON_LABELS },
      spec: { maxUnavailable: 1, selector: { matchLabels: LABELS } },
    },
  ];
}

/** The settings that the manifests install. */
export function settingsText(options: ManifestOptions): string {
  const { cluster, shard, namespace, mode, tlsSecret, insecure, endpoint, demandMode } = options;
  const tls = { cert: `${TLS_FOLDER}/tls.crt`, key: `${TLS_FOLDER}/tls.key`, ca: `${TLS_FOLDER}/ca.crt` };
  return stringify({
    cluster,
    shard: { addresses: shard, ...(tlsSecret === null ? {} : { tls }), ...(insecure ? { insecure } : {}) },
    demand: { mode: demandMode },
    bootstrap: { mode, templateFile: TEMPLATE_FILE, ...(endpoint === null ? {} : { endpoint }) },
    kubernetes: { namespace },
    log: { format: 'json' },
  });
}

function namespaceOf(name: string): Manifest {
  const enforced = { 'pod-security.kubernetes.io/enforce': 'restricted' };
  return {
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name, labels: { ...COMMON_LABELS, ...enforced } },
  };
}

export function manifestText(manifests: readonly Manifest[], format: 'yaml' | 'json'): string {
  if (format === 'json')
    return `${JSON.stringify({ apiVersion: 'v1', kind: 'List', items: manifests }, null, 2)}\n`;
  // Anchors would be valid YAML, but hard to read for a person and for some tools.
  return manifests
    .map((each) => stringify(each, { aliasDuplicateObjects: false, lineWidth: 0 }))
    .join('---\n');
}
