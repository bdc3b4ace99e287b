// What an end-to-end case of the operator is, and pieces that several of them use. The cases are in *-cases.ts, the tests in
// end-to-end*.test.ts.

import type { TestContext } from 'vitest';
import type { Target } from '../../testing/kube/control-plane.ts';
import { asks, type KubeWorld } from './kube-world.ts';

export type CaseScope = Pick<TestContext, 'onTestFinished'>;

export interface EndToEndCase {
  readonly title: string;
  /** Needs what only one of the two control planes has. Default: both. */
  readonly only?: Target;
  readonly run: (target: Target, context: CaseScope) => Promise<void>;
  /** Default: what a case needs that waits for a control plane on a busy machine several times. */
  readonly timeoutMs?: number;
}

/** Labels of all machines: pods ask for this architecture unless they say otherwise. */
export const AMD64: ReadonlyMap<string, string> = new Map([['kubernetes.io/arch', 'amd64']]);

/**
 * Brings a cluster to two nodes with one pod of `app` each, of which one node is enough: two large pods need both nodes, the
 * pods of `app` fill them up evenly, and then the large ones go.
 */
export async function excessNode(world: KubeWorld, app: string, budget: object): Promise<readonly string[]> {
  await world.deploy('large', 2, asks('2200m'));
  await world.until('two large pods run', async () => (await world.running('large')) === 2);
  await world.budget(app, budget);
  await world.deploy(app, 2, asks('500m'));
  await world.until('two small pods run', async () => (await world.running(app)) === 2);
  const nodes = new Set((await world.pods(undefined, app)).map(({ spec }) => spec.nodeName ?? ''));
  if (nodes.size !== 2) throw new Error('the scheduler did not spread the small pods');
  await world.deploy('large', 0, asks('2200m'));
  return [...nodes];
}

/** The node whose drain is blocked by the budget of an app, once an Event on it names the budget. */
export async function blockedNode(world: KubeWorld, app: string): Promise<string> {
  await world.until('a node is cordoned', async () => (await world.cordoned()).length === 1);
  const { name } = (await world.cordoned())[0]!.metadata;
  await world.until('an Event on the node names the budget', async () =>
    (await world.events(name)).some(
      (event) => event.startsWith('DrainBlocked') && event.includes(`pdb/default/${app}`),
    ),
  );
  return name;
}

/** Waits until the shard decides with roll-ups that call as many nodes protected. */
export async function factsKnown(world: KubeWorld, cluster: string, isProtected: number): Promise<void> {
  const metric = (series: string) => world.operatorMetric(`bigfleet_operator_${series}`, cluster);
  await world.until(
    `${isProtected} nodes are reported as protected`,
    async () => (await metric('nodes_reported{fact="protected"}')) === isProtected,
  );
  const acknowledged = () => metric('rollups_total{outcome="acknowledged"}');
  // The roll-up before may still be on its way.
  const goal = (await acknowledged()) + 2;
  await world.until('the roll-up is acknowledged', async () => (await acknowledged()) >= goal);
  await world.world.cycles(2);
}

/** Identities of the pods of an app that run, sorted: equal if none was replaced. */
export async function identities(world: KubeWorld, app: string, name?: string): Promise<readonly string[]> {
  const pods = await world.pods(name, app);
  return pods
    .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
    .map(({ metadata }) => metadata.uid ?? '')
    .sort();
}
