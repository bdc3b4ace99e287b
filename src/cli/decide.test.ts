import { describe, expect, it } from 'vitest';
import { decide as engineDecide } from '../engine/index.ts';
import { fleetOf } from '../fleet/index.ts';
import type { Action, DecisionInput, NeedKey, Plan, Verdict } from '../model/index.ts';
import { ERRORS, keyOf } from '../model/index.ts';
import { parseScenario, planJson } from '../scenario/index.ts';
import { type DecideIo, decideCommand } from './decide.ts';
import { DECIDER } from './decider.ts';
import type { Phase1Options } from './phase1-flags.ts';
import { LINE_WIDTH, noPaint } from './table.ts';

const SCENARIO = JSON.stringify({
  now: '2026-01-01T00:00:00Z',
  machines: [
    { id: 'i1', state: 'IDLE', pricePerHour: 1, resources: { cpu: '4' } },
    { id: 's1', state: 'SPECULATIVE', pricePerHour: 2, zone: 'a', resources: { cpu: '4' } },
    { id: 'v1', state: 'CONFIGURED', cluster: 'batch', pricePerHour: 0.5 },
  ],
  needs: [
    { cluster: 'prod', priority: 1000, aggregateResources: { cpu: '12' }, group: 'g' },
    { cluster: 'prod', priority: 1000, aggregateResources: { cpu: '1' } },
    { cluster: 'batch', priority: 1, aggregateResources: { memory: '2Gi' } },
  ],
});

interface Run {
  readonly out: string;
  readonly err: string;
  readonly code: number;
  /** How often the engine decided, and with which options last. */
  readonly decisions: number;
  readonly how: Phase1Options | null;
}

const onEngine = ({ nowMs, options, ...fleet }: DecisionInput): Plan =>
  engineDecide(fleetOf({ nowMs, options, ...fleet }), nowMs, options);

async function run(
  args: readonly string[],
  files: Record<string, string> = { f: SCENARIO },
  plan: (input: DecisionInput) => Plan = planFor,
): Promise<Run> {
  const seen = { out: '', err: '', code: 0, decisions: 0, how: null as Phase1Options | null };
  const io: DecideIo = {
    read: (file) =>
      file in files ? Promise.resolve(files[file] ?? '') : Promise.reject(new Error(`no file ${file}`)),
    out: (text) => {
      seen.out += text;
    },
    err: (text) => {
      seen.err += text;
    },
    exitCode: (code) => {
      seen.code = code;
    },
    paint: noPaint,
  };
  const decide = (input: DecisionInput, how: Phase1Options): Promise<Plan> => {
    seen.decisions++;
    seen.how = how;
    return Promise.resolve(plan(input));
  };
  // A made-up plan has no explanation.
  const explain = plan === onEngine ? DECIDER.explain : () => null;
  await decideCommand(async () => ({ decide, explain }), io)
    .exitOverride()
    .configureOutput({ writeErr: () => {} })
    .parseAsync(args, { from: 'user' });
  return seen;
}

/** A made-up plan: the first Need binds, buys and preempts and is still short, the others are met. */
function planFor(input: DecisionInput): Plan {
  const keys = input.needs.map(keyOf);
  const verdicts = keys.map((key, i): Verdict => met(key, input.needs[i]!.profile.priority));
  const first = keys[0];
  const nothing = { claims: new Map(), restamps: new Map(), retargets: new Map(), onHold: new Map() };
  if (first === undefined) return { actions: [], verdicts: [], ...nothing };
  verdicts[0] = {
    ...met(first, 1000),
    satisfied: false,
    claimed: ['i1', 's1'],
    bootstraps: ['i1'],
    provisions: ['s1'],
    preempts: ['v1'],
    deficit: new Map([['cpu', 4000]]),
    domain: 'a',
    satisfiable: false,
    candidates: [{ domain: 'a', coverage: 666_666, worstCoverage: 666_666, satisfiable: false }],
    unmet: {
      reason: 'preemption-exhausted',
      matching: { idle: 1, speculative: 1, configured: 0 },
      fitting: { total: 3, failed: 0, blocked: 0, deleting: 0 },
      blocker: keys[1] ?? null,
      extraSupply: { count: 1, like: 'i1' },
    },
  };
  const actions: Action[] = [
    { ...action('Bootstrap', 'i1', 'prod', first), reason: 'phase1.idle' },
    { ...action('Provision', 's1', 'prod', first), reason: 'phase1.speculative' },
    { ...action('Preempt', 'v1', 'batch', first), graceSeconds: 120, preemptorPriority: 1000 },
  ];
  return { actions, verdicts, ...nothing, claims: new Map([['i1', first]]) };
}

