import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { BehaviourResult, ConformanceOptions, ConformanceReport } from '../provider/index.ts';
import { type ConformanceIo, conformanceCommand } from './provider-conformance.ts';
import { LINE_WIDTH, noPaint } from './table.ts';

const passed: BehaviourResult = {
  id: 'B301',
  area: 'fencing',
  title: 'the mark moves even if the machine does not exist',
  status: 'passed',
  detail: '',
  durationMs: 12,
};
const failed: BehaviourResult = {
  ...passed,
  id: 'B302',
  status: 'failed',
  detail: `expected a, got b\u001b[31m · after ${'Create(m-1) → OK; '.repeat(20)}${'x'.repeat(250)}`,
};
const skipped: BehaviourResult = { ...passed, id: 'B310', status: 'skipped', detail: 'no Delete' };

const CERTIFIED: ConformanceReport = {
  verdict: 'certified',
  target: 'localhost:9000',
  profiles: ['core'],
  only: [],
  seed: 7,
  durationMs: 2_500,
  machinesUsed: 3,
  totals: { passed: 1, failed: 0, skipped: 0, total: 1 },
  behaviours: [passed],
};
const FAILED: ConformanceReport = {
  ...CERTIFIED,
  verdict: 'failed',
  totals: { passed: 1, failed: 1, skipped: 1, total: 3 },
  behaviours: [passed, failed, skipped],
};
const INCOMPLETE: ConformanceReport = {
  ...CERTIFIED,
  verdict: 'incomplete',
  totals: { passed: 0, failed: 0, skipped: 1, total: 1 },
  behaviours: [skipped],
};

interface Run {
  out: string;
  code: number | undefined;
  lines: (string | null)[];
  options: ConformanceOptions | undefined;
}

async function run(
  args: readonly string[],
  report: ConformanceReport = CERTIFIED,
  during: (options: ConformanceOptions, lines: readonly (string | null)[]) => Promise<void> = async () => {},
): Promise<Run> {
  const seen: Run = { out: '', code: undefined, lines: [], options: undefined };
  const io: ConformanceIo = {
    out: (text) => {
      seen.out += text;
    },
    progress: (line) => seen.lines.push(line),
    exitCode: (code) => {
      seen.code = code;
    },
    paint: noPaint,
  };
  const suite = async (options: ConformanceOptions) => {
    seen.options = options;
    await during(options, seen.lines);
    return report;
  };
  await conformanceCommand(io, suite)
    .exitOverride()
    .configureOutput({ writeErr: () => {} })
    .parseAsync(['--target', 'localhost:9000', ...args], { from: 'user' });
  return seen;
}

describe('the flags of the command', () => {
  it('given all flags, then the suite gets them', async () => {
    const { options } = await run(
      '--profile core,spot --only B3xx,lists --seed 9 --scale-seed 100 --soak 500ms --transition-timeout 1.5s'.split(
        ' ',
      ),
    );
    expect(options).toMatchObject({
      target: 'localhost:9000',
      profiles: ['core', 'spot'],
      only: ['B3xx', 'lists'],
      seed: 9,
      scaleSeed: 100,
      soakMs: 500,
      transitionTimeoutMs: 1_500,
      tls: null,
    });
    const commands = ['--start', 'p {port} {state}', '--start-scale', 'p {port}'];
    expect((await run(commands)).options).toMatchObject({
      start: 'p {port} {state}',
      startScale: 'p {port}',
    });
  });

  it.each([
    ['--profile', 'metal'],
    ['--seed', '-1'],
    ['--soak', '10'],
    ['-o', 'yaml'],
  ])('given %s %s, then it is refused', async (...args) => {
    await expect(run(args)).rejects.toMatchObject({ name: 'CommanderError' });
  });

  it('given TLS files, then all three are required', async () => {
    await expect(run(['--tls-cert', 'a', '--tls-key', 'b'])).rejects.toThrow('BF_TLS_PARTIAL');
    const { options } = await run(['--tls-cert', 'a', '--tls-key', 'b', '--tls-ca', 'c']);
    expect(options).toMatchObject({ tls: { cert: 'a', key: 'b', ca: 'c' } });
  });
});

describe('the exit code', () => {
  it.each([
    [0, CERTIFIED],
    [1, FAILED],
    [1, INCOMPLETE],
  ])('given a run with its verdict, then the exit code is %i', async (code, report) => {
    expect(await run([], report)).toMatchObject({ code });
  });
});

describe('the report', () => {
  it('given a table, then it fits the terminal and has every failure in full', async () => {
    const { out } = await run([], FAILED);
    expect(out.split('\n').filter((line) => line.length > LINE_WIDTH)).toEqual([]);
    expect(out).not.toContain('\u001b');
    expect(out).toMatch(/^fencing\n {2}B301 {2}passed +12 ms {2}the mark moves/);
    expect(out).toContain('B302 failed\n  expected a, got b\\u001b[31m\n    after Create(m-1) → OK;');
    expect(out).toContain('B310 skipped\n  no Delete');
    expect(out).toContain('FAILED: 1 passed, 1 failed, 1 skipped of 3\nlocalhost:9000 · core');
    expect(out).toContain('seed 7');
  });

  it('given an excused skip and another one, then the table marks the excused one', async () => {
    const behaviours = [passed, { ...skipped, isExcused: true } as const, { ...skipped, id: 'B409' }];
    const { out } = await run([], { ...INCOMPLETE, behaviours });
    expect(out).toContain('B310 skipped, excused\n  no Delete');
    expect(out).toContain('B409 skipped\n  no Delete');
    expect(out).toContain('Excused, and so not needed for the verdict: 1 skipped.');
  });

  it('given selected behaviours, then the report notes the selection', async () => {
    const { out } = await run([], { ...CERTIFIED, only: ['B301'] });
    expect(out).toContain('only B301');
    expect(out).toContain('Only the selected behaviours were checked.');
  });

  it('given JSON or JUnit, then the report is the whole output', async () => {
    expect(JSON.parse((await run(['-o', 'json'], FAILED)).out)).toEqual(FAILED);
    expect((await run(['-o', 'junit'], FAILED)).out).toMatch(/^<\?xml .*<\/testsuites>\n$/s);
  });

  it('given --out, then the reports are also written to that directory', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'bigfleet-conformance-'));
    try {
      await run(['--out', join(folder, 'deep')], FAILED);
      expect(JSON.parse(readFileSync(join(folder, 'deep/report.json'), 'utf8'))).toEqual(FAILED);
      expect(readFileSync(join(folder, 'deep/junit.xml'), 'utf8')).toContain('failures="1"');
      await expect(run(['--out', join(folder, 'deep/report.json')])).rejects.toThrow('BF_OUTPUT_UNWRITABLE');
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});

describe('progress', () => {
  afterEach(() => {
    vi.useRealTimers();
  });

  it('given a long run, then it appears after two seconds and is cleared at the end', async () => {
    vi.useFakeTimers();
    const early: (string | null)[] = [];
    const seen = await run([], CERTIFIED, async (options, lines) => {
      options.onProgress?.({ done: 3, total: 94, id: 'B105' });
      await vi.advanceTimersByTimeAsync(1_900);
      early.push(...lines);
      await vi.advanceTimersByTimeAsync(300);
    });
    expect(early).toEqual([]);
    expect(new Set(seen.lines)).toEqual(new Set(['3/94  B105  2 s', null]));
    expect(seen.lines.at(-1)).toBe(null);
  });
});
