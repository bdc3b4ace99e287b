import { afterEach, describe, expect, it } from 'vitest';
import { FakeShard } from '../../../testing/support/fake-shard.ts';
import { CostReport, CostSeries, MachineCounts, Remedies } from '../views/costs.ts';
import { serveApi } from './serve.ts';

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const clean of cleanups.splice(0).reverse()) await clean();
});

async function served() {
  const shard = new FakeShard();
  const server = await serveApi(shard, '127.0.0.1:0', { tls: null });
  cleanups.push(() => server.close());
  return { shard, get: (path: string, headers = {}) => fetch(`${server.url}${path}`, { headers }) };
}

describe('cost over HTTP', () => {
  it.each([
    ['/v1/cost?by=cluster', CostReport],
    ['/v1/cost/series?by=zone&since=0', CostSeries],
    ['/v1/cost/remedies', Remedies],
    ['/v1/machine-counts?by=zone', MachineCounts],
  ] as const)('given %s, then the answer is what is documented', async (path, schema) => {
    const response = await (await served()).get(path);
    expect(response.status).toBe(200);
    expect(schema.parse(await response.json())).toBeDefined();
  });

  it('given an aspect and a page, then they reach the shard; by default it is the capacity type', async () => {
    const { shard, get } = await served();
    await get('/v1/cost?by=cluster&limit=1');
    await get('/v1/cost');
    expect(shard.asked).toMatchObject([
      { name: 'cost', ask: { by: 'cluster', limit: 1 } },
      { name: 'cost', ask: { by: 'capacity-type' } },
    ]);
  });

  it('given a page with more behind it, then its cursor leads there', async () => {
    const { get } = await served();
    const first = (await (await get('/v1/cost?by=cluster&limit=1')).json()) as CostReport;
    expect(first.groups.items.map(({ name }) => name)).toEqual(['web']);
    const next = `/v1/cost?by=cluster&limit=1&after=${first.groups.next}`;
    const second = (await (await get(next)).json()) as CostReport;
    expect(second.groups).toMatchObject({ items: [{ name: '' }], next: null });
  });

  it('given an order by name, then the shard is asked for it, and a cursor of the other order is refused', async () => {
    const { shard, get } = await served();
    const first = (await (await get('/v1/cost?by=cluster&limit=1')).json()) as CostReport;
    const refused = await get(`/v1/cost?by=cluster&order=name&after=${first.groups.next}`);
    expect(refused.status).toBe(400);
    await get('/v1/cost?by=cluster&order=name');
    expect(shard.asked.at(-1)).toMatchObject({ name: 'cost', ask: { by: 'cluster', order: 'name' } });
  });

  it.each([
    ['/v1/cost?by=cluster&format=csv', {}],
    ['/v1/cost?by=cluster', { accept: 'text/csv' }],
  ])('given %s with %j, then the groups come as CSV', async (path, headers) => {
    const response = await (await served()).get(path, headers);
    expect(response.headers.get('content-type')).toBe('text/csv; charset=utf-8');
    const [titles, first] = (await response.text()).split('\r\n');
    expect(titles).toBe('name,machines,perHour,serving,onHold,joining,idle,draining,deleting,failed');
    expect(first).toBe('web,2,12.004,12.004,0,0,0,0,0,0');
  });

  it('given a name that a spreadsheet would run, with a comma and quotes, then the CSV has it as a text', async () => {
    const text = await (await (await served()).get('/v1/cost/series?by=cluster&format=csv')).text();
    expect(text.split('\r\n')[0]).toBe(`time,perHour,web,"'=other, ""x"""`);
  });

  it('given an unknown aspect, then the refusal names them', async () => {
    const response = await (await served()).get('/v1/cost?by=colour');
    expect(response.status).toBe(400);
    expect(await response.text()).toContain(
      'cluster, capacity-type, priority, hardware, zone, instance-type',
    );
  });
});
