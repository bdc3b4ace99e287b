// What a pod asks of a node, as kube-scheduler computes it, for the fake scheduler and for tests that compare with it.
// Written without the operator's own translation, so that the two can disagree.

import type { Container, Node, Pod, ResourceList } from '../../src/operator/kube/index.ts';

export type Amounts = ReadonlyMap<string, number>;

const SUFFIX: Readonly<Record<string, number>> = {
  '': 1,
  n: 1e-9,
  u: 1e-6,
  m: 1e-3,
  k: 1e3,
  M: 1e6,
  G: 1e9,
  T: 1e12,
  P: 1e15,
  E: 1e18,
  Ki: 2 ** 10,
  Mi: 2 ** 20,
  Gi: 2 ** 30,
  Ti: 2 ** 40,
  Pi: 2 ** 50,
  Ei: 2 ** 60,
};

function amountOf(quantity: string | number): number {
  const [, digits = '0', suffix = ''] =
    /^([+-]?[\d.]+(?:[eE][+-]?\d+)?)([a-zA-Z]*)$/.exec(String(quantity)) ?? [];
  return Number(digits) * (SUFFIX[suffix] ?? 1);
}

export function amountsOf(list: ResourceList | undefined): Amounts {
  return new Map(Object.entries(list ?? {}).map(([name, quantity]) => [name, amountOf(quantity)]));
}

/** max(sum of containers and sidecars, peak of init containers), then overhead. */
export function podRequests({ spec }: Pod): ResourceList {
  const main = sum(spec.containers.map(requestsOf));
  let sidecars: Amounts = new Map();
  let peak: Amounts = new Map();
  for (const container of spec.initContainers ?? []) {
    if (container.restartPolicy === 'Always') {
      sidecars = sum([sidecars, requestsOf(container)]);
      peak = most(peak, sidecars);
    } else peak = most(peak, sum([sidecars, requestsOf(container)]));
  }
  const containers = most(sum([main, sidecars]), peak);
  const podLevel = amountsOf(spec.resources?.requests);
  const chosen = new Map([...containers, ...podLevel]);
  return Object.fromEntries(sum([chosen, amountsOf(spec.overhead)]));
}

function requestsOf({ resources }: Container): Amounts {
  return amountsOf(resources?.requests);
}

function sum(list: readonly Amounts[]): Amounts {
  const total = new Map<string, number>();
  for (const each of list)
    for (const [name, amount] of each) total.set(name, (total.get(name) ?? 0) + amount);
  return total;
}

function most(a: Amounts, b: Amounts): Amounts {
  const result = new Map(a);
  for (const [name, amount] of b) result.set(name, Math.max(result.get(name) ?? 0, amount));
  return result;
}

export interface NodeRoom {
  readonly free: Amounts;
}

export function roomOf(node: Node, placed: readonly Pod[]): NodeRoom {
  const free = new Map(amountsOf(node.status?.allocatable ?? node.status?.capacity));
  for (const pod of placed) {
    if (pod.spec.nodeName !== node.metadata.name) continue;
    for (const [name, amount] of amountsOf(podRequests(pod))) free.set(name, (free.get(name) ?? 0) - amount);
    free.set('pods', (free.get('pods') ?? 0) - 1);
  }
  return { free };
}

/** The first resource that does not fit; null if all do. */
export function fits(wanted: Amounts, { free }: NodeRoom): string | null {
  if ((free.get('pods') ?? 0) < 1) return 'pods';
  // Sums of fractions are not exact.
  const short = [...wanted].find(
    ([name, amount]) => amount > 0 && amount > (free.get(name) ?? 0) * (1 + 1e-12),
  );
  return short?.[0] ?? null;
}
