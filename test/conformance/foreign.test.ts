// A provider written without our kit, as a process of its own, certified once through the command line and otherwise from
// here: optional features that it lacks are not required, and its defects are still found.

import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import {
  type ConformanceOptions,
  type ConformanceReport,
  runConformance,
  type Status,
} from '../../src/provider/index.ts';
import { QUICK } from './timings.ts';

const CLI = fileURLToPath(new URL('../../src/cli/main.ts', import.meta.url));
const PROGRAM = fileURLToPath(new URL('foreign-provider.ts', import.meta.url));
const BARE = `exec "${process.execPath}" "${PROGRAM}" --addr=127.0.0.1:{port} --provider=certify --use-fake-backend`;
/** As the runner of the public suite starts a provider. */
const START = `${BARE} --seed-count={seed} --state={state}`;

const PATIENT = { timeout: 300_000 };
/** The scale target without its speed checks, which no test measures, on more machines than this provider writes to a file. */
const MANY = {
  profiles: ['core', 'cloud', 'scale'],
  scaleSeed: 2500,
  soakMs: 100,
  only: ['B1101', 'B1102', 'B1103', 'B1104', 'B1105', 'B1108', 'B1109'],
} as const;

async function certify(options: ConformanceOptions) {
  return findings(await runConformance(options));
}

async function certifyByCommand(...args: readonly string[]) {
  const command = [CLI, 'provider', 'conformance', ...args, '-o', 'json'];
  const { code, stdout, stderr } = await new Promise<{ code: unknown; stdout: string; stderr: string }>(
    (resolve) =>
      execFile(process.execPath, command, { maxBuffer: 2 ** 24 }, (error, ...[out, err]) =>
        resolve({ code: error?.code ?? 0, stdout: out, stderr: err }),
      ),
  );
  expect(stderr).toBe('');
  return { code, ...findings(JSON.parse(stdout) as ConformanceReport) };
}

function findings(report: ConformanceReport) {
  const having = (wanted: Status) =>
    report.behaviours.filter(({ status }) => status === wanted).map(({ id, detail }) => `${id}: ${detail}`);
  const excused = report.behaviours.filter(({ isExcused }) => isExcused).map(({ id }) => id);
  return { report, failed: having('failed'), skipped: having('skipped'), excused };
}

describe.concurrent('a provider without our kit', PATIENT, () => {
  it('given no fault selectors, then it is certified for every profile that it claims', async () => {
    const words = ['--start', START, '--profile', 'core,cloud,spot,durable'];
    const { code, report, failed, excused } = await certifyByCommand(...words);
    expect(failed).toEqual([]);
    expect(report).toMatchObject({ verdict: 'certified', totals: { passed: 94 + 7 - 2, skipped: 2 } });
    // It reports no allocatable, and it configures so quickly that a kill always comes too late.
    expect(excused).toEqual(['B804', 'B1006']);
    expect(code).toBe(0);
  });

  it('given neither Delete nor revisions, then it is certified for core, unless it claims to have Delete', async () => {
    const start = `${BARE} --seed-count={seed} --no-delete --no-revision`;
    const bare = await certify({ start, profiles: ['core'], timings: QUICK });
    expect(bare.failed).toEqual([]);
    expect(bare.report.verdict).toBe('certified');
    expect(bare.excused).toEqual(
      'DeleteIdempotent B109 B310 B409 B804 B807 B903 B904 B905 B907 B908 B909'.split(' '),
    );
    const cloud = await certify({
      start,
      profiles: ['core', 'cloud'],
      only: ['lifecycle', 'B310'],
      timings: QUICK,
    });
    expect(cloud.report.verdict).toBe('incomplete');
    expect(cloud.skipped).toEqual([
      'B109: the provider answers Delete with UNIMPLEMENTED',
      'B310: the provider answers Delete with UNIMPLEMENTED',
    ]);
    expect(cloud.excused).toEqual([]);
  });
});

describe.concurrent('the scale target', PATIENT, () => {
  it.each([
    ['--state={state}', START],
    ['--state {state}', `${BARE} --state {state} --seed-count {seed}`],
  ])('given %s, then the provider is started without its state file', async (_, start) => {
    const { failed, report } = await certify({ ...MANY, start });
    expect(failed).toEqual([]);
    expect(report.verdict).toBe('certified');
  });

  it('given a start command for this target alone, then the provider is started with it', async () => {
    const few = `${BARE} --seed-count=300 --state={state}`;
    const short = await certify({ ...MANY, start: START, startScale: few });
    expect(short.failed).toEqual([
      expect.stringContaining('B1101: expected at least 2500 machines, got 300'),
    ]);
    const alone = await certify({ ...MANY, startScale: `${BARE} --seed-count={seed}` });
    expect(alone.report.verdict).toBe('certified');
  });

  it('given a command that requires a state file, then it is skipped', async () => {
    const { report, skipped, excused } = await certify({ ...MANY, start: `${START} 2> {state}.log` });
    expect(report.verdict).toBe('incomplete');
    expect(skipped[0]).toContain('--start-scale');
    expect(excused).toEqual([]);
  });
});

describe.concurrent('a provider killed in the middle of Configures, without fault selectors', PATIENT, () => {
  const b1006 = (...flags: readonly string[]) =>
    certify({ start: [START, '--slow', ...flags].join(' '), profiles: ['durable'], only: ['B1006'] });

  it('given machines that are Failed with a reason, then it passes', async () => {
    const { report, failed, skipped } = await b1006();
    expect([...failed, ...skipped]).toEqual([]);
    expect(report.verdict).toBe('certified');
  });

  it.each([
    ['forgotten', 'acknowledged, after the restart to be Failed or Configured, got Idle'],
    ['stuck', 'got Configuring'],
    ['rebound', 'got "another"'],
    ['wordless', 'to say in last_error why it failed'],
  ])('given machines that are %s, then it fails', async (what, why) => {
    const { failed } = await b1006(`--interrupted=${what}`);
    expect(failed).toEqual([expect.stringContaining(why)]);
  });
});
