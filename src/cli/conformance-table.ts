// Renders a conformance report for people, for `bigfleet provider conformance`: the verdict, every behaviour in a line,
// and each failure in full.

import { printable } from '../model/index.ts';
import type { BehaviourResult, ConformanceReport, Status, Verdict } from '../provider/index.ts';
import {
  type Cell,
  indented,
  noPaint,
  type Paint,
  type Style,
  shorten,
  tableLines,
  tableWidth,
} from './table.ts';

const STATUS_STYLE: Readonly<Record<Status, Style>> = { passed: 'green', failed: 'red', skipped: 'yellow' };
const VERDICT_STYLE: Readonly<Record<Verdict, Style>> = {
  certified: 'green',
  failed: 'red',
  incomplete: 'yellow',
};
const COLUMNS = [{ header: '' }, { header: '' }, { header: '', align: 'right' }, { header: '' }] as const;

export function conformanceLines(report: ConformanceReport, paint: Paint = noPaint): readonly string[] {
  const unpassed = report.behaviours.filter(({ status }) => status !== 'passed');
  return [
    ...areaLines(report.behaviours, paint),
    ...unpassed.flatMap((result) => [...detailLines(result, paint), '']),
    ...summaryLines(report, paint),
  ];
}

/** A table per area, because the ids of the baseline are long and would leave no room for the others. */
function areaLines(results: readonly BehaviourResult[], paint: Paint): readonly string[] {
  const areas = [...new Set(results.map(({ area }) => area))];
  return areas.flatMap((area) => {
    const rows = results.filter((result) => result.area === area).map(row);
    return [paint('bold', area), ...tableLines(COLUMNS, rows, { paint, indent: 2 }), ''];
  });
}

function row({ id, status, durationMs, title }: BehaviourResult): readonly Cell[] {
  return [
    { text: id },
    { text: status, style: STATUS_STYLE[status] },
    { text: `${durationMs} ms`, style: 'dim' },
    { text: title },
  ];
}

function detailLines({ id, status, detail, isExcused }: BehaviourResult, paint: Paint): readonly string[] {
  const [failure = '', steps = ''] = detail.split(' · after ');
  return [
    paint(STATUS_STYLE[status], `${id} ${status}${isExcused ? ', excused' : ''}`),
    ...indented(failure, 2),
    ...(steps === '' ? [] : indented(`after ${steps}`, 4)),
  ];
}

function summaryLines(report: ConformanceReport, paint: Paint): readonly string[] {
  const { verdict, totals, target, profiles, only, seed, machinesUsed, durationMs, behaviours } = report;
  const excused = behaviours.filter(({ isExcused }) => isExcused).length;
  const scope = only.length > 0 ? `only ${only.join(', ')}` : profiles.join(', ');
  const counts = `${totals.passed} passed, ${totals.failed} failed, ${totals.skipped} skipped`;
  const facts = `${machinesUsed} machines used, seed ${seed}, ${(durationMs / 1000).toFixed(1)} s`;
  return [
    `${paint(VERDICT_STYLE[verdict], verdict.toUpperCase())}: ${counts} of ${totals.total}`,
    shorten(printable(`${target} · ${scope}`), tableWidth()),
    facts,
    ...(excused > 0 ? [`Excused, and so not needed for the verdict: ${excused} skipped.`] : []),
    ...(only.length > 0 && verdict === 'certified' ? ['Only the selected behaviours were checked.'] : []),
  ];
}
