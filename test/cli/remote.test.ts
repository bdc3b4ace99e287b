// The commands against a running shard: served on loopback by the real API, over a fake shard.

import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { hostname, tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import type { Command } from 'commander';
import { afterEach, describe, expect, it } from 'vitest';
import { explainCommand } from '../../src/cli/explain/explain.ts';
import { invocation } from '../../src/cli/invocation.ts';
import { acceptCommand, refuseCommand } from '../../src/cli/remote/accept.ts';
import { freezeCommand, unfreezeCommand } from '../../src/cli/remote/freeze.ts';
import { getCommand } from '../../src/cli/remote/get.ts';
import { forgetCommand, quarantineCommand, retryCommand } from '../../src/cli/remote/machine-orders.ts';
import { noPaint } from '../../src/cli/table.ts';
import { UNMET_REASONS, unmetText } from '../../src/model/index.ts';
import { type Answer, type MachineView, type NeedView, type Page, serveApi } from '../../src/shard/index.ts';
import { offsetPage } from '../../src/shard/planning/queries/pages.ts';
import type { WaitingActionView } from '../../src/shard/views.ts';
import { issueCertificate, makeAuthority } from '../../src/wire/grpc/certificates.ts';
import { aCost } from '../../testing/support/costs.ts';
import {
  BOOTSTRAP,
  CLUSTERS,
  FakeShard,
  fakePage,
  MACHINES,
  MET_EXPLANATION,
  NOW_MS,
  STATUS,
  UNMET,
  UNMET_EXPLANATION,
} from '../../testing/support/fake-shard.ts';

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const clean of cleanups.splice(0).reverse()) await clean();
});

const COMMANDS = {
  get: getCommand,
  explain: explainCommand,
  freeze: freezeCommand,
  unfreeze: unfreezeCommand,
  retry: retryCommand,
  quarantine: quarantineCommand,
  forget: forgetCommand,
  accept: acceptCommand,
  refuse: refuseCommand,
};

function quiet(command: Command): Command {
  for (const each of [command, ...command.commands])
    each.exitOverride().configureOutput({ writeErr: () => {} });
  return command;
}

async function served() {
  const shard = new FakeShard();
  const server = await serveApi(shard, '127.0.0.1:0', { tls: null });
  cleanups.push(() => server.close());
  const run = async (verb: keyof typeof COMMANDS, ...args: string[]): Promise<string> => {
    let out = '';
    const io = { out: (text: string) => (out += text), paint: noPaint };
    await quiet(COMMANDS[verb](io)).parseAsync([...args, '--shard', server.url], { from: 'user' });
    const isForTerminal = !args.includes('wide') && !args.includes('json');
    expect(out.split('\n').filter((line) => line.length > 100 && isForTerminal)).toEqual([]);
    return out;
  };
  return { shard, server, run };
}

/** The invocation of this checkout, which hints name. */
const CALL = invocation();

const NOTHING = { items: [], total: 0, next: null };

const NOUNS = ['status', 'machines', 'needs', 'clusters', 'providers', 'shortfalls', 'actions', 'freezes'];

