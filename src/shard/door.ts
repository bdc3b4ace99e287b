// The door of a shard: where questions, orders and listeners come in. Most goes on to the brain; what concerns roll-ups
// is answered by the hands, which hold them.

import { type Problem, printable } from '../model/index.ts';
import type { BrainPort } from './events.ts';
import type { ReportView } from './hands/cluster-demand.ts';
import type { Hands } from './hands/hands.ts';
import type {
  Answer,
  ClusterView,
  NeedStory,
  News,
  Order,
  OrderResult,
  QuestionName,
  Questions,
  ReportsView,
  RollupOrder,
  ShardPort,
} from './views.ts';

export class Door implements ShardPort {
  readonly #brain: BrainPort;
  readonly #hands: Pick<Hands, 'reports' | 'acceptHeld' | 'refuseHeld'>;

  constructor(brain: BrainPort, hands: Pick<Hands, 'reports' | 'acceptHeld' | 'refuseHeld'>) {
    this.#brain = brain;
    this.#hands = hands;
  }

  async ask<Q extends QuestionName>(name: Q, ask: Questions[Q]['ask']): Promise<Answer<Q>> {
    const answer = await this.#brain.ask(name, ask);
    if (name === 'clusters') return this.#withReports(answer as readonly ClusterView[]) as Answer<Q>;
    if (name === 'explain') return this.#withRemarks(answer as NeedStory | null) as Answer<Q>;
    return answer;
  }

  async order(order: Order): Promise<OrderResult> {
    if (order.kind !== 'accept-rollup' && order.kind !== 'refuse-rollup') return this.#brain.order(order);
    const result = await this.#heldOrder(order);
    this.#brain.post({ kind: 'ordered', order, result });
    return result;
  }

  listen(listener: (news: News) => void): () => void {
    return this.#brain.listen(listener);
  }

  async #heldOrder({ kind, cluster }: RollupOrder): Promise<OrderResult> {
    const isMeant = kind === 'accept-rollup';
    const isHeld = this.#hands.reports.some((report) => report.cluster === cluster && report.held !== null);
    const isDone = isMeant ? await this.#hands.acceptHeld(cluster) : await this.#hands.refuseHeld(cluster);
    if (!isDone && isHeld)
      return { isDone, message: `A roll-up of ${cluster} is held, but this failed; the log says why.` };
    if (!isDone) return { isDone, message: `No roll-up of ${cluster} is held.` };
    const message = isMeant
      ? `The roll-up of ${cluster} counts from now on.`
      : `The roll-up of ${cluster} is not believed however often it comes.`;
    return { isDone, message };
  }

  /** Demand that is not what its cluster last said is explained by why that was not taken. */
  #withRemarks(story: NeedStory | null): NeedStory | null {
    const cluster = story?.need.cluster;
    const report = this.#hands.reports.find((each) => each.cluster === cluster);
    if (story === null || report === undefined) return story;
    return { ...story, remarks: [...story.remarks, ...remarksOn(report)] };
  }

  #withReports(clusters: readonly ClusterView[]): readonly ClusterView[] {
    const reports = new Map(this.#hands.reports.map((report) => [report.cluster, report]));
    const known = clusters.map((cluster) => {
      const report = reports.get(cluster.cluster);
      reports.delete(cluster.cluster);
      return report === undefined ? cluster : { ...cluster, reports: reportsView(report) };
    });
    const strangers = [...reports.values()].filter(
      ({ problems, held }) => problems !== null || held !== null,
    );
    return [...known, ...strangers.map(strangerView)];
  }
}

/** A cluster that the brain has never heard of, because nothing that it sent was taken. Somebody has to see to it. */
function strangerView(report: ReportView): ClusterView {
  return {
    ...{ cluster: report.cluster, hasSession: false, hasReported: false },
    ...{ needs: 0, unmet: 0, machinesByState: {}, costPerHour: 0 },
    ...{ freeze: null, cannotBind: 'It has no session.', setAside: null, reports: reportsView(report) },
  };
}

function remarksOn({
  cluster,
  problems,
  rowsSetAside,
  remarks: ofRows,
  held,
}: ReportView): readonly string[] {
  const remarks: string[] = [];
  const name = printable(cluster);
  if (problems !== null)
    remarks.push(
      `The last roll-up of ${name} was refused, and the one before it counts: ${textOf(problems[0])}`,
    );
  if (rowsSetAside > 0)
    remarks.push(
      `Rows of ${name} exceed a limit and are set aside (${rowsSetAside}): ${textOf(ofRows.first.find(({ effect }) => effect === 'set-aside'))}`,
    );
  if (held !== null)
    remarks.push(
      `A roll-up of ${name} with ${held.extent.rows} rows instead of ${held.baseline.rows} is held: see "bigfleet accept rollup ${name}".`,
    );
  return remarks;
}

function textOf(problem: Problem | undefined): string {
  return problem === undefined ? '' : `${problem.path}: ${problem.message}`;
}

function reportsView({ lastReportMs, problems, remarks, held }: ReportView): ReportsView {
  return {
    lastReportMs,
    problems: (problems ?? []).map(textOf),
    remarks: remarks.first.map((remark) => `${remark.effect}: ${textOf(remark)}`),
    remarksTotal: remarks.total,
    held:
      held === null
        ? null
        : {
            ...{ sinceMs: held.sinceMs, count: held.count, isRefused: held.isRefused },
            ...{ rows: held.extent.rows, knownRows: held.baseline.rows },
          },
  };
}
