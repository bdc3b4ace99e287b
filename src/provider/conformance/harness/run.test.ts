import { describe, expect, it } from 'vitest';
import { type Defect, SHORT, SmallProvider } from '../../../../testing/support/small-provider.ts';
import { MachineState } from '../../../model/index.ts';
import type { Profile } from './behaviour.ts';
import type { BehaviourResult, ConformanceReport } from './report.ts';
import { type ConformanceOptions, runConformance } from './run.ts';

const NEVER = new Int32Array(new SharedArrayBuffer(4));

function run(
  provider: SmallProvider,
  options: Omit<ConformanceOptions, 'target'> = {},
): Promise<ConformanceReport> {
  return runConformance({ target: provider.connect, timings: SHORT, ...options });
}

/** The tokens of all Create calls of a run. */
async function tokensSent(only: readonly string[], seed: number): Promise<readonly [bigint, bigint][]> {
  const sent: [bigint, bigint][] = [];
  const { rpc } = new SmallProvider();
  const create: typeof rpc.create = (request) => {
    sent.push([request.shardEpoch, request.sequenceNumber]);
    return rpc.create(request);
  };
  const target = () => ({ rpc: { ...rpc, create }, close: () => {} });
  const report = await runConformance({ target, timings: SHORT, only, seed });
  expect(notPassed(report)).toEqual([]);
  return sent;
}

const notPassed = ({ behaviours }: ConformanceReport): readonly BehaviourResult[] =>
  behaviours.filter(({ status }) => status !== 'passed');

const idsOf = (results: readonly BehaviourResult[]) => results.map(({ id }) => id);

describe('a conformance run against a correct provider', () => {
  it('given 256 machines, then it is certified for core and no behaviour is skipped', async () => {
    const report = await run(new SmallProvider({ machines: 256 }));
    expect(notPassed(report)).toEqual([]);
    expect(report).toMatchObject({ verdict: 'certified', totals: { passed: 94, total: 94 } });
    expect(report.machinesUsed).toBeLessThanOrEqual(256);
  });

  it('given the end of the run, then all machines are Speculative again', async () => {
    const provider = new SmallProvider({ machines: 256 });
    await run(provider, { only: ['B101', 'B4xx'] });
    const left = await provider.rpc.list({ states: [1], maxResults: 0, sinceRevision: new Uint8Array(0) });
    expect(left.machines).toHaveLength(256);
  });

  it('given fault selectors, then the fault behaviours pass', async () => {
    const provider = new SmallProvider({ faults: 8, transitionTimeoutMs: 60 });
    const report = await run(provider, { profiles: ['fault'], transitionTimeoutMs: 60 });
    expect(notPassed(report)).toEqual([]);
    expect(report.totals.passed).toBe(8);
  });

  it('given 600 machines, then the scale behaviours pass', async () => {
    const provider = new SmallProvider({ machines: 600 });
    const report = await run(provider, { profiles: ['scale'], scaleSeed: 600, soakMs: 50 });
    expect(notPassed(report)).toEqual([]);
    expect(report.totals.passed).toBe(9);
  });

  it('given a process that is suspended between two reads of a machine, then no behaviour fails', async () => {
    const provider = new SmallProvider({ faults: 8, transitionTimeoutMs: 60 });
    const { rpc } = provider;
    const { Creating, Configuring, Draining, Deleting } = MachineState;
    const transitional: readonly number[] = [Creating, Configuring, Draining, Deleting];
    const get: typeof rpc.get = async (request) => {
      const machine = await rpc.get(request);
      // Blocks the whole process, the provider included.
      if (transitional.includes(machine.state)) Atomics.wait(NEVER, 0, 0, 100);
      return machine;
    };
    const target = () => ({ rpc: { ...rpc, get }, close: () => {} });
    const short = { createMs: 50, configureMs: 50, drainMs: 50, deleteMs: 50, giveUpMs: 0 };
    const only = ['FullLifecycle', 'DrainGraceTimeout', 'B701', 'B702', 'B703', 'B706'];
    const report = await runConformance({
      target,
      timings: { ...SHORT, ...short },
      profiles: ['core', 'fault'],
      only,
      transitionTimeoutMs: 60,
    });
    expect(notPassed(report)).toEqual([]);
    expect(report.totals.passed).toBe(only.length);
  });

  it('given equal seeds, then random calls are equal; given different seeds, then they differ', async () => {
    const requests = (seed: number) => tokensSent(['B312', 'B1201'], seed);
    expect(await requests(7)).toEqual(await requests(7));
    expect(await requests(7)).not.toEqual(await requests(8));
  });

  it.each(['B1201', 'B1204'])(
    'given %s, then its tokens are below, at and above zero and reach both limits of int64',
    async (id) => {
      const [min, max] = [-(2n ** 63n), 2n ** 63n - 1n];
      for (let seed = 1; seed <= 5; seed++) {
        const tokens = await tokensSent([id], seed);
        for (const at of [0, 1] as const) {
          const counters = new Set(tokens.map((token) => token[at]));
          const isReached = [min, max, -1n, 0n].map((counter) => counters.has(counter));
          expect({ seed, isReached }).toEqual({ seed, isReached: [true, true, true, true] });
          // A number beyond int64 would be another one on the wire.
          expect([...counters].filter((counter) => BigInt.asIntN(64, counter) !== counter)).toEqual([]);
        }
      }
    },
  );
});

