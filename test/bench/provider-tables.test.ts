import { describe, expect, it } from 'vitest';
import { listTable, overheadTable, transitionTable } from '../../bench/provider/tables.ts';
import { LINE_WIDTH } from '../../src/cli/table.ts';

const SLOW = { p50: 1234.567, p99: 2345.678, max: 12345.678 };

describe('tables of the provider benchmark', () => {
  it.each([
    [
      'lists',
      listTable('5 providers', [
        {
          ...{ name: 'changes, 1 % of the machines', seconds: 136.25, messages: 5, megabytes: 1657.125 },
          ...{ records: 2_250_000, handedOver: 2_250_000, longestPauseMs: 18_472.5 },
          ...{ rssMiB: 12_345, peakRssMiB: 23_456 },
        },
      ]),
      /^changes, 1 % of the machines .* 23456$/,
    ],
    [
      'transitions',
      transitionTable([
        { store: 'sqlite', atOnce: 1000, calls: 20_000, callsPerSecond: 30_000, ackMs: SLOW },
      ]),
      /^sqlite .* 12345\.7$/,
    ],
    [
      'overhead',
      overheadTable([
        {
          ...{
            name: 'fenced Create of the kit (repeated), bare client',
            ms: { p50: 12.3, p99: 45.6, max: 99 },
          },
          ...{ timesEcho: 12.34, callsPerSecond: 12_345, timesEchoBusy: 12.34 },
        },
      ]),
      /^fenced Create of the kit \(repeated\), bare client .* 12\.34$/,
    ],
  ])('%s: given large figures, then lines fit and nothing is cut', (_, lines, last) => {
    for (const line of lines) expect(line.length).toBeLessThanOrEqual(LINE_WIDTH);
    expect(lines.join('')).not.toContain('…');
    expect(lines.at(-1)).toMatch(last);
  });
});
