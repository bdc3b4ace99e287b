// Renders docs/reference/performance.md, and the speed table of README.md, from the recorded results; write.ts writes
// them.

import type { LaneFigures } from '../ladder/lanes.ts';
import type { LimitFigures } from '../ladder/limits.ts';
import { ladderTable } from '../ladder/report.ts';
import { PARTS } from '../ladder/rung.ts';
import { loadProfile } from '../profiles/load.ts';
import { GOALS, isMet } from './goals.ts';
import { columnsOf, markdownTable, short, whole } from './markdown.ts';
import { operatorSection } from './operator-section.ts';
import {
  type Recorded,
  type RecordedAttacks,
  type RecordedProvider,
  type RecordedRung,
  type RecordedShard,
  type RecordedStartup,
  readResults,
  shardOf,
} from './results.ts';
import { webSection } from './web-section.ts';
import { whatIfSection } from './whatif-section.ts';

/** The table of goals, for the README and for the page. */
export function goalTable(): string {
  const results = readResults();
  const rows = GOALS.map((goal) => {
    const { p50, p99 } = goal.measured(results);
    const limit = `${goal.quantile === 'p50' ? 'median' : 'p99'} ${whole(goal.goalMs)}`;
    const figure = p99 === undefined ? short(p50) : `${short(p50)} / ${short(p99)}`;
    return [goal.what, limit, figure, isMet(goal, results) ? 'met' : 'not met'];
  });
  return markdownTable(
    [
      { header: 'what, on 2 cores' },
      { header: 'goal, ms', isNumber: true },
      { header: 'measured p50 / p99, ms', isNumber: true },
      { header: '' },
    ],
    rows,
  );
}

export function performancePage(): string {
  const results = readResults();
  const { hostile, ladder, lanes, limits, operator, provider, speedup, startup, web, whatif } = results;
  const { loopSpeedUp, profile, ratio, regime, speedUp, workers } = speedup.result;
  return `${[
    '# Performance',
    'Figures of one machine, rendered from `bench/results` by `npm run generate`. The [method](../internals/performance-method.md)\nsays what each figure is; the [log](../../bench/LOG.md) says what was tried and what it brought. Compare ratios to the floor\nrather than milliseconds with your own machine. `npm run bench -- record` measures everything again.',
    '## Goals',
    'The goals are those of the [README](../../README.md#speed); nothing else on this page is called met.',
    goalTable(),
    '## Limits with sharing',
    'Cycles under the default rules, in which rows of a cluster share machines. Each rung runs three times, each time in a\nprocess of its own with two threads, and the figures are medians over the runs; rungs with a limit of a second or more run once. `first` is the\nfirst cycle of a fleet, which has no limit: it examines every class of machines, and threads receive all of them.',
    limitTable(limits.result),
    footer(limits),
    '## The ladder',
    'Every profile in every regime, each rung once, in milliseconds; a p99 over 30 cycles is the slowest of them. `limit` is the\np99 that a change may not exceed (`thresholds` of the profile, `--enforce`). It is not the goal. uber-500k-racks and -jitter\nhave one for cold only; jitter takes more memory than a shard should.',
    ladderTable(ladder.result.map((rung) => ({ ...rung, profile: loadProfile(rung.profile) }))),
    footer(ladder),
    '## Where the time goes',
    timeTable(ladder.result),
    'Medians in milliseconds; in brackets their part of the sum. Medians of parts do not add up to that of the cycle.',
    '## Memory',
    memoryTable(ladder.result),
    'MiB of the process that runs the cycles.',
    '## More threads',
    `${workers} workers against one, ${profile} ${regime}: ${speedUp} ×. A plain parallel loop in the same run: ${loopSpeedUp} ×. Ratio: ${ratio}; a change may not bring it below 0.75.`,
    footer(speedup),
    '## Lanes',
    'Several lanes against one, in turns on one fleet, with sharing. `gain` is the time of one lane ÷ that of these, the median over\nthe rounds. Conflicts are rows that had to wait for another lane, per row that claimed something: of plain rows, and of gangs. In\na fleet without regions, all lanes run on one thread if there are fewer than 16,384 rows. `used` is the number of lanes that had\nrows, and `threads` the number of threads that they ran on.',
    laneTable(lanes.result),
    footer(lanes),
    '## The shard over gRPC',
    shardSection(results['shard-200']),
    shardSection(results['shard-2000']),
    '## Neighbours of an attacker',
    attackSection(hostile),
    '### The worst frames',
    worstFramesSection(results['worst-frames']),
    '## Providers',
    providerSection(provider),
    '## The operator',
    operatorSection(operator.result),
    footer(operator),
    '## The dashboard',
    ...recordedSection('web', web, webSection),
    '## What-if questions',
    ...recordedSection('whatif', whatif, whatIfSection),
    '## Commands',
    startupSection(startup),
  ].join('\n\n')}\n`;
}

