// How new nodes reach and trust the API server: its endpoint and its certificate authority. Taken from the settings, from
// the ConfigMap `cluster-info` that kubeadm publishes, or from the operator's own credentials. Used by
// process/operator.ts.

import { createHash, X509Certificate } from 'node:crypto';
import { parse } from 'yaml';
import { type KubeClient, KubeError } from '../kube/client.ts';
import type { KubeObject } from '../kube/objects.ts';
import type { ClusterAccess } from './template-context.ts';

export interface AccessSources {
  /** HOST:PORT, a setting. */
  readonly endpoint: string | undefined;
  /** PEM, from the file of a setting. */
  readonly caBundle: string | undefined;
  /** What the operator itself uses; `isInCluster`: the address of a service, which a new node cannot reach. */
  readonly own: {
    readonly server: string;
    readonly caBundle: string | undefined;
    readonly isInCluster: boolean;
  };
}

const CLUSTER_INFO = '/api/v1/namespaces/kube-public/configmaps/cluster-info';

interface ClusterInfo {
  readonly server?: string;
  readonly caBundle?: string;
}

/** Rejects with the reason if endpoint or authority are not known. */
export async function clusterAccess(sources: AccessSources, client: KubeClient): Promise<ClusterAccess> {
  const { endpoint, caBundle, own } = sources;
  const isComplete = endpoint !== undefined && (caBundle ?? own.caBundle) !== undefined;
  const info = isComplete ? {} : await clusterInfo(client);
  const server = endpoint ?? hostOf(info.server) ?? (own.isInCluster ? undefined : hostOf(own.server));
  if (server === undefined)
    throw new Error(
      'The endpoint of the API server for new nodes is not known: set bootstrap.endpoint. The address that this operator uses is that of a service, and kube-public/cluster-info has none.',
    );
  const authority = caBundle ?? info.caBundle ?? own.caBundle;
  if (authority === undefined)
    throw new Error('The certificate authority of the API server is not known: set bootstrap.caFile.');
  return { endpoint: server, caBundle: authority, caHash: caHashOf(authority) };
}

/** Hash of the public key of the first certificate of a bundle, as in `--discovery-token-ca-cert-hash`. */
export function caHashOf(bundle: string): string {
  const key = new X509Certificate(bundle).publicKey.export({ type: 'spki', format: 'der' });
  return `sha256:${createHash('sha256').update(key).digest('hex')}`;
}

async function clusterInfo(client: KubeClient): Promise<ClusterInfo> {
  try {
    const { data } = await client.get<KubeObject & { readonly data?: Record<string, string> }>(CLUSTER_INFO);
    return clusterOf(parse(data?.['kubeconfig'] ?? ''));
  } catch (error) {
    // Only clusters of kubeadm have it.
    if (error instanceof KubeError && (error.isNotFound || error.status === 403)) return {};
    throw error;
  }
}

function clusterOf(kubeconfig: unknown): ClusterInfo {
  const { clusters } = (kubeconfig ?? {}) as { clusters?: { cluster?: Record<string, unknown> }[] };
  const cluster = clusters?.[0]?.cluster ?? {};
  const { server, 'certificate-authority-data': authority } = cluster;
  return {
    ...(typeof server === 'string' ? { server } : {}),
    ...(typeof authority === 'string' ? { caBundle: Buffer.from(authority, 'base64').toString('utf8') } : {}),
  };
}

/** HOST:PORT of a URL; undefined if it is not one. */
function hostOf(url: string | undefined): string | undefined {
  if (url === undefined || !URL.canParse(url)) return undefined;
  const { hostname, port, protocol } = new URL(url);
  return `${hostname}:${port === '' ? (protocol === 'http:' ? 80 : 443) : port}`;
}
