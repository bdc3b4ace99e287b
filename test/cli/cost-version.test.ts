// `bigfleet cost`, `version` and `drain` against a served shard.

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { costCommand } from '../../src/cli/remote/cost.ts';
import { drainCommand } from '../../src/cli/remote/machine-orders.ts';
import { versionCommand } from '../../src/cli/version.ts';
import { packageVersion } from '../../src/runtime/package-version.ts';
import { aCost } from '../../testing/support/costs.ts';
import { output, type Served, servedShard } from './served.ts';

let served: Served;
beforeEach(async () => {
  served = await servedShard();
});
afterEach(() => served.close());

describe('bigfleet cost', () => {
  /** A server that knows `/v1/cost` alone, with two pages of groups. */
  async function withCost(run: (url: string) => Promise<void>): Promise<void> {
    const groups = [
      { name: 'spot', machines: 2, cost: aCost({ serving: 3, idle: 1 }) },
      { name: 'on-demand', machines: 1, cost: aCost({ serving: 2 }) },
    ];
    const server = createServer((request, response) => {
      const query = new URL(request.url!, 'http://x').searchParams;
      const at = query.get('after') === null ? 0 : 1;
      const page = { items: [groups[at]], total: 2, next: at === 0 ? 'more' : null };
      const spot = { machines: 2, savesPerHour: 4, netSavesPerHour: 3 };
      const extras = { stranded: { perHour: 0.5 }, spot, forecast: { wholeMonth: 1234.5 } };
      const answer = { by: query.get('by'), cost: aCost({ serving: 5, idle: 1 }), ownedCost: null };
      response.end(JSON.stringify({ ...answer, ...extras, groups: page }));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    try {
      await run(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    } finally {
      server.close();
    }
  }

  it('given a shard with the route, then totals and all groups are printed', async () => {
    await withCost(async (url) => {
      const text = await output(costCommand, ['--by', 'capacity-type', '--shard', url]);
      expect(text).toMatch(/cost +\$6\.00\/h: serving \$5\.00/);
      expect(text).toMatch(/stranded +\$0\.50\/h/);
      expect(text).toMatch(/spot +2 machines save \$4\.00\/h, \$3\.00\/h net of interruptions/);
      expect(text).toMatch(/this month +\$1,234\.50/);
      expect(text).toMatch(/spot +2 +\$4\.00 +\$3\.00 +\$1\.00\non-demand +1 +\$2\.00 +\$2\.00\n$/);
      const json = JSON.parse(await output(costCommand, ['-o', 'json', '--shard', url])) as object;
      expect(json).toMatchObject({
        by: 'cluster',
        groups: { items: [{ name: 'spot' }, { name: 'on-demand' }] },
      });
      const csv = await output(costCommand, ['-o', 'csv', '--no-headers', '--shard', url]);
      expect(csv.split('\n')[1]).toBe('on-demand,1,$2.00,$2.00,,,,,,');
    });
  });

  it('given more groups than any page has, then the CSV has each exactly once, and the total is of all', async () => {
    const names = Array.from({ length: 12_001 }, (_, i) => `c${100_000 + i}`);
    const report = served.shard.answers.cost({ by: 'cluster', limit: 1 });
    served.shard.answers.cost = (ask) => {
      const rest = names.filter((name) => ask.after === undefined || name > ask.after);
      const items = rest.slice(0, 3000).map((name) => ({ name, machines: 1, cost: aCost({ serving: 1 }) }));
      const next = rest.length > 3000 ? items.at(-1)!.name : null;
      return { ...report, groups: { items, total: names.length, next } };
    };
    const csv = await served.run(costCommand, ['-o', 'csv', '--no-headers']);
    const rows = csv.trimEnd().split('\n');
    expect(rows.map((row) => row.slice(0, names[0]!.length)).toSorted()).toEqual(names);
  });

  it('given a shard of an earlier version, then clusters are read, and other groups are refused', async () => {
    const answer = async (path: string): Promise<readonly [number, string]> => {
      const message = 'There is nothing at /v1/cost; docs/reference/api.md lists what there is.';
      if (path.startsWith('/v1/cost'))
        return [404, JSON.stringify({ error: { code: 'not_found', message } })];
      return [200, await (await fetch(`${served.url}${path}`)).text()];
    };
    const server = createServer((request, response) => {
      void answer(request.url!).then(([status, text]) => response.writeHead(status).end(text));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const old = ['--shard', `http://127.0.0.1:${(server.address() as AddressInfo).port}`];
    try {
      expect(await output(costCommand, old)).toMatch(/ml +3 +\$12,345\.67/);
      await expect(output(costCommand, ['--by', 'zone', ...old])).rejects.toThrow('by cluster only');
    } finally {
      server.close();
    }
  });
});

describe('bigfleet version', () => {
  it('given a shard, then both versions are printed', async () => {
    const json = JSON.parse(await served.run(versionCommand, ['-o', 'json'])) as object;
    expect(json).toEqual({
      client: { version: packageVersion(), node: process.versions.node },
      server: { url: served.url, shard: 'shard-0', version: packageVersion(), node: process.versions.node },
    });
    expect(await served.run(versionCommand, [])).toMatch(
      /^client {2}\d.*\nserver {2}\d.* shard shard-0 at http/,
    );
  });

  it('given none, then the version of the client is printed all the same', async () => {
    const text = await output(versionCommand, ['--shard', 'http://127.0.0.1:1']);
    expect(text).toMatch(/^client {2}\d.*\nserver {2}No shard at http:\/\/127.0.0.1:1/);
  });
});

describe('bigfleet drain', () => {
  it('given a reason, then the order has it; with --cancel it is taken back', async () => {
    expect(await served.run(drainCommand, ['gpu/7', '--why', 'disk errors', '--who', 'ann'])).toBe('Done.\n');
    await served.run(drainCommand, ['gpu/7', '--cancel', '--who', 'ann']);
    expect(served.shard.orders).toEqual([
      { kind: 'drain', machine: 'gpu/7', who: 'ann', why: 'disk errors' },
      { kind: 'undrain', machine: 'gpu/7', who: 'ann' },
    ]);
  });

  it('given no reason, then it asks for one; given a refusal, then it says why', async () => {
    await expect(served.run(drainCommand, ['m-1'])).rejects.toThrow('Give the reason with --why');
    served.shard.result = { isDone: false, message: 'Machine m-2 is not Configured.' };
    await expect(served.run(drainCommand, ['m-2', '--why', 'x'])).rejects.toThrow('is not Configured');
  });
});