/** Cycles with shared machines: the limit of each, and whether it is met. Also in the README. */
export function limitTable(figures: readonly LimitFigures[] = readResults().limits.result): string {
  const rows = figures.map(({ profile, regime, limitMs, met, p50Ms, p99Ms, floorMs, firstMs }) => [
    `${profile} ${regime}`,
    whole(limitMs),
    p99Ms === null ? 'did not end' : `${short(p50Ms)} / ${short(p99Ms)}`,
    p50Ms === null || floorMs === null ? '' : short(p50Ms / floorMs),
    short(firstMs),
    met ? 'met' : 'not met',
  ]);
  const headers = [
    'cycle with sharing, on 2 cores',
    'limit, p99 ms',
    'p50 / p99, ms',
    'p50 × floor',
    'first, ms',
  ];
  return markdownTable([...columnsOf(headers), { header: '' }], rows);
}

function laneTable(figures: readonly LaneFigures[]): string {
  const rows = figures.map(
    ({ profile, regime, lanes, opened, threads, oneMs, severalMs, gain, conflicts }) => [
      `${profile} ${regime}`,
      lanes,
      ...[whole(opened), whole(threads), short(oneMs), short(severalMs), `${short(gain)} ×`],
      `${short(conflicts.incremental)} / ${short(conflicts.allOrNothing)}`,
    ],
  );
  const headers = ['rung', 'lanes', 'used', 'threads', 'one p50 ms', 'these p50 ms', 'gain', 'conflicts'];
  return markdownTable(columnsOf(headers, 2), rows);
}

function recordedSection<Result>(
  name: string,
  recorded: Recorded<Result> | null,
  section: (result: Result) => string,
): readonly string[] {
  if (recorded === null) return [`Not recorded yet: \`npm run bench -- record ${name}\`.`];
  return [section(recorded.result), footer(recorded)];
}

/** The command of a recorded result, and where and when it ran. */
export function footer({ command, cores, cpu, load, node, recordedAt }: Recorded<unknown>): string {
  const { before, after } = load;
  const busy = before === null ? '' : `, load ${before.toFixed(1)} before and ${after?.toFixed(1)} after`;
  return `\`${command}\`, ${recordedAt}, Node ${node}, ${cores} × ${cpu}${busy}.`;
}

const PROFILES = ['uber-5k', 'uber-50k', 'uber-500k'];
const REGIMES = ['full', 'churn', 'cold'];

function timeTable(rungs: readonly RecordedRung[]): string {
  const rows = REGIMES.flatMap((regime) =>
    PROFILES.flatMap((profile) => {
      const result = rungs.find((rung) => rung.profile === profile && rung.regime === regime)?.result;
      if (!result) return [];
      const sum = PARTS.reduce((total, part) => total + result.phasesMs[part], 0);
      const cells = PARTS.map((part) => {
        const ms = result.phasesMs[part];
        return `${short(ms)} (${Math.round((ms * 100) / sum)} %)`;
      });
      return [[`${profile} ${regime}`, short(result.cycleMs.p50), ...cells]];
    }),
  );
  return markdownTable(columnsOf(['rung', 'cycle p50', ...PARTS]), rows);
}

function memoryTable(rungs: readonly RecordedRung[]): string {
  const of = (profile: string, regime: string): string => {
    const result = rungs.find((rung) => rung.profile === profile && rung.regime === regime)?.result;
    return result ? whole(result.rssMiB) : '';
  };
  const rows = REGIMES.map((regime) => [regime, ...PROFILES.map((profile) => of(profile, regime))]);
  return markdownTable(columnsOf(['regime', ...PROFILES]), rows);
}

const TIMINGS = {
  ackMs: 'ack',
  ackChangedMs: 'ack, rows changed',
  ackProbeMs: 'ack, probe',
  appliedMs: 'roll-up applied',
  cycleMs: 'cycle',
  publishMs: 'node state published',
  demandToCallMs: 'demand to call',
  lagMs: 'lag of the session thread',
  idleLagMs: 'lag of an idle process',
} as const;

function shardSection(recorded: Recorded<RecordedShard>): string {
  const { cold, processes, settings, ...figures } = recorded.result;
  const { clusters, intervalMs, machines, needs, providers, seconds } = settings;
  const rows = (Object.keys(TIMINGS) as (keyof typeof TIMINGS)[]).map((key) => {
    const { p50, p99, max } = figures[key];
    return [TIMINGS[key], ...[p50, p99, max].map(short)];
  });
  const shard = shardOf(processes);
  return [
    `### ${whole(clusters)} clusters`,
    `${whole(clusters)} clusters × ${needs} Needs every ${intervalMs / 1000} s, ${whole(machines)} machines of ${providers} providers, ${seconds} s, in milliseconds:`,
    markdownTable(columnsOf(['', 'p50', 'p99', 'max']), rows),
    `The shard used ${shard?.cpuPercent ?? '?'} % of a core and ${whole(shard?.rssMiB ?? 0)} MiB. Cold start: first decision after ${cold.firstDecisionSeconds} s, all clusters acknowledged after ${cold.allAckedSeconds} s.`,
    footer(recorded),
  ].join('\n\n');
}

