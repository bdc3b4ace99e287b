// The report of `bigfleet assess` for a terminal: what runs now, what BigFleet would run, what sharing saves, what is stranded,
// and what could not be expressed. Lines have at most 100 columns. Called by assess.ts.

import {
  type Assessment,
  type Fleet,
  type FreshFleet,
  freshWarnings,
  gapLines,
  HOURS_PER_MONTH,
  leftOutLines,
  priceNote,
  SHARING_DEFINITION,
  type Sharing,
  type SharingSide,
  strandedTotals,
  waitingLines,
} from '../assess/index.ts';
import { count, countOf, dollars, roundAmount } from './amounts.ts';
import {
  type Cell,
  type Column,
  LINE_WIDTH,
  type Paint,
  proseWidth,
  tableLines,
  tableWidth,
  wrapped,
} from './table.ts';

/** Rows of a table that may be long; the JSON has all. */
const MAX_ROWS = 12;

export function reportText(assessment: Assessment, paint: Paint): string {
  const { at, catalogue, clusters } = assessment;
  const title = `Assessment of ${countOf(clusters.length, 'cluster')}, ${at}`;
  const note = prose(priceNote(assessment));
  const sections = [
    [
      paint('bold', title),
      ...(catalogue.isInvented ? note.map((line) => paint(['bold', 'yellow'], line)) : note),
    ],
    nowSection(assessment, paint),
    freshSection(assessment, paint),
    ...(assessment.sharing === null ? [] : [sharingSection(assessment.sharing, paint)]),
    strandedSection(assessment, paint),
    notExpressedSection(assessment, paint),
  ];
  return `${sections.map((lines) => lines.join('\n')).join('\n\n')}\n`;
}

type Lines = readonly string[];

function nowSection(assessment: Assessment, paint: Paint): Lines {
  const { clusters, now } = assessment;
  const sum = (of: 'needs' | 'pods' | 'waitingPods'): number =>
    clusters.reduce((all, each) => all + each[of], 0);
  const row = (name: string, fleet: Fleet, figures: readonly number[]): Lines => [
    ...[name, count(fleet.machines), dollars(fleet.dollarsPerHour), ...figures.map(count)],
  ];
  const rows = clusters.map((each) => row(each.name, each.now, [each.pods, each.waitingPods, each.needs]));
  const all = row('all', now, [sum('pods'), sum('waitingPods'), sum('needs')]);
  return [
    paint('bold', 'What you run and pay now'),
    ...table(
      ['CLUSTER', 'NODES', '$/H', 'PODS', 'WAITING', 'NEEDS'],
      clusters.length > 1 ? [...rows, all] : rows,
      paint,
    ),
    '',
    ...typesTable(now, 'NODES', paint),
    ...leftOutLines(assessment).flatMap((text) => warning(text, paint)),
  ];
}

function freshSection(assessment: Assessment, paint: Paint): Lines {
  const { clusters, now, onDemand, withSpot } = assessment;
  const fleets = [
    { name: 'BigFleet, on demand', fleet: onDemand },
    { name: 'BigFleet, with spot', fleet: withSpot },
  ].filter((each): each is { name: string; fleet: FreshFleet } => each.fleet !== null);
  const row = (name: string, { dollarsPerHour, machines }: Fleet, difference: string): Lines => [
    ...[
      name,
      count(machines),
      dollars(dollarsPerHour),
      dollars(dollarsPerHour * HOURS_PER_MONTH),
      difference,
    ],
  ];
  const main = fleets[0]?.fleet;
  return [
    paint('bold', 'What BigFleet would run for the same pods'),
    ...table(
      ['FLEET', 'MACHINES', '$/H', '$/MONTH', 'DIFFERENCE $/H'],
      [
        row('now', now, ''),
        ...fleets.map(({ fleet, name }) =>
          row(name, fleet, dollars(fleet.dollarsPerHour - now.dollarsPerHour)),
        ),
      ],
      paint,
    ),
    ...fleets.flatMap(({ fleet, name }) =>
      freshWarnings(fleet).flatMap((text) => warning(`${name}: ${text}`, paint)),
    ),
    ...waitingLines(assessment).flatMap(prose),
    ...(withSpot === null
      ? []
      : prose('Pods that do not state what an interruption costs accept spot machines.')),
    ...(main === undefined ? [] : ['', ...typesTable(main, 'MACHINES', paint)]),
    ...(main === undefined || clusters.length < 2
      ? []
      : [
          '',
          ...table(
            [
              'CLUSTER',
              'NODES NOW',
              '$/H NOW',
              ...fleets.map(({ name }) => `$/H ${name.replace('BigFleet, ', '').toUpperCase()}`),
            ],
            clusters.map(({ name, now: own }) => [
              ...[name, count(own.machines), dollars(own.dollarsPerHour)],
              ...fleets.map(({ fleet }) =>
                dollars(fleet.clusters.find((each) => each.name === name)?.dollarsPerHour ?? 0),
              ),
            ]),
            paint,
          ),
        ]),
  ];
}