function action(kind: Action['kind'], machine: string, cluster: string, need: NeedKey): Action {
  return { kind, machine, cluster, reason: 'phase2.inversion', graceSeconds: 0, preemptorPriority: 0, need };
}

function met(key: NeedKey, priority: number): Verdict {
  return {
    key,
    priority,
    foldedInto: null,
    satisfied: true,
    deficit: new Map(),
    claimed: [],
    shares: [],
    bootstraps: [],
    provisions: [],
    preempts: [],
    domain: null,
    satisfiable: null,
    candidates: [],
    unmet: null,
  };
}

describe('bigfleet decide', () => {
  it('given a scenario, then it prints Needs with verdicts, actions by kind, and the cost', async () => {
    const { out, code } = await run(['f']);
    expect(code).toBe(0);
    expect(out).toContain('Needs: 3, met 2');
    expect(out).toMatch(/1 {2}prod +g +1000 {2}cpu 12 +preemption-exhausted {2}binds 1, buys 1, preempts 1/);
    expect(out).toMatch(/short {2}cpu 4/);
    expect(out).toMatch(/bind 1\n {4}i1 {2}to prod {2}for Need 1 {2}idle, and fits/);
    expect(out).toMatch(/preempt 1\n {4}v1 {2}from batch {2}grace 2 min/);
    expect(out).toMatch(/before {2}\$1\.50/);
    expect(out).toMatch(/after {3}\$3\.50 {2}\+\$2\.00/);
  });

  it('given long names, then every line is within the width', async () => {
    const long = 'x'.repeat(300);
    const needs = [{ cluster: long, group: long, aggregateResources: { [long]: '1' } }];
    const machines = [{ id: 'i1', state: 'IDLE' }];
    const file = JSON.stringify({ now: 0, machines, needs });
    for (const args of [['f'], ['f', '--explain', '1']]) {
      const { out } = await run(args, { f: file });
      for (const line of out.split('\n')) expect(line.length).toBeLessThanOrEqual(LINE_WIDTH);
    }
  });

  it('given control characters in names, then they are escaped', async () => {
    const needs = [{ cluster: 'c\u001b[2J', group: 'g\n' }];
    const { out } = await run(['f'], { f: JSON.stringify({ now: 0, needs }) });
    expect(out).toContain('c\\u001b[2J');
    expect(out).not.toContain('\u001b');
  });

  it('given a Need of unknown size, then it prints that, and no missing amount', async () => {
    const needs = [
      { cluster: 'a', aggregateResources: { cpu: '1' } },
      { cluster: 'b', setAside: true },
    ];
    const { out } = await run(['f'], { f: JSON.stringify({ now: '2026-01-01T00:00:00Z', needs }) }, onEngine);
    expect(out).toMatch(/2 {2}b +0 {2}size not known {2}set-aside/);
    expect(out.match(/ short /g)).toHaveLength(1);
    const told = await run(
      ['f', '--explain', '2'],
      { f: JSON.stringify({ now: '2026-01-01T00:00:00Z', needs }) },
      onEngine,
    );
    expect(told.out).toMatch(
      /wants +size not known\nverdict +set-aside\nwhy +its size is beyond .*\nmatching/,
    );
  });

  it('given nothing to do, then it prints that', async () => {
    const { out } = await run(['f'], { f: '{"now": 0}' });
    expect(out).toContain('none: the fleet is as it should be');
  });

  it('given -o json, then it prints JSON', async () => {
    const { out } = await run(['f', '-o', 'json']);
    const json = JSON.parse(out) as Record<string, unknown>;
    expect(Object.keys(json)).toEqual(['actions', 'needs', 'claims', 'restamps', 'cost', 'digest']);
    expect(json).toMatchObject({ actions: [{ kind: 'Bootstrap', machine: 'i1' }, {}, {}] });
  });

  it('given - as the file, then it reads YAML from standard input', async () => {
    const { out } = await run(['-'], { '-': 'now: 2026-01-01T00:00:00Z\nneeds: [{ cluster: blue }]\n' });
    expect(out).toContain('blue');
  });
});

