// Facade of a shard for questions, orders and subscribers. Orders about quarantined roll-ups go to the sessions, which
// keep them; everything else goes to the controller, and answers are completed with the state of the roll-ups. Made by
// shard.ts for the API.

import { BigFleetError, excerpt, type Problem } from '../../model/index.ts';
import type { ReportView } from '../demand/cluster-demand.ts';
import type { ControllerPort } from '../events.ts';
import type { NeedFindings } from '../planning/queries/need-findings.ts';
import { offsetOf, recut } from '../planning/queries/pages.ts';
import type { Sessions } from '../sessions/sessions.ts';
import type {
  Answer,
  ClusterView,
  HistoryAsk,
  HistoryPage,
  NeedExplanation,
  Order,
  OrderResult,
  QuestionName,
  Questions,
  ReportsView,
  RollupOrder,
  ShardEvent,
  ShardPort,
} from '../views.ts';
import { explainedNeed } from './need-explainer.ts';

export class ShardFacade implements ShardPort {
  readonly #controller: ControllerPort;
  readonly #sessions: Pick<Sessions, 'reports' | 'acceptQuarantined' | 'refuseQuarantined'>;
  readonly #journal: string | null;
  readonly #findings: ((need: string) => Promise<NeedFindings | null>) | null;

  /** `journal`: its file; null without one. `findings` on a replica of the ledger; null: the controller explains all Needs. */
  constructor(
    controller: ControllerPort,
    sessions: Pick<Sessions, 'reports' | 'acceptQuarantined' | 'refuseQuarantined'>,
    journal: string | null = null,
    findings: ((need: string) => Promise<NeedFindings | null>) | null = null,
  ) {
    this.#controller = controller;
    this.#sessions = sessions;
    this.#journal = journal;
    this.#findings = findings;
  }

  async ask<Q extends QuestionName>(name: Q, ask: Questions[Q]['ask']): Promise<Answer<Q>> {
    if (name === 'clusters') return (await this.#clusters(ask as Questions['clusters']['ask'])) as Answer<Q>;
    if (name === 'history' && this.#journal !== null)
      return (await this.#history(this.#journal, ask as HistoryAsk)) as Answer<Q>;
    if (name === 'machines' && this.#journal !== null)
      return (await this.#machines(this.#journal, ask as Questions['machines']['ask'])) as Answer<Q>;
    if (name === 'explain') return (await this.#explain(ask as Questions['explain']['ask'])) as Answer<Q>;
    return await this.#controller.ask(name, ask);
  }

  async order(order: Order): Promise<OrderResult> {
    if (order.kind !== 'accept-rollup' && order.kind !== 'refuse-rollup')
      return this.#controller.order(order);
    const result = await this.#heldOrder(order);
    this.#controller.post({ kind: 'ordered', order, result });
    return result;
  }

  listen(listener: (event: ShardEvent) => void): () => void {
    return this.#controller.listen(listener);
  }

  async #explain(ask: Questions['explain']['ask']): Promise<NeedExplanation | null> {
    const story =
      this.#findings === null
        ? await this.#controller.ask('explain', ask)
        : await explainedNeed(this.#controller, this.#findings, ask.need);
    return this.#withRemarks(story);
  }

  /** The journal outlives the process and keeps days; the events in memory are all there is until it is written. */
  async #history(journal: string, ask: HistoryAsk): Promise<HistoryPage> {
    // Loaded on demand: most shards are never asked, and SQLite takes a while.
    const { historyPage } = await import('../journal/history-page.ts');
    try {
      return historyPage(journal, ask);
    } catch (error) {
      if (!(error instanceof BigFleetError)) throw error;
      return await this.#controller.ask('history', ask);
    }
  }

  /** Of a single machine, with the time of its purchase from the journal: the actions in memory end with the process. */
  async #machines(journal: string, ask: Questions['machines']['ask']): Promise<Answer<'machines'>> {
    const { id } = ask.where;
    if (id === undefined) return await this.#controller.ask('machines', ask);
    const { purchaseOf } = await import('../journal/history-page.ts');
    return await this.#controller.ask('machines', { ...ask, boughtMs: purchaseOf(journal, id) });
  }

  async #heldOrder({ kind, cluster }: RollupOrder): Promise<OrderResult> {
    const isMeant = kind === 'accept-rollup';
    const name = excerpt(cluster);
    const isHeld = this.#sessions.reports.some(
      (report) => report.cluster === cluster && report.held !== null,
    );
    const isDone = isMeant
      ? await this.#sessions.acceptQuarantined(cluster)
      : await this.#sessions.refuseQuarantined(cluster);
    if (!isDone && isHeld)
      return { isDone, message: `A roll-up of ${name} is held, but this failed; the log says why.` };
    if (!isDone) return { isDone, message: `No roll-up of ${name} is held.` };
    const message = isMeant
      ? `The roll-up of ${name} counts from now on.`
      : `The roll-up of ${name} stays refused, even if it is sent again.`;
    return { isDone, message };
  }

  /** Adds why the last roll-up of the cluster is not, or not completely, the demand that counts. */
  #withRemarks(story: NeedExplanation | null): NeedExplanation | null {
    const cluster = story?.need.cluster;
    const report = this.#sessions.reports.find((each) => each.cluster === cluster);
    if (story === null || report === undefined) return story;
    return { ...story, remarks: [...story.remarks, ...remarksOn(report)] };
  }

  /**
   * Clusters with the state of their reports. `alsoNamed` adds clusters that the controller does not know because no
   * roll-up of theirs was accepted: an operator has to correct those.
   */
  async #clusters(ask: Questions['clusters']['ask']): Promise<Answer<'clusters'>> {
    const reports = new Map(this.#sessions.reports.map((report) => [report.cluster, report]));
    const inTrouble = [...reports.values()].filter(
      ({ problems, held }) => problems !== null || held !== null,
    );
    const alsoNamed = inTrouble.map(({ cluster }) => cluster);
    const page = await this.#controller.ask('clusters', { ...ask, alsoNamed });
    const items = page.items.map((cluster): ClusterView => {
      const report = reports.get(cluster.cluster);
      return report === undefined ? cluster : { ...cluster, reports: reportsView(report) };
    });
    const skip = ask.order === 'trouble' ? offsetOf(ask) : 0;
    const positionOf = ({ cluster }: ClusterView, count: number): string =>
      ask.order === 'trouble' ? String(skip + count) : cluster;
    return recut({ ...page, items }, ask.maxBytes, positionOf);
  }
}

/** Most problems and remarks shown of a roll-up, and most bytes of each. */
const MAX_PROBLEMS = 10;
const MAX_PROBLEM_BYTES = 1000;

function remarksOn({
  cluster,
  problems,
  rowsSetAside,
  remarks: ofRows,
  held,
}: ReportView): readonly string[] {
  const remarks: string[] = [];
  const name = excerpt(cluster);
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
  return problem === undefined ? '' : excerpt(`${problem.path}: ${problem.message}`, MAX_PROBLEM_BYTES);
}

function reportsView({ lastReportMs, problems, remarks, held }: ReportView): ReportsView {
  return {
    lastReportMs,
    problems: (problems ?? []).slice(0, MAX_PROBLEMS).map(textOf),
    remarks: remarks.first.slice(0, MAX_PROBLEMS).map((remark) => `${remark.effect}: ${textOf(remark)}`),
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