function sharingSection(sharing: Sharing, paint: Paint): Lines {
  const { apart, apartByCluster, avoidedPerHour, headroomPerHour, together } = sharing;
  const row = (name: string, { bought, spare, unmetPods }: SharingSide): Lines => [
    ...[name, count(bought.machines), dollars(bought.dollarsPerHour)],
    ...[count(spare.machines), dollars(spare.dollarsPerHour), count(unmetPods)],
  ];
  return [
    paint('bold', 'What sharing one pool saves'),
    ...prose(SHARING_DEFINITION),
    ...table(
      ['', 'BOUGHT', '$/H', 'SPARE NODES', 'SPARE $/H', 'PODS NOT SERVED'],
      [
        ...apartByCluster.map((each) => row(`${each.name} alone`, each)),
        row('each cluster alone', apart),
        row('one pool', together),
      ],
      paint,
    ),
    ...prose(
      `One pool avoids purchases of ${dollars(avoidedPerHour)}/h. Of its spare nodes, ${dollars(headroomPerHour)}/h are beyond the largest spare of one cluster: with them returned, a burst of any one cluster would find as many as the best equipped cluster has alone.`,
    ),
  ];
}

function strandedSection({ clusters, strandedPerHour }: Assessment, paint: Paint): Lines {
  const rows = strandedTotals(clusters).map(
    ({ allocatable, dollarsPerHour, requested, resource, stranded }) => {
      const amount = (units: number): string =>
        roundAmount(resource, resource === 'cpu' ? units / 1000 : units);
      const share = allocatable === 0 ? 0 : (100 * stranded) / allocatable;
      return [
        ...[resource, amount(allocatable), amount(requested), amount(stranded), `${share.toFixed(0)} %`],
        dollars(dollarsPerHour),
      ];
    },
  );
  return [
    paint('bold', `What is stranded: ${dollars(strandedPerHour)}/h of what you pay`),
    ...table(['RESOURCE', 'ALLOCATABLE', 'REQUESTED', 'STRANDED', 'SHARE', '$/H'], cut(rows), paint),
    ...prose(
      'A price counts half for cores and half for memory, or for the accelerators of a node that has some.',
    ),
  ];
}

function notExpressedSection(assessment: Assessment, paint: Paint): Lines {
  const { clusters, onDemand, withSpot } = assessment;
  const listed = (
    title: string,
    rows: readonly {
      readonly cluster: string;
      readonly pods: number;
      readonly text: string;
      readonly examples: Lines;
    }[],
  ): Lines => [
    ...(rows.length === 0 ? [] : prose(title)),
    ...rows
      .slice(0, MAX_ROWS)
      .flatMap(({ cluster, examples, pods, text }) =>
        prose(
          `- ${cluster}, ${countOf(pods, 'pod')}: ${text}${examples.length === 0 ? '' : ` (${examples.slice(0, 2).join(', ')}${pods > 2 ? ', …' : ''})`}`,
        ),
      ),
    ...(rows.length > MAX_ROWS ? [`- and ${count(rows.length - MAX_ROWS)} more; -o json has all`] : []),
  ];
  const unmet = (onDemand ?? withSpot)?.unmet ?? [];
  const lines = [
    ...listed(
      'No Need counts them:',
      clusters.flatMap(({ name: cluster, notExpressed }) =>
        notExpressed.map((each) => ({ cluster, ...each })),
      ),
    ),
    ...listed(
      'Their Need leaves something out:',
      clusters.flatMap(({ name: cluster, remarks }) => remarks.map((each) => ({ cluster, ...each }))),
    ),
    ...listed(
      'No machine of the catalogue serves them:',
      unmet.map(({ cluster, pods, reason, wants }) => ({
        ...{ cluster, pods, examples: [] },
        text: `${reason}${wants === '' ? '' : `: ${wants}`}`,
      })),
    ),
  ];
  const gaps = gapLines(assessment).flatMap(prose);
  return [
    paint('bold', 'Pods that could not be expressed'),
    ...(lines.length === 0 ? ['None: the Needs say all that the pods ask for.'] : lines),
    ...(gaps.length === 0 ? [] : ['', paint('bold', 'What was not read'), ...gaps]),
  ];
}

function typesTable({ types }: Fleet, noun: string, paint: Paint): Lines {
  const rows = types.map(({ capacityType, dollarsPerHour, instanceType, machines }) => [
    ...[instanceType, capacityType, count(machines), dollars(dollarsPerHour)],
  ]);
  return table(['INSTANCE TYPE', 'CAPACITY', noun, '$/H'], cut(rows), paint, 2);
}

function cut(rows: readonly Lines[]): readonly Lines[] {
  return rows.length <= MAX_ROWS
    ? rows
    : [...rows.slice(0, MAX_ROWS), [`and ${rows.length - MAX_ROWS} more`]];
}

/** The first `names` columns have text, the others figures. */
function table(headers: Lines, rows: readonly Lines[], paint: Paint, names = 1): Lines {
  const columns = headers.map((header, i): Column => ({ header, ...(i < names ? {} : { align: 'right' }) }));
  const cells = rows.map((row) => row.map((text): Cell => ({ text })));
  return tableLines(columns, cells, { paint, width: Math.min(LINE_WIDTH, tableWidth()) });
}

function prose(text: string): Lines {
  return wrapped(text, Math.min(LINE_WIDTH, proseWidth()));
}

function warning(text: string, paint: Paint): Lines {
  return prose(text).map((line) => paint('yellow', line));
}
