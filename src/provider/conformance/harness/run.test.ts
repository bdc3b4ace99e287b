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

/** Every token with which a run calls Create. */
async function tokensSent(only: readonly string[], seed: number): Promise<readonly [bigint, bigint][]> {
  const sent: [bigint, bigint][] = [];
  const { rpc } = new SmallProvider();
  const create: typeof rpc.create = (request) => {
    sent.push([request.shardEpoch, request.sequenceNumber]);
    return rpc.create(request);
  };
  const target = () => ({ rpc: { ...rpc, create }, close: () => {} });
  const report = await runConformance({ target, timings: SHORT, only, seed });
  expect(unpassed(report)).toEqual([]);
  return sent;
}

const unpassed = ({ behaviours }: ConformanceReport): readonly BehaviourResult[] =>
  behaviours.filter(({ status }) => status !== 'passed');

const idsOf = (results: readonly BehaviourResult[]) => results.map(({ id }) => id);

describe('a provider that keeps the contract', () => {
  it('is certified for core with 256 machines, none of the behaviours skipped', async () => {
    const report = await run(new SmallProvider({ machines: 256 }));
    expect(unpassed(report)).toEqual([]);
    expect(report).toMatchObject({ verdict: 'certified', totals: { passed: 94, total: 94 } });
    expect(report.machinesUsed).toBeLessThanOrEqual(256);
  });

  it('gets its machines back', async () => {
    const provider = new SmallProvider({ machines: 256 });
    await run(provider, { only: ['B101', 'B4xx'] });
    const left = await provider.rpc.list({ states: [1], maxResults: 0, sinceRevision: new Uint8Array(0) });
    expect(left.machines).toHaveLength(256);
  });

  it('passes the fault target if it fails as asked', async () => {
    const provider = new SmallProvider({ faults: 8, transitionTimeoutMs: 60 });
    const report = await run(provider, { profiles: ['fault'], transitionTimeoutMs: 60 });
    expect(unpassed(report)).toEqual([]);
    expect(report.totals.passed).toBe(8);
  });

  it('passes the scale target', async () => {
    const provider = new SmallProvider({ machines: 600 });
    const report = await run(provider, { profiles: ['scale'], scaleSeed: 600, soakMs: 50 });
    expect(unpassed(report)).toEqual([]);
    expect(report.totals.passed).toBe(9);
  });

  it('is not blamed if the suite is held up between two looks at a machine', async () => {
    const provider = new SmallProvider({ faults: 8, transitionTimeoutMs: 60 });
    const { rpc } = provider;
    const { Creating, Configuring, Draining, Deleting } = MachineState;
    const onTheWay: readonly number[] = [Creating, Configuring, Draining, Deleting];
    const get: typeof rpc.get = async (request) => {
      const machine = await rpc.get(request);
      // Nothing runs meanwhile, the provider included.
      if (onTheWay.includes(machine.state)) Atomics.wait(NEVER, 0, 0, 100);
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
    expect(unpassed(report)).toEqual([]);
    expect(report.totals.passed).toBe(only.length);
  });

  it('gets the same random behaviour from the same seed', async () => {
    const requests = (seed: number) => tokensSent(['B312', 'B1201'], seed);
    expect(await requests(7)).toEqual(await requests(7));
    expect(await requests(7)).not.toEqual(await requests(8));
  });

  it.each(['B1201', 'B1204'])('gets tokens of %s on both sides of zero and up to both ends', async (id) => {
    const [min, max] = [-(2n ** 63n), 2n ** 63n - 1n];
    for (let seed = 1; seed <= 5; seed++) {
      const tokens = await tokensSent([id], seed);
      for (const at of [0, 1] as const) {
        const counters = new Set(tokens.map((token) => token[at]));
        const isReached = [min, max, -1n, 0n].map((counter) => counters.has(counter));
        expect({ seed, isReached }).toEqual({ seed, isReached: [true, true, true, true] });
        // What is beyond an end would be another number on the wire.
        expect([...counters].filter((counter) => BigInt.asIntN(64, counter) !== counter)).toEqual([]);
      }
    }
  });
});

describe('a broken provider', () => {
  it.each<[Defect, string, readonly string[]]>([
    ['fence per shard', 'fencing', ['B302']],
    ['mark only moves on success', 'fencing', ['B301', 'B311']],
    ['operation forgotten when settled', 'transitions', ['B206', 'B214']],
    ['metadata kept after drain', 'metadata', ['B502']],
    ['lenient cursor', 'lists', ['B909']],
    ['same first machine', 'fencing', ['B302']],
    ['host while creating', 'fields', ['B803']],
    ['delete of configured', 'transitions', ['B204']],
  ])('with %s fails the right behaviours of %s', async (defect, area, expected) => {
    const report = await run(new SmallProvider({ defect }), { only: [area] });
    expect(report.verdict).toBe('failed');
    expect(idsOf(unpassed(report))).toEqual(expected);
    for (const { detail } of unpassed(report)) expect(detail).toMatch(/expected .*, got .* · after .* → /);
  });

  it('is told what was expected, what came and after which calls', async () => {
    const report = await run(new SmallProvider({ defect: 'mark only moves on success' }), { only: ['B311'] });
    expect(report.behaviours[0]!.detail).toMatch(
      /^expected Create \(5,4\) to be FAILED_PRECONDITION, got OK op-\d+ Creating · after .*Drain\(m-\d+, 5 s, shard-\w+-\d+ \(5,5\)\) → INTERNAL; Create\(m-\d+, shard-\w+-\d+ \(5,4\)\) → OK/,
    );
  });
});

describe('what a target cannot show', () => {
  it('is skipped and certifies nothing', async () => {
    const report = await run(new SmallProvider({ hasDelete: false }), { only: ['B108', 'B109', 'B807'] });
    expect(report).toMatchObject({ verdict: 'incomplete', totals: { passed: 1, skipped: 2, failed: 0 } });
    expect(unpassed(report).map(({ status }) => status)).toEqual(['skipped', 'skipped']);
  });

  it('is excused if the contract leaves it to the provider and no profile claims it', async () => {
    const certify = (profiles: readonly Profile[]) =>
      run(new SmallProvider({ hasDelete: false }), { profiles, only: ['B108', 'B109', 'B310', 'B807'] });
    const core = await certify(['core']);
    expect(core).toMatchObject({ verdict: 'certified', totals: { passed: 1, skipped: 3, failed: 0 } });
    expect(unpassed(core).map(({ isExcused }) => isExcused)).toEqual([true, true, true]);
    const cloud = await certify(['core', 'cloud']);
    expect(cloud).toMatchObject({ verdict: 'incomplete', totals: { passed: 1, skipped: 3, failed: 0 } });
    expect(unpassed(cloud).map(({ isExcused }) => isExcused)).toEqual([undefined, undefined, undefined]);
  });

  it('is no failure of capped lists when one machine is left to list', async () => {
    const report = await run(new SmallProvider({ machines: 1 }), { only: ['B302'] });
    expect(report.behaviours[0]).toMatchObject({
      status: 'skipped',
      detail: expect.stringContaining('no Speculative machine is left') as string,
    });
  });

  it('is skipped when machines run out', async () => {
    const report = await run(new SmallProvider({ machines: 5 }), { only: ['B407'] });
    expect(report).toMatchObject({ verdict: 'incomplete', totals: { skipped: 1 } });
    expect(report.behaviours[0]!.detail).toContain('no Speculative machine is left after 5');
  });

  it('is skipped in the fault target without faults and in the durable target without a command', async () => {
    const report = await run(new SmallProvider(), { profiles: ['fault', 'durable'] });
    expect(report).toMatchObject({ verdict: 'incomplete', totals: { skipped: 15, passed: 0 } });
  });
});

describe('a target that does not answer', () => {
  it('is refused before anything is run', async () => {
    const target = '127.0.0.1:1';
    await expect(runConformance({ target, timings: SHORT })).rejects.toThrow('BF_TARGET_UNREACHABLE');
  });

  it('is refused if it only hangs', async () => {
    const provider = new SmallProvider({ defect: 'hangs' });
    const timings = { ...SHORT, callMs: 200, listMs: 200 };
    await expect(run(provider, { timings })).rejects.toThrow('BF_TARGET_UNREACHABLE');
  });

  it.each(['dies', 'hangs'] as const)('half-way, because it %s, ends the run soon', async (defect) => {
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
  });

  it('is refused without a target or a command', async () => {
    await expect(runConformance({})).rejects.toThrow('BF_USAGE');
  });

  it('given TLS files that do not exist, when run, then it is refused before anything is called', async () => {
    const tls = { cert: 'none.pem', key: 'none.pem', ca: 'none.pem' };
    await expect(run(new SmallProvider(), { tls })).rejects.toThrow('BF_TLS_UNREADABLE');
  });
});
