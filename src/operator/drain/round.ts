// One round over all nodes that drain: reads each node and its pods, plans evictions within the room of the budgets, and
// carries them out. Pods of one budget are evicted one after the other; pods without a budget in parallel.

import type { Clock } from '../../runtime/clock.ts';
import type { KubeClient } from '../kube/client.ts';
import type { Node, Pod } from '../kube/objects.ts';
import type { OperatorLog, OperatorMetrics } from '../nodes/contract.ts';
import { listAll, PODS } from '../nodes/paths.ts';
import { isNodeProtected } from '../pods/disruption.ts';
import { Budgets } from './budgets.ts';
import { type Drain, forEachLimited } from './drain.ts';
import { type DrainPod, drainPods, podId } from './drain-pods.ts';
import { Evictor } from './evictor.ts';
import type { NodeWrites } from './node-writes.ts';
import { type DrainingNode, type Eviction, planEvictions } from './plan.ts';
import { type DrainRecord, recordOf } from './record.ts';

/** What a round found and did on one node. */
export type Look =
  /** The API server did not answer. */
  | { readonly kind: 'unknown' }
  /** The Node no longer exists. */
  | { readonly kind: 'gone' }
  /** The Node has no record of this instruction any more. */
  | { readonly kind: 'released' }
  | {
      readonly kind: 'read';
      readonly node: Node;
      /** The node itself must not be disrupted. */
      readonly isProtected: boolean;
      readonly pods: readonly DrainPod[];
      readonly evicted: number;
      readonly blockers: readonly string[];
    };

export interface RoundDeps {
  readonly kube: KubeClient;
  readonly clock: Clock;
  readonly writes: NodeWrites;
  readonly log: OperatorLog;
  readonly metrics: OperatorMetrics;
  /** Whether pods of the node may be evicted now; asked again before each eviction. */
  readonly mayEvict: (drain: Drain) => boolean;
}

interface Read {
  readonly drain: Drain;
  readonly node: Node;
  readonly pods: readonly DrainPod[];
}

interface Progress {
  evicted: number;
  readonly blockers: Set<string>;
}

export class DrainRound {
  readonly #deps: RoundDeps;
  readonly #budgets: Budgets;
  readonly #evictor: Evictor;

  constructor(deps: RoundDeps) {
    this.#deps = deps;
    this.#budgets = new Budgets(deps.kube, deps.log);
    this.#evictor = new Evictor(deps.kube, deps.metrics);
  }

  async run(drains: readonly Drain[]): Promise<ReadonlyMap<Drain, Look>> {
    const looks = new Map<Drain, Look>();
    const reads: Read[] = [];
    await forEachLimited(drains, async (drain) => {
      const read = await this.#read(drain);
      if ('kind' in read) looks.set(drain, read);
      else reads.push(read);
    });
    const progress = new Map(
      reads.map(({ drain }) => [drain.node, { evicted: 0, blockers: new Set<string>() }]),
    );
    const movable = reads.filter(({ drain, pods }) => pods.length > 0 && this.#deps.mayEvict(drain));
    if (movable.length > 0) await this.#evict(movable, progress);
    for (const { drain, node, pods } of reads) {
      const { evicted, blockers } = progress.get(drain.node)!;
      const isProtected = isNodeProtected(node.metadata.annotations);
      looks.set(drain, { kind: 'read', node, isProtected, pods, evicted, blockers: [...blockers].sort() });
    }
    return looks;
  }

  async #read(drain: Drain): Promise<Read | Look> {
    const { kube, writes, log } = this.#deps;
    try {
      const node = await writes.read(drain.node);
      if (node === null) return { kind: 'gone' };
      const record = recordOf(node);
      if (record?.instruction !== drain.record.instruction) return { kind: 'released' };
      drain.record = record;
      if (node.spec?.unschedulable !== true) await this.#cordonAgain(drain, record);
      const pods = await listAll<Pod>(kube, PODS, { fieldSelector: `spec.nodeName=${drain.node}` });
      return { drain, node, pods: drainPods(pods) };
    } catch (error) {
      log('info', 'drain.unreadable', { node: drain.node, error });
      return { kind: 'unknown' };
    }
  }

  /** The node was uncordoned by hand; the instruction still asks for it. `do-not-disrupt` on the node is the way out. */
  async #cordonAgain(drain: Drain, record: DrainRecord): Promise<void> {
    await this.#deps.writes.cordon(drain.node, (now) =>
      recordOf(now)?.instruction === record.instruction ? { ...record, cordoned: true } : null,
    );
  }

  async #evict(reads: readonly Read[], progress: ReadonlyMap<string, Progress>): Promise<void> {
    const { clock, mayEvict } = this.#deps;
    const namespaces = new Set(reads.flatMap(({ pods }) => pods.map(({ namespace }) => namespace)));
    const room = await this.#budgets.read([...namespaces].sort(), clock.now());
    const nodes = reads.map(
      ({ drain, node, pods }): DrainingNode => ({
        name: drain.node,
        record: drain.record,
        isProtected: isNodeProtected(node.metadata.annotations),
        pods,
      }),
    );
    const drains = new Map(reads.map(({ drain }) => [drain.node, drain]));
    const plans = planEvictions(nodes, room, clock.now());
    for (const { node, blockers } of plans)
      for (const blocker of blockers) progress.get(node)!.blockers.add(blocker);
    const all = plans.flatMap(({ evictions }) => evictions);
    const budgeted = all.filter(({ budgets }) => budgets.length > 0);
    const exhausted = new Set<string>();
    const one = async (eviction: Eviction) => {
      const drain = drains.get(eviction.node)!;
      // A withdrawal may have come since the plan was made.
      if (!mayEvict(drain)) return;
      if (!eviction.isForced && eviction.budgets.some((id) => exhausted.has(id))) return;
      await this.#carryOut(eviction, drain, progress.get(eviction.node)!, exhausted);
    };
    await Promise.all([
      forEachLimited(
        all.filter(({ budgets }) => budgets.length === 0),
        one,
      ),
      inOrder(budgeted, one),
    ]);
  }

  async #carryOut(
    eviction: Eviction,
    drain: Drain,
    progress: Progress,
    exhausted: Set<string>,
  ): Promise<void> {
    const { pod, budgets, isForced } = eviction;
    const { clock, log, mayEvict } = this.#deps;
    const outcome = await this.#evictor.evict(pod);
    if (outcome === 'evicted' || outcome === 'gone') {
      progress.evicted++;
      for (const id of budgets) this.#budgets.accepted(id);
      return;
    }
    if (isForced && mayEvict(drain)) {
      if ((await this.#evictor.delete(pod)) !== 'failed') {
        progress.evicted++;
        for (const id of budgets) drain.broken.add(id);
        log('warn', 'drain.forced', { node: drain.node, pod: podId(pod), budgets });
        return;
      }
    }
    if (outcome === 'budget')
      for (const id of budgets) {
        this.#budgets.refused(id, clock.now());
        exhausted.add(id);
        progress.blockers.add(id);
      }
    if (outcome === 'failed' || budgets.length === 0) progress.blockers.add(podId(pod));
  }
}

async function inOrder<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  for (const item of items) await work(item);
}
