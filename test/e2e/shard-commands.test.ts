// The commands for people against a running shard, each as a separate process.

import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import type { ActionView, Page } from '../../src/shard/index.ts';
import { offering } from './shard-cloud.ts';
import { bareEnvironment } from './shard-process.ts';
import { need, ofType, PATIENT, World } from './shard-world.ts';

async function bigfleet(world: World, ...args: readonly string[]) {
  const env = { ...bareEnvironment(), BIGFLEET_SHARD: world.api };
  const child = spawn(process.execPath, ['src/cli/main.ts', ...args], { env });
  const exited = new Promise<number | null>((resolve) => child.on('close', resolve));
  const [out, err, code] = await Promise.all([text(child.stdout), text(child.stderr), exited]);
  return { out, err, code };
}

describe('commands against a running shard', PATIENT, () => {
  it('given get, explain, freeze, unfreeze, quarantine, retry and forget, then each has its documented effect', async (test) => {
    const world = await World.open(test, { clouds: { cloud: [offering('small', { count: 3 })] } });
    const ask = async (...args: readonly string[]): Promise<string> => {
      const { out, err, code } = await bigfleet(world, ...args);
      expect({ args, code, err }).toEqual({ args, code: 0, err: '' });
      return out;
    };
    world.join('a', need('a', 8));
    world.join('odd', need('odd', 4, { requirements: ofType('gpu') }));
    await world.served('a');
    const [need1] = await world.needs('a');
    const [odd] = await world.needs('odd');
    const [one] = world.nodesOf('a');

    // Read commands.
    const [status, machines, needs, clusters, shortfalls, actions, unmet, met] = await Promise.all([
      ask('get', 'status'),
      ask('get', 'machines', '--state', 'configured'),
      ask('get', 'needs'),
      ask('get', 'clusters'),
      ask('get', 'shortfalls'),
      ask('get', 'actions', '-o', 'json'),
      ask('explain', odd!.id),
      ask('explain', need1!.id),
    ]);
    expect(status).toMatch(/^shard-0 {2}running\n/);
    expect(machines).toMatch(new RegExp(`${one} +configured +a +small`));
    expect(needs).toContain(need1!.id);
    expect(clusters).toMatch(/\na +/);
    expect(shortfalls).toMatch(new RegExp(`${odd!.id}.*no-matching-supply`));
    const begun = (JSON.parse(actions) as { actions: Page<ActionView> }).actions.items;
    expect(begun.filter(({ kind }) => kind === 'Bootstrap')).toHaveLength(2);
    expect(unmet).toContain('(no-matching-supply)');
    expect(met).toContain('Met: keeps 2 machines.');

    // A quarantined machine is not touched until a person releases it.
    const [third] = await world.machines('?state=speculative');
    expect(await ask('quarantine', third!.id, '--why', 'smells of smoke')).toContain(
      'kept out of all decisions',
    );
    world.operator('a').setDemand([need('a', 12)]);
    await world.until('it is short', async () => (await world.clusterOf('a'))?.unmet === 1);
    await world.cycles(5);
    expect(world.callsOf('create')).toHaveLength(2);
    expect(await ask('get', 'machines', third!.id)).toContain('smells of smoke');
    expect(await ask('retry', third!.id)).toContain('is looked at afresh');
    await world.served('a');

    // A freeze is listed with its author and reason, and can be lifted.
    expect(await ask('freeze', '--action', 'provision', '--why', 'budget', '--who', 'ann')).toContain(
      'is frozen',
    );
    expect(await ask('get', 'freezes')).toMatch(/action:buy +buy .*ann +budget/);
    expect(await ask('unfreeze', 'action:Provision')).toContain('no longer frozen');
    expect(await ask('get', 'freezes')).toBe('No freezes.\n');

    // A machine that failed for good can be hidden; a serving one cannot.
    const refused = await bigfleet(world, 'forget', one!);
    expect(refused).toMatchObject({ code: 1, err: expect.stringContaining('is not Failed') });
    world.cloud().provider.cloud.kill({ machine: one! });
    await world.until('it is known', async () => (await world.machines('?state=failed')).length === 1);
    expect(await ask('forget', one!)).toContain('is hidden');
    expect(await ask('get', 'machines')).not.toContain(`${one} `);
    expect(await ask('get', 'machines', '--forgotten')).toMatch(new RegExp(`${one} +failed`));
    for (const order of ['quarantine', 'retry', 'freeze', 'unfreeze', 'forget'])
      expect(world.logged('order', { order })).not.toEqual([]);
  });
});
