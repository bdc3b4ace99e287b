// One round over nodes that drain: reads each node and its pods, plans evictions within the room of the budgets, and carries
// them out. Pods of one budget are evicted one after the other; pods that need no room in parallel. A round is short, however
// many nodes drain: what it does not begin in time is left to the next one, which looks at the most urgent nodes first.

import type { MonotonicClock } from '../../runtime/clock.ts';
import type { KubeClient } from '../kube/client.ts';
import type { Node, Pod } from '../kube/objects.ts';
import type { OperatorLog, OperatorMetrics } from '../nodes/contract.ts';
import { listAll, PODS } from '../nodes/paths.ts';
import { isNodeProtected } from '../pods/disruption.ts';
import { type BudgetRoom, Budgets } from './budgets.ts';
import { type Drain, forEachLimited } from './drain.ts';
import { type DrainPod, drainPods, podId } from './drain-pods.ts';
import { Evictor } from './evictor.ts';
import type { NodeWrites } from './node-writes.ts';
import { type DrainingNode, type Eviction, planEvictions } from './plan.ts';
import { type DrainKind, type DrainRecord, recordOf } from './record.ts';

/** How long a round begins reads, and then evictions. */
const MAX_PART_MS = 2_000;

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
      /** The pods were read long enough after the cordon for all earlier bindings to be among them. */
      readonly isSettled: boolean;
      readonly evicted: number;
      readonly blockers: readonly string[];
      /** Evictions were left to the next round. */
      readonly isCut: boolean;
    };

export interface RoundDeps {
  readonly kube: KubeClient;
  readonly clock: MonotonicClock;
  readonly writes: NodeWrites;
  readonly log: OperatorLog;
  readonly metrics: OperatorMetrics;
  readonly settleMs: number;
  /** Whether pods of the node may be evicted now; asked again before each eviction. */
  readonly mayEvict: (drain: Drain) => boolean;
  /** Budgets that preemptions wait for: no reclaim uses their room. */
  readonly awaitedByPreemptions: () => Iterable<string>;
}

interface Read {
  readonly drain: Drain;
  readonly node: Node;
  readonly pods: readonly DrainPod[];
  readonly isSettled: boolean;
}

interface Progress {
  evicted: number;
  isCut: boolean;
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

  /** Looks at drains of one kind, in their order. Those that the result lacks are still due. */
  async run(kind: DrainKind, drains: readonly Drain[]): Promise<ReadonlyMap<Drain, Look>> {
    const { clock, mayEvict } = this.#deps;
    const looks = new Map<Drain, Look>();
    const reads: Read[] = [];
    const endMs = clock.monotonic() + MAX_PART_MS;
    await forEachLimited(drains, async (drain) => {
      if (clock.monotonic() >= endMs) return;
      const read = await this.#read(drain);
      if ('kind' in read) looks.set(drain, read);
      else reads.push(read);
    });
    const progress = new Map(
      reads.map(({ drain }) => [drain.node, { evicted: 0, isCut: false, blockers: new Set<string>() }]),
    );
    const movable = reads.filter(({ drain, pods }) => pods.length > 0 && mayEvict(drain));
    if (movable.length > 0) await this.#evict(kind, movable, progress);
    for (const { drain, node, pods, isSettled } of reads) {
      const { evicted, blockers, isCut } = progress.get(drain.node)!;
      const isProtected = isNodeProtected(node.metadata.annotations);
      const found = { node, isProtected, pods, isSettled, evicted, isCut };
      looks.set(drain, { kind: 'read', ...found, blockers: [...blockers].sort() });
    }
    return looks;
  }

  async #read(drain: Drain): Promise<Read | Look> {
    const { kube, clock, writes, log, settleMs } = this.#deps;
    try {
      const node = await writes.read(drain.node);
      if (node === null) return { kind: 'gone' };
      const record = recordOf(node);
      if (record?.instruction !== drain.record.instruction) return { kind: 'released' };
      // The state is this process's own: where the answer to its write was lost, the Node may say `drained` before the report
      // has left, and a drain that is not open is not looked at again.
      drain.record = { ...record, state: drain.record.state };
      if (node.spec?.unschedulable !== true) await this.#cordonAgain(drain, record);
      const isSettled = clock.monotonic() - drain.cordonedMs >= settleMs;
      const query = { fieldSelector: `spec.nodeName=${drain.node}` };
      const pods = await listAll<Pod>(kube, PODS, query, { maxRetries: 0 });
      return { drain, node, pods: drainPods(pods), isSettled };
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
    drain.cordonedMs = this.#deps.clock.monotonic();
  }

