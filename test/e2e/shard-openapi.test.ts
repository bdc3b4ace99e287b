// Answers and events of a real shard at work, checked against the OpenAPI document that it serves.

import { expect, it } from 'vitest';
import { CapacityType } from '../../src/model/index.ts';
import { AnswerCheck, type OpenApi } from '../../testing/support/openapi.ts';
import { offering } from './shard-cloud.ts';
import { need, ofType, PATIENT, World } from './shard-world.ts';

const METAL = offering('bare', {
  capacityType: CapacityType.BareMetal,
  pricePerHour: 0,
  isOwned: true,
  count: 2,
});

/** Every past event that the shard still has. */
async function pastEvents(world: World): Promise<readonly unknown[]> {
  const response = await fetch(`${world.api}/v1/events?since=0`);
  const events: unknown[] = [];
  let text = '';
  for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) {
    text += chunk;
    const pieces = text.split('\n\n');
    text = pieces.pop()!;
    for (const piece of pieces) {
      const data = /^data: (.*)$/m.exec(piece)?.[1];
      if (data !== undefined) events.push(JSON.parse(data));
    }
    // Cycles are not kept, so the first one shows that all past events have been sent.
    if (pieces.some((piece) => piece.startsWith('event: cycle'))) break;
  }
  return events;
}

it('given a shard with served, unmet, frozen and quarantined work, then its OpenAPI document describes every answer', {
  ...PATIENT,
}, async (test) => {
  const world = await World.open(test, {
    clouds: { metal: [METAL], cloud: [offering('small', { count: 3 })] },
  });
  world.join('a', need('a', 12));
  await world.served('a');
  world.join('b', need('b', 8, { requirements: ofType('none-such') }), need('b', 400, { group: 'huge' }));
  await world.post('/v1/freezes', { action: 'buy', cluster: 'b', why: 'a drill' });
  const [served] = await world.machines('?state=configured');
  await world.post(`/v1/machines/${encodeURIComponent(served!.id)}/quarantine`, { why: 'a drill' });
  await world.until('rows of b are not met', async () =>
    (await world.needs('b')).some(({ isMet }) => !isMet),
  );
  await world.cycles(3);

  const document = await world.get<OpenApi>('/v1/openapi.json');
  const check = new AnswerCheck(document);
  const [row] = await world.needs('b');
  const samples: Readonly<Record<string, string>> = {
    '/v1/machines/{id}': `/v1/machines/${encodeURIComponent(served!.id)}`,
    '/v1/clusters/{id}': '/v1/clusters/b',
    '/v1/cycles/{n}': '/v1/cycles/1',
    '/v1/needs/{cluster}/{hash}': `/v1/needs/${row!.id}`,
  };
  const asked: string[] = [];
  for (const [path, { get }] of Object.entries(document.paths)) {
    if (get?.responses['200']?.content?.['application/json'] === undefined) continue;
    asked.push(path);
    expect({ path, problems: check.problems(path, 'get', await world.get(samples[path] ?? path)) }).toEqual({
      path,
      problems: [],
    });
  }
  expect(asked.length).toBeGreaterThan(10);
  const events = await pastEvents(world);
  expect(new Set(events.map((event) => (event as { kind: string }).kind))).toContain('action-ended');
  for (const event of events) expect(check.problemsOf('ShardEvent', event)).toEqual([]);
});
