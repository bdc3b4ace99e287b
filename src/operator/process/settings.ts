// All settings of the operator: one YAML file, of which some can be given as flags. docs/reference/operator-configuration.md
// is made from this file. Read by load-settings.ts, used by operator.ts.

import * as z from 'zod';
import { DEFAULT_DRAIN_SETTINGS } from '../drain/drain.ts';
import { DEFAULT_EPISODE_SETTINGS } from '../episodes/episodes.ts';
import { ELECTION_TIMES } from '../leader/leader-election.ts';
import { DEFAULT_FACT_SETTINGS } from '../nodes/node-facts.ts';
import { SESSION_LIMITS } from '../session/limits.ts';
import { DEMAND_SECTION } from './demand-settings.ts';
import {
  ADDRESSES,
  BOOTSTRAP_GROUP,
  CLUSTER_NAME,
  duration,
  HOST_PORT,
  LISTEN_ADDRESS,
  mandatory,
  OBJECT_NAME,
  oneOf,
  PATH,
  SWITCH,
  section,
  setting,
  structured,
  whole,
} from './setting-types.ts';

const GROUPS = structured<readonly string[]>(
  'a list of groups, each system:bootstrappers:…',
  z.array(z.string().regex(BOOTSTRAP_GROUP)).min(1).max(8),
);

const SESSION = section({
  rollupInterval: setting(
    duration('1s', '5m'),
    SESSION_LIMITS.rollupMs,
    'Longest time between two roll-ups; changes that make a pod wait are reported within a second or two all the same.',
  ),
  helloTimeout: setting(
    duration('1s', '5m'),
    SESSION_LIMITS.helloMs,
    'How long the shard may take to accept a session.',
  ),
});

const SHARD = section({
  addresses: mandatory(
    ADDRESSES,
    'Endpoints of the shard for sessions. Names are resolved again at each attempt to connect, and attempts take turns.',
  ),
  tls: section({
    cert: setting(
      PATH,
      undefined,
      'Certificate of this operator in PEM, with the URI bigfleet://cluster/NAME. Give all three files, or none for plaintext. Files are read again at each attempt to connect.',
    ),
    key: setting(PATH, undefined, 'Private key of the certificate in PEM.'),
    ca: setting(PATH, undefined, 'Authority that signs the certificate of the shard, in PEM.'),
  }),
  insecure: setting(
    SWITCH,
    false,
    'Allow plaintext to addresses other than loopback. Every host on the way can then read and change demand.',
  ),
});

const BOOTSTRAP = section({
  mode: setting(
    oneOf('tokens', 'template'),
    'template' as const,
    'How machines join. `tokens`: a bootstrap token is made for each machine, which needs the right to create Secrets in kube-system. `template`: only the template is rendered.',
  ),
  templateFile: setting(
    PATH,
    undefined,
    'What a new machine starts with. Without one, mode tokens uses a script for kubeadm, and mode template does not start.',
  ),
  endpoint: setting(
    HOST_PORT,
    undefined,
    'Address of the API server for new nodes. Without one: that of kube-public/cluster-info, or that of the kubeconfig.',
  ),
  caFile: setting(
    PATH,
    undefined,
    'Certificate authority of the API server for new nodes, in PEM. Without one: that of kube-public/cluster-info, or the one that the operator itself uses.',
  ),
  tokenLifetime: setting(
    duration('10m', '24h'),
    60 * 60_000,
    'How long a token is valid. It must be longer than a machine takes to start; a leaked one is useful for this long.',
  ),
  tokenGroups: setting(
    GROUPS,
    ['system:bootstrappers:kubeadm:default-node-token'] as readonly string[],
    'Groups of a node that authenticates with a token.',
  ),
  lifetime: setting(
    duration('0s', '24h'),
    0,
    'How long what the template renders may be used, told to the shard in mode template; 0s: no limit.',
  ),
});