describe('bigfleet decide on shared machines', () => {
  const shared = (unclaimedSince: string) => ({
    f: JSON.stringify({
      now: '2026-01-01T12:00:00Z',
      machines: [
        { id: 'm1', state: 'CONFIGURED', cluster: 'shop', pricePerHour: 1, resources: { cpu: '8' } },
        { id: 'm2', state: 'CONFIGURED', cluster: 'shop', resources: { cpu: '2' }, unclaimedSince },
        { id: 's1', state: 'SPECULATIVE', resources: { cpu: '8' } },
      ].map((machine) => ({ pricePerHour: 2, ...machine })),
      needs: [
        { cluster: 'shop', priority: 9, aggregateResources: { cpu: '5' }, minUnit: { cpu: '5' } },
        { cluster: 'shop', priority: 8, aggregateResources: { cpu: '1500m' }, minUnit: { cpu: '1' } },
        { cluster: 'web', priority: 7, aggregateResources: { cpu: '4' }, minUnit: { cpu: '4' } },
      ],
    }),
  });

  it('given shares and a machine on hold, then it prints both', async () => {
    const { out } = await run(['f'], shared('2026-01-01T11:56:00Z'), onEngine);
    expect(out).toMatch(/2 {2}shop +8 {2}cpu 1500m +met +shares 1/);
    expect(out).toContain('On hold: 1\n  m2  in shop  unclaimed for 4 min, given back in 6 min\n');
    const { out: later } = await run(['f'], shared('2026-01-01T11:00:00Z'), onEngine);
    expect(later).toContain('reclaim 1\n    m2');
    expect(later).not.toContain('On hold');
  });

  it('given one Need, then it prints what it shares, and the remainders that it found', async () => {
    const { out } = await run(['f', '--explain', '2'], shared('2026-01-01T11:56:00Z'), onEngine);
    expect(out).toMatch(/shares +1\.5 cpu of m1\n/);
    expect(out).toMatch(/left over +1 remainder matches, 1 holds its largest pod \(1 cpu\)\n/);
    const { out: other } = await run(['f', '--explain', '3'], shared('2026-01-01T11:56:00Z'), onEngine);
    expect(other).not.toMatch(/shares|left over/);
  });
});

describe('bigfleet decide with node facts', () => {
  const machine = (id: string, cluster: string, more: object) => {
    return { id, state: 'CONFIGURED', cluster, pricePerHour: 1, resources: { cpu: '4' }, ...more };
  };
  const low = { priority: 1, fingerprint: 'p=1|ipb=0|rpb=0|reqs=|spr=' };
  const files = {
    f: JSON.stringify({
      now: '2026-01-01T00:00:00Z',
      machines: [
        machine('kept', 'prod', { use: 'in-use' }),
        machine('victim', 'batch', { use: 'protected', assigned: low }),
      ],
      needs: [
        { cluster: 'prod', priority: 1000, aggregateResources: { cpu: '8' } },
        { cluster: 'batch', priority: 1, aggregateResources: { cpu: '4' } },
      ],
    }),
  };

  it('given a protected victim, then the reason says why it was picked all the same', async () => {
    const { out } = await run(['f'], files, onEngine);
    expect(out).toContain('priority 1000 goes before 1; protected, and no');
  });

  it('given a machine in use, then the explanation of its Need says what follows from that', async () => {
    const { out } = await run(['f', '--explain', 'prod'], files, onEngine);
    expect(out).toMatch(/kept .*in use: kept before/);
  });
});

describe('bigfleet decide --explain', () => {
  const FINGERPRINT = 'p=1000|ipb=0|rpb=0|reqs=|spr=';

  it('given one Need, then it prints its demand, verdict, machines and domains', async () => {
    const { out } = await run(['f', '--explain', `prod/${FINGERPRINT}/g`]);
    expect(out).toMatch(/fingerprint +p=1000\|/);
    expect(out).toMatch(/verdict +preemption-exhausted/);
    expect(out).toMatch(/short of +cpu 4/);
    expect(out).toMatch(/blocked by +prod\/p=1000/);
    expect(out).toMatch(/would help +1 more like i1/);
    expect(out).toMatch(/s1 +Speculative +a +\$2\.00 {2}buys now/);
    expect(out).toMatch(/"a" +66\.6 % +too small/);
  });

  it.each([
    ['3', 'batch'],
    ['batch', 'batch'],
    [`prod/${FINGERPRINT}`, 'prod'],
  ])('given %s, then it finds the Need', async (text, cluster) => {
    const { out } = await run(['f', '-o', 'json', '--explain', text]);
    expect(JSON.parse(out)).toMatchObject({ cluster, group: '' });
  });

  it('given a prefix of several Needs or of none, then it is refused with a list of Needs', async () => {
    await expect(run(['f', '--explain', 'prod/p=1'])).rejects.toThrow(
      /2 Needs start with.*\n {2}prod\/p=1000/,
    );
    await expect(run(['f', '--explain', 'green'])).rejects.toThrow(/BF_USAGE: No Need is named "green"/);
    await expect(run(['f', '--explain', '4'])).rejects.toThrow(/BF_USAGE/);
  });
});