describe('bigfleet get', () => {
  it('given machines, then they are a table', async () => {
    const { run } = await served();
    expect(await run('get', 'machines')).toBe(
      `MACHINE  STATE       CLUSTER  TYPE      ZONE   CAPACITY    PER HOUR  NOTE
m-1      configured  prod-eu  bm.large  eu-1a  bare-metal     $1.50
m-2      idle                 bm.large  eu-1a  bare-metal     $1.50  idle for 5m
gpu/7    creating             gpu.8x    eu-1a  spot          $12.35  ordered for 30s, attempt 3: th…
`,
    );
    expect(await run('get', 'machines', '--state', 'idle')).not.toContain('m-1');
    expect(await run('get', 'machines', '--limit', '1')).toContain('… 1 of 3 machines shown');
    const wide = await run('get', 'machines', '--forgotten', '-o', 'wide');
    expect(wide).toContain(
      'in quarantine by ann@desk for 90m: smells of smoke; disk \\u001b[31mdied; forgotten',
    );
    expect(wide).toContain('cpu 63.5 memory 256Gi');
  });

  it('given one machine, then its details are printed', async () => {
    const { run } = await served();
    const out = await run('get', 'machines', 'gpu/7');
    expect(out).toMatch(/^gpu\/7 {2}creating\n/);
    expect(out).toContain('ml/00ff00ff00, group training');
    expect(out).toContain('spot, $12.35 per hour, 5 % interrupted per hour');
  });

  it('given a machine on hold, then its note says so', async () => {
    const { shard, run } = await served();
    const times = { sinceMs: NOW_MS - 240_000, holdEndsMs: NOW_MS + 360_000 };
    const sentence = 'unclaimed for 4 min, given back in 6 min';
    const held = { ...MACHINES[0]!, unclaimed: { ...times, waitsFor: 'hold' as const, sentence } };
    shard.answers.machines = (ask) => fakePage(ask, [held], ({ id }) => id);
    expect(await run('get', 'machines', '-o', 'wide')).toContain(sentence);
    expect(await run('explain', 'machine', 'm-1')).toContain(`note          ${sentence}`);
  });

  it('given a machine that is to be replaced, then its note says so', async () => {
    const { shard, run } = await served();
    const sentence = 'to be replaced by cheaper machines for 4 min, saves about $0.40 an hour';
    const times = { sinceMs: NOW_MS - 240_000, untilMs: NOW_MS + 360_000 };
    const marked = { ...MACHINES[0]!, renewal: { ...times, machines: 1, savesPerHour: 0.4, sentence } };
    shard.answers.machines = (ask) => fakePage(ask, [marked], ({ id }) => id);
    expect(await run('get', 'machines', '-o', 'wide')).toContain(sentence);
    expect(await run('explain', 'machine', 'm-1')).toContain(`note          ${sentence}`);
  });

  it('given one machine that Needs use, then it says which, also under explain', async () => {
    const { shard, run } = await served();
    const sentence = 'shop/00ff00ff00 takes 6 cpu, shop/11ee11ee11 shares 1.5 cpu, 0.5 cpu left over';
    const usage = { users: [], usersTotal: 2, leftOver: { cpu: '500m' }, sentence };
    const used = { ...MACHINES[0]!, usage };
    shard.answers.machines = (ask) => fakePage(ask, [used], ({ id }) => id);
    const explained = await run('explain', 'machine', 'm-1');
    expect(explained.replaceAll(/\s+/g, ' ')).toContain(`used ${sentence}`);
    expect(explained).toContain(await run('get', 'machines', 'm-1'));
    expect(JSON.parse(await run('explain', 'machine', 'm-1', '-o', 'json'))).toMatchObject(used);
    await expect(run('explain', 'machine')).rejects.toThrow('Which machine?');
    await expect(run('explain', 'preempt', 'm-1')).rejects.toThrow('"cluster" and "pod" take an id');
  });

  it('given needs, then they are a table', async () => {
    const { run } = await served();
    const out = await run('get', 'needs');
    expect(out).toContain('prod-eu/3fa94c01de  checkout     1,000  cpu 64 memory');
    expect(out).toMatch(/ml\/00ff00ff00 .* topology-\S+ .*gpu 8 +1 +3h\n/);
    expect(await run('get', 'needs', '--unmet')).not.toContain('prod-eu');
  });

  it('given clusters, providers, shortfalls, actions or freezes, then they are a table', async () => {
    const { run } = await served();
    expect(await run('get', 'clusters')).toMatch(
      /ml +none +1 +1 +2 configured, 1 draining +\$12,345\.67 +can bind no machines/,
    );
    expect(await run('get', 'clusters', '-o', 'wide')).toMatch(
      /ml .* +general 50 %, accelerated 100 % +\$12,345\.67 +\$12,340\.67 +\$0\.00 +\$0\.00 +\$5\.00 /,
    );
    expect(await run('get', 'providers')).toMatch(
      /cloud +1 +open +fine +7 +never +not read yet; 12 machines miss/,
    );
    expect(await run('get', 'shortfalls')).toMatch(
      /ml\/00ff00ff00 +training +100 +gpu 8 +topology-unsatisfiable +14 cycles +escalated/,
    );
    const actions = await run('get', 'actions');
    expect(actions).toMatch(
      /30s ago +buy +gpu\/7 +ml +ordered +ml\/00ff00ff00 +the zone is out of stock; 3 attempt/,
    );
    expect(actions).toMatch(
      /held back.*\n.*\nbuy +gpu\/8 +ml +ml\/00ff00ff00 +100 +\+\$12\.35 +frozen by ann@desk/,
    );
    expect(await run('get', 'freezes')).toMatch(
      /action:buy +buy +the whole fleet +10m ago +in 50m +ann@desk +budget/,
    );
  });

  it('given plan, then it prints the actions held back of each kind with the reason, then each action', async () => {
    const { run } = await served();
    const plan = await run('get', 'plan');
    expect(plan).toMatch(
      /^Cycle 42, .* ago\.\n {2}would buy 1 \(\+\$12\.35\/h\), held back: it is frozen\.\n/,
    );
    expect(plan).toMatch(
      /\nbuy +gpu\/8 +ml +ml\/00ff00ff00 +100 +\+\$12\.35 +frozen by ann@desk, because: budget/,
    );
    expect(await run('get', 'status')).toContain('would buy 1 (+$12.35/h): it is frozen');
    const wide = await run('get', 'plan', '-o', 'wide');
    expect(wide).toMatch(/phase1.speculative +spot +eu-1a +cloud/);
    expect(JSON.parse(await run('get', 'plan', '-o', 'json'))).toMatchObject({
      actions: { items: [{ kind: 'Provision' }] },
    });
  });

  it('given a roll-up that is quarantined or refused, then its problems and the commands to settle it are printed', async () => {
    const { shard, run } = await served();
    const held = { sinceMs: 0, count: 3, rows: 1, knownRows: 388, isRefused: false };
    const reports = {
      lastReportMs: 0,
      problems: ['BF_QUANTITY_SYNTAX: needs[3]: "x" is no quantity.'],
      remarks: ['set-aside: needs[4].group: 2000 bytes, the limit is 1024.'],
      remarksTotal: 12,
      held,
    };
    const setAside = { rows: 12, machinesKept: 3, isLifted: false, unknownResource: 'odd' };
    const view = { ...CLUSTERS[1]!, reports, setAside };
    shard.answers.clusters = () => ({ items: [view], total: 1, next: null });
    const out = (await run('get', 'clusters')).replace(/\s+/g, ' ');
    expect(out).toContain(
      '12 rows beyond a limit are set aside (the fleet counts too many resources for odd)',
    );
    expect(out).toContain('3 machines kept for them');
    expect(out).toContain(`${CALL} accept set-aside ml`);
    expect(out).toContain('needs[4].group: 2000 bytes');
    expect(out).toContain('and 2 more such rows');
    expect(out).toContain('refused: BF_QUANTITY_SYNTAX: needs[3]');
    expect(out).toContain('A roll-up with 1 row instead of 388 is quarantined');
    expect(out).toContain(`${CALL} accept rollup ml`);
    const refused = { ...CLUSTERS[1]!, reports: { ...reports, held: { ...held, isRefused: true } } };
    shard.answers.clusters = () => ({ items: [refused], total: 1, next: null });
    expect((await run('get', 'clusters')).replace(/\s+/g, ' ')).toContain(
      `is refused; to accept it: ${CALL} accept rollup ml`,
    );
  });

  it('given status, then it prints demand, cost, shortfalls and providers', async () => {
    const { run } = await served();
    const out = await run('get', 'status');
    expect(out).toMatch(/^shard-0 {2}running\n/);
    expect(out).toContain('General: at least 1 of 2 Needs unmet; 50 % of 64 cores used, 32 cores spare');
    expect(out).toContain('- cpu 32 of 192 cores served, 32 coming or held back, 128 unmet');
    expect(out).toContain('- memory 256 of 1,024 GiB served, 768 unmet');
    expect(out).toContain('$15.35 per hour: serving $12.00, joining $0.34, idle $3.00, failed $0.01');
    expect(out).toContain(`1 (1 escalated): ${CALL} get shortfalls`);
    expect(out).toContain('cloud: 1 machine, breaker open, not read yet');
  });

  it('given prices for owned machines, then status and clusters show them separately', async () => {
    const { shard, run } = await served();
    const ownedCost = aCost({ serving: 40, idle: 2.5 });
    Object.assign(shard.answers, {
      status: () => ({ ...STATUS, ownedCost }),
      clusters: () => ({ items: [{ ...CLUSTERS[0]!, ownedCost }], total: 1, next: null }),
    });
    expect(await run('get', 'status')).toMatch(
      /owned +\$42\.50 per hour: serving \$40\.00, idle \$2\.50 \(amortised, beside the cost\)/,
    );
    expect(await run('get', 'clusters')).toMatch(/OWNED.*\nprod-eu .* \$1\.50 +\$42\.50/);
  });

  it('given a provider that denies all changes, then its reason is printed', async () => {
    const { shard, run } = await served();
    const [metal] = STATUS.providers;
    Object.assign(shard.answers, {
      status: () => ({ ...STATUS, providers: [{ ...metal!, denial: 'who are you' }] }),
    });
    expect(await run('get', 'providers')).toContain('denies changes: who are you');
  });

  it('given an empty shard, then each list is reported as empty', async () => {
    const { shard, run } = await served();
    const nothing = { items: [], total: 0, next: null };
    Object.assign(shard.answers, {
      machines: () => nothing,
      freezes: () => nothing,
      status: () => ({ ...STATUS, phase: 'starting', cycle: null, shortfalls: 0, freezes: 0, providers: [] }),
      actions: () => ({ actions: nothing, waiting: nothing }),
    });
    expect(await run('get', 'machines')).toBe('No machines.\n');
    expect(await run('get', 'freezes')).toBe('No freezes.\n');
    expect(await run('get', 'actions')).toBe('No actions.\n');
    expect(await run('get', 'status')).toContain('nothing is decided yet');
  });

  it('given more than one page, then pages are followed up to the limit, and the rest is counted', async () => {
    const { shard, run } = await served();
    const labels = { notes: 'x'.repeat(5_000) };
    const machines = Array.from({ length: 500 }, (_, i) => ({ ...MACHINES[0]!, id: `m-${i}`, labels }));
    shard.answers.machines = (ask) =>
      fakePage(ask, machines, ({ id }) => (ask.order === 'trouble' ? `1 ${id}` : id));
    const listed = async (limit: string) => {
      const page = JSON.parse(
        await run('get', 'machines', '--limit', limit, '-o', 'json'),
      ) as Page<MachineView>;
      return { ids: page.items.map(({ id }) => id), total: page.total, hasNext: page.next !== null };
    };
    const ids = machines.map(({ id }) => id);
    expect(await listed('20000')).toEqual({ ids, total: 500, hasNext: false });
    expect(await listed('400')).toEqual({ ids: ids.slice(0, 400), total: 500, hasNext: true });
    expect(shard.asked.filter(({ name }) => name === 'machines').length).toBeGreaterThan(4);
    expect(await run('get', 'machines', '--limit', '400')).toContain(
      '… 400 of 500 machines shown, Failed first; 100 left out: --limit 500 shows all',
    );
    expect(shard.asked.at(-2)).toMatchObject({ ask: { order: 'trouble' } });
  });

  it('given many actions, then the pages of both of their lists are followed', async () => {
    const { shard, run } = await served();
    const waiting = Array.from({ length: 30 }, (_, i) => ({
      ...{ kind: 'Provision', machine: `w-${i}`, cluster: 'ml', reason: 'phase1.speculative' },
      why: 'x'.repeat(60_000),
    }));
    const actions = Array.from({ length: 30 }, (_, i) => ({
      ...{ ...BOOTSTRAP, id: `a-${i}`, message: 'x'.repeat(60_000) },
    }));
    shard.answers.actions = ({ only, ...ask }) => ({
      actions: only === 'waiting' ? NOTHING : fakePage(ask, actions, ({ id }) => `0 ${id}`),
      waiting: only === 'actions' ? NOTHING : offsetPage(ask, waiting as WaitingActionView[]),
    });
    const answer = JSON.parse(await run('get', 'actions', '-o', 'json')) as Answer<'actions'>;
    expect(answer.actions.items.map(({ id }) => id)).toEqual(actions.map(({ id }) => id));
    expect(answer.waiting.items.map(({ machine }) => machine)).toEqual(waiting.map(({ machine }) => machine));
  });

  it.each(NOUNS)('given %s -o json, then the output equals the answer of the API', async (noun) => {
    const { server, run } = await served();
    const answer: unknown = await (await fetch(`${server.url}/v1/${noun}`)).json();
    expect(JSON.parse(await run('get', noun, '-o', 'json'))).toEqual(answer);
  });
});