const NODES = section({
  joinTimeout: setting(
    duration('1m', '24h'),
    15 * 60_000,
    'How long a machine may take from its bootstrap to a registered node before the shard is told that it did not join.',
  ),
  emptyAfter: setting(
    duration('1s', '1h'),
    DEFAULT_FACT_SETTINGS.emptyMs,
    'How long a node runs no pods, those of DaemonSets aside, before the shard is told that it is empty.',
  ),
  budgetAfter: setting(
    duration('1s', '1h'),
    DEFAULT_FACT_SETTINGS.budgetMs,
    'How long a disruption budget of pods on a node has no room before the node counts as protected. Rolling updates pass through that state for seconds.',
  ),
  unprotectedAfter: setting(
    duration('1s', '1h'),
    DEFAULT_FACT_SETTINGS.unprotectedMs,
    'How long a node stays protected after the last reason for it has gone.',
  ),
  reclaimTimeout: setting(
    duration('1s', '10m'),
    DEFAULT_DRAIN_SETTINGS.maxReclaimMs,
    'How long a node that is not needed is drained at most. With pods left after that, the node is uncordoned and stays for 30 minutes. Nodes that a Need of higher priority takes have the grace that the shard gives them.',
  ),
});

const EPISODES = section({
  stuckAfter: setting(
    duration('5s', '1h'),
    DEFAULT_EPISODE_SETTINGS.stuckMs,
    'How long pods are unschedulable beside a met Need before a machine is asked for them alone.',
  ),
  emptyFor: setting(
    duration('1s', '1h'),
    DEFAULT_EPISODE_SETTINGS.emptyMs,
    'How long all machines of such an episode are empty before it ends.',
  ),
  maxOpen: setting(whole(0, 100), DEFAULT_EPISODE_SETTINGS.maxOpen, 'Episodes at a time; 0: none.'),
  maxMachines: setting(
    whole(0, 1_000),
    DEFAULT_EPISODE_SETTINGS.maxMachines,
    'Machines of all open episodes together.',
  ),
});

const KUBERNETES = section({
  kubeconfig: setting(
    PATH,
    undefined,
    'File with the access to the API server. Without one: the ServiceAccount of the pod, else $KUBECONFIG, else ~/.kube/config.',
  ),
  context: setting(
    structured('the name of a context', z.string().min(1)),
    undefined,
    'Context of the kubeconfig; without one the current one.',
  ),
  namespace: setting(
    OBJECT_NAME,
    undefined,
    'Namespace of the operator, for its Lease and ConfigMaps. Without one: $POD_NAMESPACE, else bigfleet-system.',
  ),
  requestsPerSecond: setting(
    whole(1, 10_000),
    50,
    'Requests to the API server per second, on average; watches do not count.',
  ),
  burst: setting(whole(1, 10_000), 100, 'Requests that may be sent at once.'),
});

const LEADER_ELECTION = section({
  enabled: setting(SWITCH, true, 'Elect a leader among replicas. Without it there must be one replica only.'),
  leaseName: setting(OBJECT_NAME, 'bigfleet-operator', 'Name of the Lease.'),
  leaseDuration: setting(
    duration('5s', '10m'),
    ELECTION_TIMES.leaseMs,
    'How long a standby waits for a leader that no longer renews.',
  ),
  renewDeadline: setting(
    duration('2s', '10m'),
    ELECTION_TIMES.renewMs,
    'A leader that could not renew for this long stops. Less than leaseDuration.',
  ),
  retryPeriod: setting(
    duration('500ms', '1m'),
    ELECTION_TIMES.retryMs,
    'Interval of attempts to acquire or renew. Less than renewDeadline.',
  ),
});

export const SETTINGS_SCHEMA = z.strictObject({
  cluster: mandatory(
    CLUSTER_NAME,
    'Name of this cluster, by which shards know it; unique in the fleet, and never changed.',
  ),
  shard: SHARD,
  listen: setting(
    LISTEN_ADDRESS,
    ':8770',
    'Address of probes and metrics (HTTP). The operator listens to nothing else.',
  ),
  session: SESSION,
  demand: DEMAND_SECTION,
  bootstrap: BOOTSTRAP,
  nodes: NODES,
  episodes: EPISODES,
  kubernetes: KUBERNETES,
  leaderElection: LEADER_ELECTION,
  log: section({
    level: setting(oneOf('debug', 'info', 'warn', 'error'), 'info' as const, 'Lowest level that is logged.'),
    format: setting(
      oneOf('auto', 'json', 'text'),
      'auto' as const,
      'Format of log lines; auto: text on a terminal, otherwise JSON.',
    ),
  }),
});

export type OperatorSettings = z.output<typeof SETTINGS_SCHEMA>;
