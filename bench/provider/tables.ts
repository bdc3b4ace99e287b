// Terminal tables of `bench provider` (main.ts): Lists, transitions and the cost of a call. `--json` prints more
// figures.

import { tableLines } from '../../src/cli/table.ts';
import type { Quantiles } from '../quantiles.ts';
import type { OverheadFigures, TransitionFigures } from './calls.ts';
import type { ListFigures } from './lists.ts';

type Figure = readonly [header: string, text: string];

/** `handed over`: machines that the reader passed on to the thread of sessions. */
export function listTable(title: string, lists: readonly ListFigures[]): readonly string[] {
  return table(
    title,
    lists.map(({ name, seconds, megabytes, records, handedOver, longestPauseMs, rssMiB, peakRssMiB }) => ({
      name,
      figures: [
        ['seconds', seconds.toFixed(2)],
        ['MB', megabytes.toFixed(1)],
        ['records', String(records)],
        ['handed over', String(handedOver)],
        ['pause ms', longestPauseMs.toFixed(1)],
        ['MiB', String(rssMiB)],
        ['peak', String(peakRssMiB)],
      ],
    })),
  );
}

export function transitionTable(transitions: readonly TransitionFigures[]): readonly string[] {
  return table(
    'store',
    transitions.map(({ store, atOnce, calls, callsPerSecond, ackMs }) => ({
      name: store,
      figures: [
        ['at once', String(atOnce)],
        ['calls', String(calls)],
        ['calls/s', String(callsPerSecond)],
        ...quantiles('ack ms', ackMs),
      ],
    })),
  );
}

/**
 * `× echo`: p50 of a call ÷ p50 of a bare grpc-js echo. `× busy`: throughput of the echo ÷ throughput of the call, with
 * many calls at once.
 */
export function overheadTable(overhead: readonly OverheadFigures[]): readonly string[] {
  return table(
    'call',
    overhead.map(({ name, ms, timesEcho, callsPerSecond, timesEchoBusy }) => ({
      name,
      figures: [
        ...quantiles('ms', ms),
        ['× echo', timesEcho.toFixed(2)],
        ['calls/s', String(callsPerSecond)],
        ['× busy', timesEchoBusy.toFixed(2)],
      ],
    })),
  );
}

function quantiles(what: string, { p50, p99, max }: Quantiles): readonly Figure[] {
  return [
    [`${what} p50`, p50.toFixed(2)],
    ['p99', p99.toFixed(2)],
    ['max', max.toFixed(1)],
  ];
}

function table(
  title: string,
  rows: readonly { readonly name: string; readonly figures: readonly Figure[] }[],
): readonly string[] {
  const headers = rows[0]?.figures.map(([header]) => header) ?? [];
  return tableLines(
    [{ header: title }, ...headers.map((header) => ({ header, align: 'right', isWhole: true }) as const)],
    rows.map(({ name, figures }) => [{ text: name }, ...figures.map(([, text]) => ({ text }))]),
  );
}