describe('bigfleet explain NEED', () => {
  it('given an unmet Need, then it prints reason, help, machines and actions in order', async () => {
    const { run } = await served();
    expect(await run('explain', 'ml/00FF00FF00')).toBe(`Need ml/00ff00ff00
  cluster       ml
  group         training
  priority      100
  wants         cpu 128, memory 1.5Ti, nvidia.com/gpu 16
  largest pod   nvidia.com/gpu 8
  requires      rack Same
  first seen    3h ago

Not met, for 14 cycles: buys 1 machine, preempts 1 machine, lacks 8 nvidia.com/gpu.
  They are in "r1", and the rest must be there too.

Why
  All its machines must be in one domain, and no domain has enough, even with every machine in it
  (topology-unsatisfiable).
  Machines that meet its requirements: 0 idle, 1 that could be bought, 2 at work.
  Left over by other Needs of its cluster: 3 remainders match, none holds its largest pod (8
  nvidia.com/gpu).
  - 12 have failed: 12 in eu-1a; the last one: host lost.
  Ahead of it is prod-eu/3fa94c01de, group checkout: priority 1,000 goes before 100.
  See: ${CALL} explain prod-eu/3fa94c01de

What would help
  - 2 more machines like gpu/7.
  - Add machines to one of its domains, or let the work be split.

On their way to it
  - 1 machine creating, for 2m; expected in 3m.

Obstacles outside the decision
  - Provision is frozen for the whole fleet by ann@desk: budget.

Domains it could go to
  DOMAIN  COVERS
  "r1"      50 %  too small
  "r2"    12.5 %  too small

Machines it counts on
  MACHINE  STATE     TYPE    ZONE   CAPACITY  PER HOUR  NOTE
  gpu/7    creating  gpu.8x  eu-1a  spot        $12.35  ordered for 30s, attempt 3: the zone is out…

Preempted for it
  MACHINE  STATE       CLUSTER  TYPE      ZONE   CAPACITY    PER HOUR
  m-1      configured  prod-eu  bm.large  eu-1a  bare-metal     $1.50

Recent actions
    BEGAN  ACTION  MACHINE  OUTCOME  FOR            NOTE
  30s ago  buy     gpu/7    ordered  ml/00ff00ff00  the zone is out of stock; 3 attempts; nothing i…
`);
  });

  it('given a gang that is met, in part or not at all, then its domain is printed accordingly', async () => {
    const { shard, run } = await served();
    const explained = async (need: NeedView): Promise<string> => {
      shard.answers.explain = () => ({ ...UNMET_EXPLANATION, need });
      return await run('explain', 'ml/00ff00ff00');
    };
    expect(await explained({ ...UNMET, isMet: true, missing: {}, reason: null })).toContain(
      'Its machines are together in "r1".',
    );
    const nowhere = await explained({ ...UNMET, claimed: 0 });
    expect(nowhere).toContain('Its domain would be "r1"');
    expect(nowhere).not.toMatch(/are (together )?in "r1"/);
  });

  it('given a met Need, then it prints its machines, and no help', async () => {
    const { run } = await served();
    const out = await run('explain', 'prod-eu/3fa94c01de');
    expect(out).toContain('\nMet: keeps 1 machine.\n');
    expect(out).not.toContain('Left over');
    expect(out).toMatch(/\n {2}m-1 +configured/);
    expect(out).not.toContain('help');
  });

  it.each(UNMET_REASONS)('given the reason %s, then it is printed with its sentence', async (reason) => {
    const { shard, run } = await served();
    const why = unmetText(reason);
    shard.answers.explain = () => ({ ...UNMET_EXPLANATION, need: { ...UNMET, reason, why } });
    const text = (await run('explain', UNMET.id)).replaceAll(/\s+/g, ' ');
    expect(text).toContain(`${why.charAt(0).toUpperCase()}${why.slice(1)} (${reason}).`);
  });

  it('given obstacles, machines in flight and advice, then each is a separate line', async () => {
    const { run } = await served();
    const out = (await run('explain', UNMET.id)).replaceAll(/\n {4}/g, ' ');
    expect(out).toContain('- 12 have failed: 12 in eu-1a; the last one: host lost.');
    expect(out).toContain('- 1 machine creating, for 2m; expected in 3m.');
    expect(out).toContain('- Add machines to one of its domains, or let the work be split.');
  });

  it('given many machines, some of them gone, then a few are printed and the rest is counted', async () => {
    const { shard, run } = await served();
    const claimed = ['m-1', ...Array.from({ length: 500 }, (_, i) => `gone-${i}`)];
    shard.answers.explain = () => ({ ...MET_EXPLANATION, claimed, claimedTotal: 501 });
    const out = await run('explain', 'prod-eu/3fa94c01de');
    expect(out).toContain('\n  gone-10\n  … and 489 more\n');
  });

  it('given a shard of an earlier version, which sends no sentences, then the verdict is printed without details', async () => {
    const { shard, run } = await served();
    const { sentence: _, remainders: __, ...earlier } = MET_EXPLANATION;
    shard.answers.explain = () => earlier as typeof MET_EXPLANATION;
    expect(await run('explain', 'prod-eu/3fa94c01de')).toContain('\nMet.\n');
  });

  it('given names with terminal escapes, then they are printed escaped', async () => {
    const { shard, run } = await served();
    const need = {
      ...UNMET,
      id: 'a\u001b[2J/00ff00ff00',
      missing: { '\u001b[31m': '1' },
      requirements: ['x\u001b[31m In [y]'],
      domain: '\u001b[31m',
    };
    shard.answers.explain = () => ({
      ...UNMET_EXPLANATION,
      need,
      sentence: 'not met: lacks 1 \u001b[31m',
      remarks: ['\u001b]0;owned\u0007'],
    });
    const out = await run('explain', UNMET.id);
    expect(stripVTControlCharacters(out)).toBe(out);
    expect(out).toContain('\\u001b[2J');
  });

  it('given -o json, then the output equals the answer of the API', async () => {
    const { run } = await served();
    expect(JSON.parse(await run('explain', UNMET.id, '-o', 'json'))).toEqual(UNMET_EXPLANATION);
  });

  it('given an error code, then its entry is printed without a call to the shard', async () => {
    const { shard, run } = await served();
    expect(await run('explain', 'bf_usage')).toMatch(/^BF_USAGE\n/);
    await expect(run('explain', 'ml/xyz')).rejects.toThrow(/BF_USAGE: "ml\/xyz" is not a Need/);
    expect(shard.asked).toEqual([]);
  });
});

