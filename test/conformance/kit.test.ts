// The kit against the suite, and the suite against providers that it has to start, kill and restart.

import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { type ConformanceReport, runConformance, serveProvider } from '../../src/provider/index.ts';
import { openKitProvider } from './kit-provider.ts';
import { GIVEN_UP_MS, QUICK, UNHURRIED_MS } from './timings.ts';

const PROGRAM = fileURLToPath(new URL('kit-provider.ts', import.meta.url));
/** As a person would write it: the shell replaces itself, so that the kill reaches the provider. */
const start = (state: string) => `exec "${process.execPath}" "${PROGRAM}" {port} ${state} {seed} {timeout}`;

const PATIENT = { timeout: 180_000 };
const UNHURRIED = { timings: QUICK, transitionTimeoutMs: UNHURRIED_MS };

const unpassed = ({ behaviours }: ConformanceReport) =>
  behaviours.filter(({ status }) => status !== 'passed').map(({ id, detail }) => `${id}: ${detail}`);

describe('a provider made with the kit', () => {
  it('given this process, then it is certified for core', PATIENT, async () => {
    const provider = await openKitProvider({ machines: 256, transitionTimeoutMs: UNHURRIED_MS });
    const target = () => ({ rpc: provider, close: () => {} });
    const report = await runConformance({ target, timings: QUICK });
    expect(unpassed(report)).toEqual([]);
    expect(report.totals.passed).toBe(94);
    await provider.close();
  });

  it('given an address, then it is certified for core, faults and scale', PATIENT, async () => {
    const provider = await openKitProvider({ machines: 600, transitionTimeoutMs: GIVEN_UP_MS });
    const server = await serveProvider(provider, '127.0.0.1:0', { tls: null });
    const report = await runConformance({
      target: server.address,
      profiles: ['core', 'cloud', 'spot', 'fault', 'scale'],
      transitionTimeoutMs: GIVEN_UP_MS,
      scaleSeed: 600,
      soakMs: 200,
      timings: QUICK,
    });
    expect(unpassed(report)).toEqual([]);
    expect(report.totals.passed).toBe(94 + 8 + 9);
    await server.stop();
  });

  it('given kills and restarts, then it is certified for durability', PATIENT, async () => {
    const report = await runConformance({
      start: start('{state}'),
      profiles: ['durable'],
      ...UNHURRIED,
    });
    expect(unpassed(report)).toEqual([]);
    expect(report).toMatchObject({ verdict: 'certified', totals: { passed: 7 } });
  });
});

describe('a provider without a durable store', () => {
  it('given kills and restarts, then it fails the durable target', PATIENT, async () => {
    // SQLite treats an empty name as a temporary file that is deleted with the process.
    const report = await runConformance({
      start: `${start("''")} # {state}`,
      profiles: ['durable'],
      ...UNHURRIED,
    });
    const failed = report.behaviours.filter(({ status }) => status === 'failed').map(({ id }) => id);
    expect(failed).toEqual(['B1001', 'B1002', 'B1003', 'B1004', 'B1005', 'B1006']);
  });
});

describe('a command that starts no provider', () => {
  it.each([
    ['true {port}', 'it ended (exit code 0)', 60_000],
    ['echo no such flag >&2; exit 3 # {port}', 'it ended (exit code 3): no such flag', 60_000],
    ['(sleep 1; echo no such flag >&2) & exit 3 # {port}', 'it ended (exit code 3): no such flag', 60_000],
    ['sleep 60 # {port}', 'UNAVAILABLE', 300],
  ])('given %s, then the reason is reported', PATIENT, async (command, why, startMs) => {
    const running = runConformance({ start: command, timings: { startMs } });
    await expect(running).rejects.toThrow(`BF_START_FAILED`);
    await expect(running).rejects.toThrow(why);
  });

  it('given no place for the port, then it is a usage error', async () => {
    await expect(runConformance({ start: 'my-provider' })).rejects.toThrow('BF_USAGE');
  });
});

describe('a provider that leaves the process group of its command', () => {
  it('given a kill that does not reach it, then it is not certified for durability', PATIENT, async () => {
    const folder = mkdtempSync(join(tmpdir(), 'bigfleet-detached-'));
    const pidFile = join(folder, 'pid');
    const detach = `
      const { spawn } = require('node:child_process');
      const child = spawn(process.execPath, process.argv.slice(2), { detached: true, stdio: 'ignore' });
      require('node:fs').writeFileSync(process.argv[1], String(child.pid));
      setInterval(() => {}, 1000);`;
    const command = `exec "${process.execPath}" -e "$DETACH" "${pidFile}" "${PROGRAM}" {port} {state} {seed} {timeout}`;
    process.env['DETACH'] = detach;
    try {
      const running = runConformance({ start: command, profiles: ['durable'], ...UNHURRIED });
      await expect(running).rejects.toThrow('BF_KILL_MISSED');
    } finally {
      delete process.env['DETACH'];
      process.kill(Number(readFileSync(pidFile, 'utf8')), 'SIGKILL');
      rmSync(folder, { recursive: true });
    }
  });
});
