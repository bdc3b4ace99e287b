// Makes the parts of a real cluster for the process: the client of the API server, and demand, nodes, drains and verdicts
// with their reflectors. Used by `bigfleet operator`.

import { HttpKubeClient, inClusterConnection, isInCluster, loadKubeconfig } from '../kube/index.ts';
import { RealClusterParts } from './cluster-parts.ts';
import type { KubeAccess, PartFactories } from './parts.ts';
import type { OperatorSettings } from './settings.ts';

function connect({ kubernetes, leaderElection }: OperatorSettings): KubeAccess {
  const { kubeconfig, context, requestsPerSecond, burst } = kubernetes;
  const usesPod = kubeconfig === undefined && context === undefined && isInCluster();
  const connection = usesPod ? inClusterConnection() : loadKubeconfig({ path: kubeconfig, context });
  const client = new HttpKubeClient({
    connection,
    userAgent: 'bigfleet-operator',
    limits: { qps: requestsPerSecond, burst },
  });
  const urgentClient = new HttpKubeClient({
    connection,
    userAgent: 'bigfleet-operator/urgent',
    limits: { qps: requestsPerSecond, burst },
  });
  const leaseClient = new HttpKubeClient({
    connection,
    userAgent: 'bigfleet-operator/leader-election',
    // Two attempts fit into the time for a renewal, as with client-go.
    limits: { requestMs: Math.floor(leaderElection.renewDeadline / 2) },
  });
  return {
    client,
    urgentClient,
    leaseClient,
    server: connection.server,
    caBundle: connection.ca?.read() ?? undefined,
    isInCluster: usesPod,
    origin: connection.origin,
    close: () => {
      client.close();
      urgentClient.close();
      leaseClient.close();
    },
  };
}

export const clusterFactories: PartFactories = {
  connect,
  parts: (context) => new RealClusterParts(context),
};