describe('orders to a shard', () => {
  const who = `${userInfo().username}@${hostname()}`;

  it.each([
    [
      ['freeze', '--cluster', 'ml', '--action', 'reclaim', '--why', 'w'],
      { kind: 'freeze', scope: { cluster: 'ml', action: 'Reclaim' }, who, why: 'w' },
      `Done.\nLift it with: ${CALL} unfreeze action:reclaim/cluster:ml\n`,
    ],
    [
      ['freeze', '--fleet', '--why', 'w', '--who', 'ann'],
      { kind: 'freeze', scope: { cluster: null, action: null }, who: 'ann', why: 'w' },
      `Done.\nLift it with: ${CALL} unfreeze fleet\n`,
    ],
    [['unfreeze', 'action:Reclaim/cluster:ml'], { kind: 'unfreeze', id: 'action:Reclaim/cluster:ml', who }],
    [['retry', 'gpu/7'], { kind: 'retry', machine: 'gpu/7', who }],
    [['quarantine', 'm-1', '--why', 'w'], { kind: 'quarantine', machine: 'm-1', who, why: 'w' }],
    [['forget', 'm-1'], { kind: 'forget', machine: 'm-1', who }],
    [['forget', 'm-1', '--why', 'w'], { kind: 'forget', machine: 'm-1', who, why: 'w' }],
    [['accept', 'list', 'cloud', '--why', 'w'], { kind: 'accept-list', provider: 'cloud', who, why: 'w' }],
    [['accept', 'list', 'cloud'], { kind: 'accept-list', provider: 'cloud', who }],
    [['accept', 'rollup', 'ml'], { kind: 'accept-rollup', cluster: 'ml', who }],
    [['refuse', 'rollup', 'ml'], { kind: 'refuse-rollup', cluster: 'ml', who }],
  ])(
    'given %j, then the order is sent and the answer printed',
    async ([verb, ...args], order, printed = 'Done.\n') => {
      const { shard, run } = await served();
      expect(await run(verb as keyof typeof COMMANDS, ...args)).toBe(printed);
      expect(shard.orders).toEqual([order]);
    },
  );

  it.each([
    [['freeze', '--why', 'w']],
    [['freeze', '--fleet']],
    [['freeze', '--fleet', '--cluster', 'ml', '--why', 'w']],
    [['freeze', '--action', 'Explode', '--why', 'w']],
    [['quarantine', 'm-1']],
    [['unfreeze']],
  ])('given %j, then it is refused and no order is sent', async ([verb, ...args]) => {
    const { shard, run } = await served();
    await expect(run(verb as keyof typeof COMMANDS, ...args!)).rejects.toThrow();
    expect(shard.orders).toEqual([]);
  });
});