function attackSection(recorded: Recorded<RecordedAttacks>): string {
  const { attacks, settings } = recorded.result;
  const cpu = ({ during }: (typeof attacks)[number], name: string): string =>
    `${during.processes.find((each) => each.name === name)?.cpuPercent ?? 0}`;
  const rows = attacks.map((attack) => {
    const { before, during, after, ratio } = attack;
    return [
      attack.attack,
      ...[before.ackMs.p50, during.ackMs.p50, before.ackMs.p99, during.ackMs.p99, after.ackMs.p99].map(short),
      short(ratio),
      ...[during.lagMs.p99, during.lagMs.max, during.idleLagMs.p99].map(short),
      cpu(attack, 'shard'),
      cpu(attack, 'attacker'),
    ];
  });
  return [
    `${settings.neighbours} neighbours report every ${settings.everyMs} ms; ${settings.seconds} s before, during and after each attack, in milliseconds. \`nothing\` and \`busy\` are controls; the [method](../internals/performance-method.md#neighbours-of-an-attacker) says how to read it.`,
    markdownTable(
      columnsOf([
        ...['attack', 'ack p50 before', 'during', 'ack p99 before', 'during', 'after', 'ratio'],
        ...['lag p99', 'max', 'idle', 'CPU % shard', 'attacker'],
      ]),
      rows,
    ),
    footer(recorded),
  ].join('\n\n');
}

function worstFramesSection(recorded: Recorded<RecordedAttacks>): string {
  const [attack] = recorded.result.attacks;
  const { before, during } = attack!;
  const rss = (period: typeof before): string => whole(shardOf(period.processes)?.rssMiB ?? 0);
  const rows = [
    ['ack of a neighbour, p50', short(before.ackMs.p50), short(during.ackMs.p50)],
    ['ack of a neighbour, p99', short(before.ackMs.p99), short(during.ackMs.p99)],
    ['decision cycle, p50', short(before.cycleMs.p50), short(during.cycleMs.p50)],
    ['decision cycle, p99', short(before.cycleMs.p99), short(during.cycleMs.p99)],
    ['shard, MiB', rss(before), rss(during)],
  ];
  return [markdownTable(columnsOf(['', 'before', 'during']), rows), footer(recorded)].join('\n\n');
}

function providerSection(recorded: Recorded<RecordedProvider>): string {
  const { fleet, lists, overhead, settings, transitions } = recorded.result;
  const listRows = (figures: RecordedProvider['fleet']): string[][] =>
    figures.map(({ handedOver, longestPauseMs, megabytes, name, seconds }) => {
      return [name, short(seconds), short(megabytes), whole(handedOver), short(longestPauseMs)];
    });
  const listColumns = (title: string) =>
    columnsOf([title, 'seconds', 'MB', 'handed over', 'longest pause of the main thread, ms']);
  return [
    markdownTable(listColumns(`${whole(settings.records)} machines of one provider`), listRows(lists.lists)),
    markdownTable(listColumns('five providers'), listRows(fleet)),
    `Between two lists a list thread keeps ${lists.heldBytesPerMachine} bytes for each machine.`,
    markdownTable(
      columnsOf(['transitions, fenced, by store', 'at once', 'calls a second', 'p50 ms', 'p99 ms']),
      transitions.map(({ ackMs, atOnce, callsPerSecond, store }) => {
        return [store, whole(atOnce), whole(callsPerSecond), short(ackMs.p50), short(ackMs.p99)];
      }),
    ),
    markdownTable(
      columnsOf(['one call', 'p50 ms', '× echo', 'calls a second, 64 at a time', '× echo']),
      overhead.map(({ callsPerSecond, ms, name, timesEcho, timesEchoBusy }) => {
        return [name, ms.p50.toFixed(3), short(timesEcho), whole(callsPerSecond), short(timesEchoBusy)];
      }),
    ),
    footer(recorded),
  ].join('\n\n');
}

function startupSection(recorded: Recorded<RecordedStartup>): string {
  const { places, rounds } = recorded.result;
  const names = places[0]?.cases.map(({ name }) => name) ?? [];
  const rows = names.map((name) => [
    `\`${name}\``,
    ...places.flatMap(({ cases }) => {
      const ms = cases.find((each) => each.name === name)?.ms;
      return ms === undefined ? ['', '', ''] : [whole(ms.min), whole(ms.p50), ms.timesFloor.toFixed(1)];
    }),
  ]);
  const floors = places.map(({ floorMs, place }) => `${place} ${whole(floorMs.p50)} ms`).join(', ');
  return [
    markdownTable(
      columnsOf(['command', ...places.flatMap(({ place }) => [`${place}: min`, 'median', '× floor'])]),
      rows,
    ),
    `From the call of a command to its end, ${rounds} rounds, in milliseconds. The floor is \`node -e 0\` (${floors}).`,
    footer(recorded),
  ].join('\n\n');
}
