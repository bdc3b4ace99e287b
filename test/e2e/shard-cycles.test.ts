// Past cycles of a shard that is a process with a data directory: found by their number, with the plan and the events, and
// decided again, also those of an earlier start.

import { describe, expect, it } from 'vitest';
import type { HistoryPage } from '../../src/shard/index.ts';
import type { CyclePlanView, CycleRedecisionView } from '../../src/shard/views.ts';
import { AnswerCheck, type OpenApi } from '../../testing/support/openapi.ts';
import { offering } from './shard-cloud.ts';
import { need, PATIENT, World } from './shard-world.ts';

async function redecided(world: World, cycle: number, epoch: number): Promise<CycleRedecisionView> {
  const response = await fetch(`${world.api}/v1/cycles/${cycle}/redecide`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ epoch }),
  });
  expect(response.status).toBe(200);
  return (await response.json()) as CycleRedecisionView;
}

/** The cycle that an event of a machine belongs to. */
async function cycleOf(world: World, query: string): Promise<{ cycle: number; epoch: number }> {
  const { items } = await world.get<HistoryPage>(`/v1/history?${query}`);
  const { cycle, epoch } = items.at(-1)!;
  return { cycle: cycle!, epoch: epoch! };
}

describe('past cycles of a shard', PATIENT, () => {
  it('given a cycle that bought machines and one that was frozen, then each has its plan and events, and is decided alike, also after a restart', async (test) => {
    const world = await World.open(test, {
      clouds: { cloud: [offering('small', { count: 4 })] },
      isProcess: true,
    });
    world.join('a', need('a', 8));
    await world.served('a');
    const bought = await cycleOf(world, 'kind=action');
    await world.post('/v1/freezes', { why: 'a drill' });
    world.join('b', need('b', 4));
    await world.until('an action is frozen', async () => (await world.actions()).waiting.length > 0);
    await world.until(
      'the journal has it',
      async () => (await world.get<HistoryPage>('/v1/history?kind=waiting')).items.length > 0,
    );
    const frozen = await cycleOf(world, 'kind=waiting&cluster=b');
    await world.cycles(5);
    const check = new AnswerCheck(await world.get<OpenApi>('/v1/openapi.json'));

    for (const isRestarted of [false, true]) {
      if (isRestarted) await world.restart();
      const path = `/v1/cycles/${bought.cycle}?epoch=${bought.epoch}`;
      const plan = await world.get<CyclePlanView>(path);
      expect(check.problems('/v1/cycles/{n}', 'get', plan)).toEqual([]);
      expect(plan).toMatchObject({ ...bought, notListed: 0 });
      expect(plan.decided.Provision).toBeGreaterThan(0);
      expect(plan.actions.items[0]).toMatchObject({
        ...{ kind: 'Provision', cluster: 'a', why: null, provider: 'cloud', reason: 'phase1.speculative' },
        need: { cluster: 'a' },
      });
      const { items } = await world.get<HistoryPage>(
        `/v1/history?cycle=${bought.cycle}&epoch=${bought.epoch}`,
      );
      expect(items.length).toBeGreaterThan(0);
      expect(new Set(items.map((item) => `${item.cycle} ${item.epoch}`))).toEqual(
        new Set([`${bought.cycle} ${bought.epoch}`]),
      );

      const held = await world.get<CyclePlanView>(`/v1/cycles/${frozen.cycle}?epoch=${frozen.epoch}`);
      expect(held.waiting).toEqual({ frozen: 1 });
      expect(held.actions.items).toMatchObject([{ why: 'frozen', freeze: { id: 'fleet', who: 'test' } }]);

      for (const { cycle, epoch } of [bought, frozen]) {
        const answer = await redecided(world, cycle, epoch);
        expect(check.problems('/v1/cycles/{n}/redecide', 'post', answer)).toEqual([]);
        expect(answer).toMatchObject({ cycle, epoch, isSame: true, onlyRecorded: { total: 0 } });
        expect(answer.actions.total).toBeGreaterThan(0);
      }
    }

    const gone = await fetch(`${world.api}/v1/cycles/987654321`);
    expect(gone.status).toBe(404);
    expect(await gone.text()).toMatch(/does not have cycle 987654321\. It has cycle 1 of epoch \d+ /);
  });

  it('given a shard without a journal, then it says so', async (test) => {
    const world = await World.open(test, {
      clouds: { cloud: [offering('small')] },
      settings: { 'journal.enabled': 'false' },
    });
    const answer = await fetch(`${world.api}/v1/cycles/1`);
    expect(answer.status).toBe(409);
    expect(await answer.text()).toContain('keeps no journal');
  });
});
