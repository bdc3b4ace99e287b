// What the shard says about the last roll-up as a whole: rows it set aside or changed, and roll-ups it holds or refuses.
// An Event on the operator's own object when it changes, and one on the pods of a row that is set aside.

import { excerpt } from '../../model/index.ts';
import {
  type RollupReport,
  RollupReport_Effect,
  RollupReport_Outcome,
  type RollupReport_Problem,
} from '../../wire/gen/bigfleet/v1alpha1/shard.ts';
import type { PodsView, RowKey } from '../demand/contract.ts';
import type { EventSink, ObjectReference, OperatorLog, OperatorMetrics } from '../nodes/contract.ts';
import { podReference } from './pod-events.ts';
import { countOf } from './texts.ts';

const EFFECTS: Readonly<Record<number, string>> = {
  [RollupReport_Effect.EFFECT_SET_ASIDE]: 'set aside: it keeps its machines and gets no new ones',
  [RollupReport_Effect.EFFECT_SATURATED]: 'counted as the largest amount there is',
  [RollupReport_Effect.EFFECT_ZEROED]: 'counted as zero',
  [RollupReport_Effect.EFFECT_REFUSED]: 'the reason why the roll-up was refused',
};
const OUTCOMES: Readonly<Record<number, string>> = {
  [RollupReport_Outcome.OUTCOME_HELD]:
    'The shard holds the roll-up: it lacks most of the demand known before.',
  [RollupReport_Outcome.OUTCOME_REFUSED]: 'The shard refused the roll-up; the demand known before stays.',
};
/** Problems that one Event names. */
const MAX_NAMED = 5;
/** Pods of a row that get an Event about it. */
const MAX_PODS = 20;

/** One problem, as the ConfigMap of verdicts has it. */
export interface RollupProblemText {
  readonly code: string;
  readonly path: string;
  readonly message: string;
  readonly effect: string;
  readonly row: RowKey | null;
}

export interface RollupRemarksDeps {
  readonly events: EventSink;
  readonly log: OperatorLog;
  readonly metrics: OperatorMetrics;
  readonly pods: Pick<PodsView, 'pendingPods'>;
  /** The operator's own Deployment or pod. */
  readonly self: ObjectReference;
  /** The row at an index of the roll-up with that timestamp; null if it is not known any more. */
  readonly rowAt?: (needIndex: number, timestampUnixNanos: bigint) => RowKey | null;
}

export class RollupRemarks {
  readonly #deps: RollupRemarksDeps;
  #problems: readonly RollupProblemText[] = [];
  #text = '';

  constructor(deps: RollupRemarksDeps) {
    this.#deps = deps;
  }

  get problems(): readonly RollupProblemText[] {
    return this.#problems;
  }

  apply(report: RollupReport): void {
    const { outcome, total, problems, timestampUnixNanos } = report;
    const { events, metrics, log, self, rowAt } = this.#deps;
    this.#problems = problems.map((problem) => ({
      code: excerpt(problem.code),
      path: excerpt(problem.path),
      message: excerpt(problem.message),
      effect: EFFECTS[problem.effect] ?? 'noted',
      row: problem.needIndex < 0 ? null : (rowAt?.(problem.needIndex, timestampUnixNanos) ?? null),
    }));
    metrics.gauge('bigfleet_operator_rollup_problems', total);
    metrics.gauge(
      'bigfleet_operator_rollup_accepted',
      outcome === RollupReport_Outcome.OUTCOME_ACCEPTED ? 1 : 0,
    );
    const text = [OUTCOMES[outcome] ?? '', this.#problemText(total)].filter((part) => part !== '').join(' ');
    if (text === this.#text) return;
    this.#text = text;
    if (text === '') {
      events.event(self, 'Normal', 'RollupAccepted', 'The shard accepts the roll-up without a remark.');
      return;
    }
    log('warn', 'rollup.remarks', { outcome, total, text });
    events.event(self, 'Warning', outcome in OUTCOMES ? 'RollupNotAccepted' : 'RollupRemarks', text);
    this.#tellPods(problems);
  }

  #problemText(total: number): string {
    if (total === 0) return '';
    const named = this.#problems
      .slice(0, MAX_NAMED)
      .map(({ path, message, effect }) => `${path}: ${message} (${effect})`);
    return `${countOf(total, 'problem')}: ${named.join('; ')}${total > named.length ? '; …' : ''}`;
  }

  #tellPods(problems: readonly RollupReport_Problem[]): void {
    const byRow = new Map<string, string>();
    for (const [i, { row, message, effect }] of this.#problems.entries())
      if (row !== null && problems[i]!.effect === RollupReport_Effect.EFFECT_SET_ASIDE)
        byRow.set(`${row.fingerprint}\n${row.group}`, `${message} (${effect}).`);
    if (byRow.size === 0) return;
    let left = MAX_PODS * byRow.size;
    for (const pod of this.#deps.pods.pendingPods()) {
      const text = byRow.get(`${pod.row.fingerprint}\n${pod.row.group}`);
      if (text === undefined || left-- <= 0) continue;
      this.#deps.events.event(podReference(pod), 'Warning', 'RowSetAside', text);
    }
  }
}
