// Questions about what would be, and exports, of a shard in a process of its own: compared with what the shard then does.

import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { describe, expect, it, type TestContext } from 'vitest';
import type { PlanView } from '../../src/shard/views.ts';
import type { WhatIfAnswer } from '../../src/whatif/index.ts';
import { offering } from './shard-cloud.ts';
import { bareEnvironment } from './shard-process.ts';
import { need, PATIENT, World } from './shard-world.ts';

/** The output of a command at the shard; `input` goes to its standard input. */
async function bigfleet(world: World, args: readonly string[], input = ''): Promise<string> {
  const env = { ...bareEnvironment(), BIGFLEET_SHARD: world.api };
  const child = spawn(process.execPath, ['src/cli/main.ts', ...args], { env });
  child.stdin.end(input);
  const exited = new Promise<number | null>((resolve) => child.on('close', resolve));
  const [out, err, code] = await Promise.all([text(child.stdout), text(child.stderr), exited]);
  expect({ args, code, err }).toEqual({ args, code: 0, err: '' });
  return out;
}

async function whatIf(world: World, ...flags: readonly string[]): Promise<WhatIfAnswer> {
  return JSON.parse(await bigfleet(world, ['whatif', ...flags, '-o', 'json'])) as WhatIfAnswer;
}

type Named = Pick<WhatIfAnswer['actions']['added']['items'][number], 'kind' | 'machine' | 'cluster'>;

const textsOf = (actions: readonly Named[]): string[] =>
  actions.map(({ kind, machine, cluster }) => `${kind} ${machine} ${cluster}`).sort();

/** A cluster with two machines of the cheaper kind; two of them and four of the other kind could be bought. */
async function open(test: TestContext): Promise<World> {
  const world = await World.open(test, {
    clouds: {
      cloud: [offering('near', { count: 4 }), offering('far', { count: 4, pricePerHour: 2 })],
    },
    isProcess: true,
  });
  world.join('a', need('a', 8));
  await world.served();
  return world;
}

/** Machines that the shard tried to create since `from`, in order of id. */
function createdSince(world: World, from: number): string[] {
  return world
    .callsOf('create')
    .slice(from)
    .map(({ machine }) => machine)
    .sort();
}

describe.concurrent('what would be, asked of a running shard', PATIENT, () => {
  it('given more demand in a question, then the shard buys the machines of the answer once demand rises', async (test) => {
    const world = await open(test);
    // When
    const { actions, settled } = await whatIf(world, '--demand', 'a=1.5', '--settle');
    const bought = world.callsOf('create').length;
    expect(textsOf(actions.added.items)).toEqual([expect.stringMatching(/^Provision cloud-near-\S+ a$/)]);
    expect(settled).toMatchObject({ isQuiet: true, bought: 1, bound: 1, drained: 0 });
    // Then
    world.operator('a').setDemand([need('a', 12)]);
    await world.served();
    expect(createdSince(world, bought)).toEqual(actions.added.items.map(({ machine }) => machine));
  });

  it('given a kind out of stock in a question, then its Needs get the machines of the answer once it is', async (test) => {
    const world = await open(test);
    // When
    const { actions, touched } = await whatIf(
      world,
      ...['--without', 'instance-type=near,state=speculative', '--demand', 'a=1.5'],
    );
    expect(touched).toMatchObject({ removed: 2, needs: 1 });
    expect(textsOf(actions.added.items)).toEqual([expect.stringMatching(/^Provision cloud-far-\S+ a$/)]);
    // Then
    const before = world.nodesOf('a');
    world.cloud().provider.cloud.stockOut('near', 600_000);
    world.operator('a').setDemand([need('a', 12)]);
    await world.served();
    const added = world.nodesOf('a').filter((node) => !before.includes(node));
    expect(added).toEqual(actions.added.items.map(({ machine }) => machine));
  });

  it('given decisions that a freeze holds back, then an export decides the same, and the shard does it once the freeze ends', async (test) => {
    const world = await open(test);
    await bigfleet(world, ['freeze', '--action', 'provision', '--why', 'test', '--who', 'ann']);
    world.operator('a').setDemand([need('a', 20)]);
    await world.until('the purchases wait', async () => {
      const { actions } = await world.get<PlanView>('/v1/plan');
      return actions.items.length === 3;
    });
    const held = (await world.get<PlanView>('/v1/plan')).actions.items;
    // When
    const scenario = await bigfleet(world, ['export']);
    const plan = JSON.parse(await bigfleet(world, ['decide', '-', '-o', 'json'], scenario)) as {
      readonly actions: readonly Named[];
    };
    // Then
    expect(textsOf(plan.actions)).toEqual(textsOf(held));
    const bought = world.callsOf('create').length;
    await bigfleet(world, ['unfreeze', 'action:Provision']);
    await world.served();
    expect(createdSince(world, bought)).toEqual(plan.actions.map(({ machine }) => machine).sort());
  });
});

describe('the explanation of a Need by a shard whose fleet counts as large', PATIENT, () => {
  it('is made one at a time on the replica, and is complete', async (test) => {
    const world = await World.open(test, {
      clouds: { cloud: [offering('near', { count: 4 })] },
      largeFleet: { needs: 0, machines: 0 },
    });
    world.join('a', need('a', 8));
    await world.served();
    const [{ id } = { id: '' }] = await world.needs('a');
    const ask = () => fetch(`${world.api}/v1/needs/${id}`);
    // When
    const statuses = (await Promise.all([ask(), ask()])).map(({ status }) => status);
    await world.until('the replica is ready', async () => (await ask()).status === 200);
    const story = await world.explain('a');
    // Then
    expect(statuses).toContain(503);
    expect(story).toMatchObject({ need: { id, isMet: true }, claimedTotal: 2 });
    expect(story.obstacles).toMatchObject([{ cause: 'unused', machines: 2 }]);
  });
});