describe('bigfleet decide --phase1-…', () => {
  const withOptions = JSON.stringify({ now: 0, options: { workers: 3, retries: 7 } });

  it.each([
    ['no options', '{"now": 0}', [], { workers: 1, retries: 10, lanes: 'auto' }],
    ['options in the file', withOptions, [], { workers: 3, retries: 7, lanes: 'auto' }],
    [
      'flags, which override the file',
      withOptions,
      ['--phase1-workers', '2', '--phase1-retries', '0', '--phase1-lanes', 'fixed:4'],
      { workers: 2, retries: 0, lanes: 4 },
    ],
    ['a number of lanes', withOptions, ['--phase1-lanes', 'auto'], { workers: 3, retries: 7, lanes: 'auto' }],
  ])('given %s, then the engine gets them', async (_, file, flags, how) => {
    expect((await run(['f', ...flags], { f: file })).how).toEqual(how);
  });

  it.each([
    ['--phase1-workers', '0'],
    ['--phase1-workers', '1.5'],
    ['--phase1-workers', '1025'],
    ['--phase1-retries', '-1'],
    ['--phase1-retries', '1001'],
    ['--phase1-lanes', '4'],
    ['--phase1-lanes', 'fixed:0'],
    ['--phase1-lanes', 'fixed:'],
  ])('given %s %s, then it is refused', async (flag, value) => {
    await expect(run(['f', flag, value])).rejects.toThrow(/Expected (a whole number|auto)/);
  });

  it('given any threads, retries and lanes, then the plan is the same', async () => {
    // Enough clusters that threads are woken.
    const clusters = Array.from({ length: 100 }, (_, i) => `c${i}`);
    const resources = { cpu: '4' };
    const machines = clusters.flatMap((cluster) => [
      { id: `${cluster}-bound`, state: 'CONFIGURED', cluster, resources },
      { id: `${cluster}-idle`, state: 'IDLE', resources },
    ]);
    const needs = clusters.map((cluster, i) => ({ cluster, aggregateResources: { cpu: `${(i % 5) * 4}` } }));
    const scenario = parseScenario(JSON.stringify({ now: 0, machines, needs }));
    if (!scenario.ok) throw new Error('unreachable');
    const { input } = scenario.value;
    const ways: Phase1Options[] = [
      { workers: 1, retries: 10, lanes: 'auto' },
      { workers: 2, retries: 0, lanes: 2 },
      { workers: 3, retries: 10, lanes: 8 },
    ];
    const plans = await Promise.all(ways.map((how) => DECIDER.decide(input, how)));
    expect(new Set(plans.map((plan) => planJson(plan, input).digest)).size).toBe(1);
  });
});

describe('bigfleet decide on invalid input', () => {
  const BAD = JSON.stringify({
    machines: [{ id: 'a', state: 'IDLE', zoen: 'a' }],
    needs: [{ priority: 'x' }],
  });

  it('given several problems, then it lists all on standard error, exits with 2 and decides nothing', async () => {
    const { out, err, code, decisions } = await run(['f'], { f: BAD });
    expect({ out, code, decisions }).toEqual({ out: '', code: 2, decisions: 0 });
    expect(err.split('\n').map((line) => line.trim().split(': ')[0])).toEqual([
      'f',
      'BF_INPUT_INVALID  now',
      'BF_INPUT_INVALID  machines[0].zoen',
      'BF_CLUSTER_EMPTY  needs[0].cluster',
      'BF_INPUT_INVALID  needs[0].priority',
      '',
    ]);
    expect(err).toContain('4 problems, nothing decided');
  });

  it('given -o json, then it also prints the problems as JSON', async () => {
    const { out, err, code } = await run(['f', '-o', 'json'], { f: BAD });
    expect(code).toBe(2);
    const { problems } = JSON.parse(out) as { problems: unknown[] };
    expect(JSON.parse(err)).toEqual({
      code: 'BF_INPUT_INVALID',
      message: ERRORS.BF_INPUT_INVALID.summary,
      remedy: ERRORS.BF_INPUT_INVALID.remedy,
      problems,
    });
    expect(problems).toHaveLength(4);
    expect(problems[1]).toMatchObject({ code: 'BF_INPUT_INVALID', path: 'machines[0].zoen' });
  });

  it('given a file that cannot be read or parsed, then it reports that', async () => {
    expect(await run(['missing'])).toMatchObject({ code: 2, decisions: 0 });
    const { err } = await run(['-'], { '-': '{ "now": 1' });
    expect(err).toMatch(/standard input: one problem/);
    expect(err).toMatch(/BF_INPUT_UNREADABLE {2}Line 1, column 11: /);
  });
});
