// Recorded results of the benchmarks: one JSON file per benchmark in bench/results, committed. `bench record` writes
// them; docs/reference/performance.md and the speed table of README.md are rendered from them and from nothing else.

import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism, cpus } from 'node:os';
import type { EconomyResult } from '../economy/figures.ts';
import type { AttackFigures, Period } from '../hostile/figures.ts';
import type { LaneFigures } from '../ladder/lanes.ts';
import type { LimitFigures } from '../ladder/limits.ts';
import type { RungFigures } from '../ladder/report.ts';
import type { OperatorResult } from '../operator/figures.ts';
import type { OverheadFigures, TransitionFigures } from '../provider/calls.ts';
import type { ListFigures } from '../provider/lists.ts';
import type { Quantiles } from '../quantiles.ts';
import type { ColdFigures, Figures } from '../shard/figures.ts';
import type { Settings as ShardSettings } from '../shard/settings.ts';
import type { WebFigures } from '../web/figures.ts';
import type { WhatIfFigures } from '../whatif/figures.ts';

/** One run of a benchmark: its `--json` output, and where and how it ran. */
export interface Recorded<Result> {
  readonly name: string;
  /** UTC date, such as 2026-11-16. */
  readonly recordedAt: string;
  readonly command: string;
  readonly node: string;
  readonly cpu: string;
  readonly cores: number;
  /** One-minute load averages; null where they were not recorded. */
  readonly load: { readonly before: number | null; readonly after: number | null };
  readonly result: Result;
}

export interface RecordedRung {
  readonly profile: string;
  readonly regime: string;
  /** The reason why there is no result; empty if there is one. */
  readonly problem: string;
  readonly result: RungFigures | null;
}

/** Fields of a result that the pages show; a JSON document has more. */
export interface RecordedShard
  extends Pick<
    Figures,
    | 'ackMs'
    | 'ackChangedMs'
    | 'ackProbeMs'
    | 'appliedMs'
    | 'cycleMs'
    | 'publishMs'
    | 'demandToCallMs'
    | 'lagMs'
    | 'idleLagMs'
    | 'processes'
  > {
  readonly settings: Pick<
    ShardSettings,
    'clusters' | 'needs' | 'machines' | 'providers' | 'intervalMs' | 'seconds'
  >;
  readonly cold: Pick<ColdFigures, 'firstDecisionSeconds' | 'allAckedSeconds'>;
}

export interface RecordedAttacks {
  readonly settings: { readonly neighbours: number; readonly everyMs: number; readonly seconds: number };
  readonly attacks: readonly AttackFigures[];
}

export interface RecordedProvider {
  readonly settings: { readonly records: number };
  readonly lists: { readonly lists: readonly ListFigures[]; readonly heldBytesPerMachine: number };
  readonly fleet: readonly ListFigures[];
  readonly transitions: readonly TransitionFigures[];
  readonly overhead: readonly OverheadFigures[];
}

export interface RecordedStartup {
  readonly rounds: number;
  readonly places: readonly {
    readonly place: string;
    readonly floorMs: { readonly min: number; readonly p50: number };
    readonly cases: readonly {
      readonly name: string;
      readonly ms: Pick<Quantiles, 'p50'> & { readonly min: number; readonly timesFloor: number };
    }[];
  }[];
}

export interface RecordedSpeedUp {
  readonly profile: string;
  readonly regime: string;
  readonly workers: number;
  readonly speedUp: number;
  readonly loopSpeedUp: number;
  readonly ratio: number;
}

export interface Results {
  readonly ladder: Recorded<readonly RecordedRung[]>;
  readonly limits: Recorded<readonly LimitFigures[]>;
  readonly lanes: Recorded<readonly LaneFigures[]>;
  readonly speedup: Recorded<RecordedSpeedUp>;
  readonly 'shard-200': Recorded<RecordedShard>;
  readonly 'shard-2000': Recorded<RecordedShard>;
  readonly hostile: Recorded<RecordedAttacks>;
  readonly 'worst-frames': Recorded<RecordedAttacks>;
  readonly provider: Recorded<RecordedProvider>;
  readonly operator: Recorded<OperatorResult>;
  readonly startup: Recorded<RecordedStartup>;
  /** null: not recorded yet; the page says so. */
  readonly web: Recorded<WebFigures> | null;
  readonly whatif: Recorded<readonly WhatIfFigures[]> | null;
  readonly 'economy-today': Recorded<EconomyResult>;
  readonly economy: Recorded<EconomyResult>;
}

export type ResultName = keyof Results;

const FOLDER = `${import.meta.dirname}/../results`;

export function readResults(): Results {
  const read = <Name extends ResultName>(name: Name): Results[Name] =>
    JSON.parse(readFileSync(`${FOLDER}/${name}.json`, 'utf8')) as Results[Name];
  return {
    ladder: read('ladder'),
    limits: read('limits'),
    lanes: read('lanes'),
    speedup: read('speedup'),
    'shard-200': read('shard-200'),
    'shard-2000': read('shard-2000'),
    hostile: read('hostile'),
    'worst-frames': read('worst-frames'),
    provider: read('provider'),
    operator: read('operator'),
    startup: read('startup'),
    web: existsSync(`${FOLDER}/web.json`) ? read('web') : null,
    whatif: existsSync(`${FOLDER}/whatif.json`) ? read('whatif') : null,
    'economy-today': read('economy-today'),
    economy: read('economy'),
  };
}

export function writeResult(
  name: ResultName,
  run: Pick<Recorded<unknown>, 'command' | 'load' | 'result'>,
): void {
  const { command, load, result } = run;
  const recorded: Recorded<unknown> = {
    name,
    recordedAt: new Date().toISOString().slice(0, 10),
    command,
    node: process.version,
    cpu: cpus()[0]?.model.trim() ?? 'unknown processor',
    cores: availableParallelism(),
    load,
    result,
  };
  writeFileSync(`${FOLDER}/${name}.json`, `${JSON.stringify(recorded, null, 2)}\n`);
}

/** The figures of the shard among those of all processes. */
export function shardOf(processes: Period['processes']): Period['processes'][number] | undefined {
  return processes.find(({ name }) => name === 'shard');
}
