// Lists the rungs of the ladder and measures one in a process of its own, because type feedback of one rung, and the
// memory it leaves behind, would affect the next. A rung that does not end in time is killed and reported. Used by
// main.ts for --all and --linear.

import { spawn } from 'node:child_process';
import { REGIMES, type Regime } from '../../testing/workload/regimes.ts';
import { loadProfile } from '../profiles/load.ts';
import type { RungResult, Settings } from './measure.ts';
import type { LadderRow } from './report.ts';

export interface RungName {
  readonly profile: string;
  readonly regime: Regime;
}

const PROFILES = [
  'dev-50',
  'dev-500',
  'scaleway-50k',
  'scaleway-500k',
  'scaleway-500k-bound',
  'uber-5k',
  'uber-50k',
  'uber-500k',
];
/** Harder variants of three profiles, in the regimes that have limits and those in which they differ most. */
const VARIANTS = ['uber-5k', 'uber-50k', 'uber-500k'].flatMap((name) => [`${name}-racks`, `${name}-jitter`]);
const VARIANT_REGIMES: readonly Regime[] = ['full', 'cold', 'churn'];

/** Time beyond that of the cycles: generation of the largest fleet, its first cycle, the floor. */
const GRACE_SECONDS = 120;

export function rungsOf(
  profiles: readonly string[] | undefined,
  regimes: readonly string[] | undefined,
): RungName[] {
  const all = [
    ...PROFILES.flatMap((profile) => REGIMES.map((regime) => ({ profile, regime }))),
    ...VARIANTS.flatMap((profile) => VARIANT_REGIMES.map((regime) => ({ profile, regime }))),
  ];
  return all.filter(
    ({ profile, regime }) => (profiles?.includes(profile) ?? true) && (regimes?.includes(regime) ?? true),
  );
}

/** One rung in a process of its own. */
export async function measureInOwnProcess(
  { profile, regime }: RungName,
  settings: Settings,
): Promise<LadderRow<RungResult>> {
  const { cycles, warmUp, seconds, workers, lanes, seed, checkEvery, rules } = settings;
  const given = {
    ...{ cycles, 'warm-up': warmUp, seconds, workers, lanes, seed },
    ...{ 'check-every': checkEvery, options: rules },
  };
  const args = Object.entries(given).flatMap(([name, value]) => [`--${name}`, `${value}`]);
  const main = `${import.meta.dirname}/main.ts`;
  const rung = [main, '--profile', profile, '--regime', regime, ...args, '--json'];
  const child = spawn(process.execPath, [...process.execArgv, ...rung], {
    stdio: ['ignore', 'pipe', 'inherit'],
    timeout: (seconds + GRACE_SECONDS) * 1000,
  });
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text;
  });
  const code = await new Promise<number | null>((resolve) => child.on('close', resolve));
  const row = { profile: loadProfile(profile), regime };
  if (code === 0) return { ...row, result: JSON.parse(output) as RungResult, problem: '' };
  const problem = code === null ? `no result within ${seconds + GRACE_SECONDS} s` : 'failed';
  return { ...row, result: null, problem };
}