  async #evict(
    kind: DrainKind,
    reads: readonly Read[],
    progress: ReadonlyMap<string, Progress>,
  ): Promise<void> {
    const { clock, mayEvict } = this.#deps;
    const namespaces = new Set(reads.flatMap(({ pods }) => pods.map(({ namespace }) => namespace)));
    const room = await this.#budgets.read([...namespaces].sort(), clock.monotonic());
    // Planned and claimed at once, so that a round of the other kind counts it.
    const all = this.#plan(kind, reads, room, progress);
    for (const { needsRoom, budgets } of all) if (needsRoom) this.#budgets.claim(budgets);

    const drains = new Map(reads.map(({ drain }) => [drain.node, drain]));
    const exhausted = new Set<string>();
    const endMs = clock.monotonic() + MAX_PART_MS;
    const one = async (eviction: Eviction): Promise<void> => {
      const { node, budgets, isForced } = eviction;
      const drain = drains.get(node)!;
      if (clock.monotonic() >= endMs) progress.get(node)!.isCut = true;
      // A withdrawal may have come since the plan was made.
      else if (mayEvict(drain) && (isForced || !budgets.some((id) => exhausted.has(id))))
        await this.#carryOut(eviction, drain, progress.get(node)!, exhausted);
      if (eviction.needsRoom) this.#budgets.release(budgets);
    };
    await Promise.all([
      forEachLimited(
        all.filter(({ needsRoom }) => !needsRoom),
        one,
      ),
      forEachLimited(byBudget(all.filter(({ needsRoom }) => needsRoom)), async (group) => {
        for (const eviction of group) await one(eviction);
      }),
    ]);
  }

  #plan(
    kind: DrainKind,
    reads: readonly Read[],
    room: BudgetRoom,
    progress: ReadonlyMap<string, Progress>,
  ): readonly Eviction[] {
    if (kind === 'reclaim') for (const id of this.#deps.awaitedByPreemptions()) room.exhaust(id);
    const nodes = reads.map(
      ({ drain, node, pods }): DrainingNode => ({
        name: drain.node,
        record: drain.record,
        isProtected: isNodeProtected(node.metadata.annotations),
        pods,
      }),
    );
    const plans = planEvictions(nodes, room, this.#deps.clock.now());
    for (const { node, blockers } of plans)
      for (const blocker of blockers) progress.get(node)!.blockers.add(blocker);
    return plans.flatMap(({ evictions }) => evictions);
  }

  async #carryOut(
    eviction: Eviction,
    drain: Drain,
    progress: Progress,
    exhausted: Set<string>,
  ): Promise<void> {
    const { pod, budgets, needsRoom, isForced } = eviction;
    const { clock, mayEvict } = this.#deps;
    const outcome = await this.#evictor.evict(pod);
    if (outcome.kind === 'failed') {
      // Whether a budget holds the pod is not known, so it is not deleted past the deadline either.
      progress.blockers.add(podId(pod));
      return;
    }
    if (outcome.kind !== 'budget') {
      progress.evicted++;
      if (needsRoom) for (const id of budgets) this.#budgets.accepted(id);
      return;
    }
    const refusing = outcome.budget === null ? budgets : [outcome.budget];
    if (isForced && mayEvict(drain)) {
      await this.#force(pod, refusing, drain, progress);
      return;
    }
    for (const id of refusing) {
      progress.blockers.add(id);
      exhausted.add(id);
      // Of a pod that was expected to need no room, the health has changed since: that says nothing about the others.
      if (needsRoom) this.#budgets.refused(id, clock.monotonic());
    }
    if (refusing.length === 0) progress.blockers.add(podId(pod));
  }

  /** Past the deadline of a preemption: deletes a pod that budgets refused to release. */
  async #force(pod: DrainPod, budgets: readonly string[], drain: Drain, progress: Progress): Promise<void> {
    const outcome = await this.#evictor.delete(pod);
    if (outcome === 'failed') {
      for (const id of budgets) progress.blockers.add(id);
      progress.blockers.add(podId(pod));
      return;
    }
    progress.evicted++;
    if (outcome === 'gone') return;
    for (const id of budgets) drain.broken.add(id);
    this.#deps.log('warn', 'drain.forced', { node: drain.node, pod: podId(pod), budgets });
  }
}

/** Evictions of the same budgets, in their order. */
function byBudget(evictions: readonly Eviction[]): readonly (readonly Eviction[])[] {
  const groups = new Map<string, Eviction[]>();
  for (const eviction of evictions) {
    const key = eviction.budgets.join();
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [eviction]);
    else group.push(eviction);
  }
  return [...groups.values()];
}