describe('over TLS', () => {
  it('given a reader certificate, then it may read and not change anything', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'bigfleet-remote-'));
    cleanups.push(() => rmSync(folder, { recursive: true }));
    const valid = { notBefore: new Date('2020-01-01'), notAfter: new Date('2060-01-01') };
    const authority = makeAuthority({ name: 'fleet', ...valid });
    const filesOf = (name: string) => {
      const subject = { name, uris: [`bigfleet://${name}`], ipAddresses: ['127.0.0.1'], ...valid };
      const { certificate, key } = issueCertificate(authority, subject);
      const paths = ['cert', 'key', 'ca'].map((part) => join(folder, `${name.replace('/', '-')}-${part}`));
      const [cert, keyFile, ca] = paths as [string, string, string];
      writeFileSync(cert, certificate);
      writeFileSync(keyFile, key);
      writeFileSync(ca, authority.certificate);
      return { cert, key: keyFile, ca };
    };
    const server = await serveApi(new FakeShard(), '127.0.0.1:0', { tls: filesOf('shard/shard-0') });
    cleanups.push(() => server.close());
    const { cert, key, ca } = filesOf('readonly');
    const flags = ['--shard', server.address, '--tls-cert', cert, '--tls-key', key, '--tls-ca', ca];
    let out = '';
    const io = { out: (text: string) => (out += text), paint: noPaint };
    await quiet(getCommand(io)).parseAsync(['machines', ...flags], { from: 'user' });
    expect(out).toContain('m-1');
    const order = quiet(forgetCommand(io)).parseAsync(['m-1', ...flags], { from: 'user' });
    await expect(order).rejects.toThrow(/BF_SHARD_REFUSED: The certificate is that of a readonly/);
  });
});