describe('a conformance run against a defective provider', () => {
  it.each<[Defect, string, readonly string[]]>([
    ['fence per shard', 'fencing', ['B302']],
    ['mark only moves on success', 'fencing', ['B301', 'B311']],
    ['operation forgotten when settled', 'transitions', ['B206', 'B214']],
    ['metadata kept after drain', 'metadata', ['B502']],
    ['lenient cursor', 'lists', ['B909']],
    ['same first machine', 'fencing', ['B302']],
    ['host while creating', 'fields', ['B803']],
    ['delete of configured', 'transitions', ['B204']],
  ])(
    'given the defect "%s", then exactly the expected behaviours of %s fail',
    async (defect, area, expected) => {
      const report = await run(new SmallProvider({ defect }), { only: [area] });
      expect(report.verdict).toBe('failed');
      expect(idsOf(notPassed(report))).toEqual(expected);
      for (const { detail } of notPassed(report)) expect(detail).toMatch(/expected .*, got .* · after .* → /);
    },
  );

  it('given a failed behaviour, then its detail has the expectation, the answer and the calls before', async () => {
    const report = await run(new SmallProvider({ defect: 'mark only moves on success' }), { only: ['B311'] });
    expect(report.behaviours[0]!.detail).toMatch(
      /^expected Create \(5,4\) to be FAILED_PRECONDITION, got OK op-\d+ Creating · after .*Drain\(m-\d+, 5 s, shard-\w+-\d+ \(5,5\)\) → INTERNAL; Create\(m-\d+, shard-\w+-\d+ \(5,4\)\) → OK/,
    );
  });
});

describe('a conformance run against a limited target', () => {
  it('given no Delete, then the behaviours that need it are skipped and the verdict is incomplete', async () => {
    const report = await run(new SmallProvider({ hasDelete: false }), { only: ['B108', 'B109', 'B807'] });
    expect(report).toMatchObject({ verdict: 'incomplete', totals: { passed: 1, skipped: 2, failed: 0 } });
    expect(notPassed(report).map(({ status }) => status)).toEqual(['skipped', 'skipped']);
  });

  it('given an optional behaviour, then its skip is excused unless a selected profile requires it', async () => {
    const certify = (profiles: readonly Profile[]) =>
      run(new SmallProvider({ hasDelete: false }), { profiles, only: ['B108', 'B109', 'B310', 'B807'] });
    const core = await certify(['core']);
    expect(core).toMatchObject({ verdict: 'certified', totals: { passed: 1, skipped: 3, failed: 0 } });
    expect(notPassed(core).map(({ isExcused }) => isExcused)).toEqual([true, true, true]);
    const cloud = await certify(['core', 'cloud']);
    expect(cloud).toMatchObject({ verdict: 'incomplete', totals: { passed: 1, skipped: 3, failed: 0 } });
    expect(notPassed(cloud).map(({ isExcused }) => isExcused)).toEqual([undefined, undefined, undefined]);
  });

  it('given one machine, then a behaviour that needs two is skipped and does not fail', async () => {
    const report = await run(new SmallProvider({ machines: 1 }), { only: ['B302'] });
    expect(report.behaviours[0]).toMatchObject({
      status: 'skipped',
      detail: expect.stringContaining('no Speculative machine is left') as string,
    });
  });

  it('given too few machines for a behaviour, then it is skipped', async () => {
    const report = await run(new SmallProvider({ machines: 5 }), { only: ['B407'] });
    expect(report).toMatchObject({ verdict: 'incomplete', totals: { skipped: 1 } });
    expect(report.behaviours[0]!.detail).toContain('no Speculative machine is left after 5');
  });

  it('given neither fault selectors nor a start command, then the fault and durable behaviours are skipped', async () => {
    const report = await run(new SmallProvider(), { profiles: ['fault', 'durable'] });
    expect(report).toMatchObject({ verdict: 'incomplete', totals: { skipped: 15, passed: 0 } });
  });
});

describe('a conformance run that cannot start or end', () => {
  it('given no server at the address, then the run is refused', async () => {
    const target = '127.0.0.1:1';
    await expect(runConformance({ target, timings: SHORT })).rejects.toThrow('BF_TARGET_UNREACHABLE');
  });

  it('given a target that does not answer, then the run is refused', async () => {
    const provider = new SmallProvider({ defect: 'hangs' });
    const timings = { ...SHORT, callMs: 200, listMs: 200 };
    await expect(run(provider, { timings })).rejects.toThrow('BF_TARGET_UNREACHABLE');
  });

  it.each(['dies', 'hangs'] as const)(
    'given a target that %s during the run, then one behaviour fails and the remaining ones are skipped',
    async (defect) => {
      const provider = new SmallProvider({ defect, after: 40 });
      const timings = { ...SHORT, callMs: 200, listMs: 200 };
      const report = await run(provider, { timings });
      expect(report.verdict).toBe('failed');
      const { passed, failed, skipped } = report.totals;
      expect({ failed, total: passed + failed + skipped }).toEqual({ failed: 1, total: 94 });
      expect(passed).toBeGreaterThan(0);
      const culprit = report.behaviours.find(({ status }) => status === 'failed')!;
      expect(culprit.detail).toContain('got no answer');
      expect(report.behaviours.at(-1)!.detail).toBe(`the target stopped answering during ${culprit.id}`);
    },
  );

  it('given neither a target nor a start command, then the run is refused', async () => {
    await expect(runConformance({})).rejects.toThrow('BF_USAGE');
  });

  it('given TLS files that do not exist, then the run is refused', async () => {
    const tls = { cert: 'none.pem', key: 'none.pem', ca: 'none.pem' };
    await expect(run(new SmallProvider(), { tls })).rejects.toThrow('BF_TLS_UNREADABLE');
  });
});