describe('exit codes', () => {
  /** The shard of a test runs in this process, so waiting must not block it. */
  function bigfleet(args: readonly string[], env: NodeJS.ProcessEnv = {}) {
    return new Promise<{ code: number | null; out: string; err: string }>((resolve) => {
      const child = spawn(process.execPath, ['src/cli/main.ts', ...args], {
        env: { ...process.env, ...env },
      });
      let out = '';
      let err = '';
      child.stdout.on('data', (chunk: Buffer) => (out += chunk.toString()));
      child.stderr.on('data', (chunk: Buffer) => (err += chunk.toString()));
      child.on('close', (code) => resolve({ code, out, err }));
    });
  }

  it('given the shard in the environment and success, then 0', async () => {
    const { server } = await served();
    const { code, out, err } = await bigfleet(['get', 'machines'], { BIGFLEET_SHARD: server.address });
    expect({ code, err }).toEqual({ code: 0, err: '' });
    for (const { id, isForgotten } of MACHINES) expect(out.includes(id)).toBe(!isForgotten);
  });

  it('given a shard that refuses, then 1', async () => {
    const { shard, server } = await served();
    shard.result = { isDone: false, message: 'm-1 is at work.' };
    const { code, err } = await bigfleet(['forget', 'm-1', '--shard', server.url]);
    expect({ code, err }).toMatchObject({ code: 1, err: expect.stringContaining('m-1 is at work.') });
  });

  it('given no server at the address, then 1 and the remedy', async () => {
    const { server } = await served();
    await server.close();
    const { code, err } = await bigfleet(['explain', 'ml/00ff00ff00', '--shard', server.url]);
    expect(code).toBe(1);
    expect(err).toContain(`BF_SHARD_UNREACHABLE: No shard at ${server.url}: nothing listens there.`);
    expect(err).toContain('npm start');
  });

  it('given another kind of server at the address, then 1', async () => {
    const other = createServer((_request, response) => void response.end('<p>Hello</p>')).listen(
      0,
      '127.0.0.1',
    );
    cleanups.push(() => other.close());
    await new Promise((resolve) => other.once('listening', resolve));
    const shard = `http://127.0.0.1:${(other.address() as AddressInfo).port}`;
    const { code, err } = await bigfleet(['get', 'status', '--shard', shard]);
    expect({ code, err }).toMatchObject({ code: 1, err: expect.stringContaining('not a shard') });
  });

  it('given invalid arguments, also those that only the shard can reject, then 2', async () => {
    const { server } = await served();
    const results = await Promise.all([
      bigfleet(['get', 'unicorns']),
      bigfleet(['get', 'machines', '--state', 'asleep', '--shard', server.url]),
      bigfleet(['get', 'machines', '--shard', 'ftp://here']),
    ]);
    expect(results.map(({ code }) => code)).toEqual([2, 2, 2]);
    expect(results[1]!.err).toContain('SPECULATIVE');
  });
});
