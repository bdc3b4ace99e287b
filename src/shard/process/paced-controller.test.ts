// A controller that is behind: the queue of demand is bounded by the number of clusters.

import { describe, expect, it } from 'vitest';
import { aNeed } from '../../../testing/support/fleets.ts';
import { DeltaSource } from '../../../testing/support/rollup-deltas.ts';
import { Fleet } from '../../fleet/index.ts';
import { type Need, wholeRollup } from '../../model/index.ts';
import type { ControllerEvent } from '../events.ts';
import { PacedController, type SlowController } from './paced-controller.ts';

class BusyController implements SlowController {
  readonly taken: ControllerEvent[] = [];
  isBehind = false;
  #room = Promise.withResolvers<void>();

  post(event: ControllerEvent): void {
    this.taken.push(event);
  }

  room(): Promise<void> {
    return this.isBehind ? this.#room.promise : Promise.resolve();
  }

  async catchUp(): Promise<void> {
    this.isBehind = false;
    this.#room.resolve();
    this.#room = Promise.withResolvers();
    await new Promise((resolve) => setImmediate(resolve));
  }

  get story(): string[] {
    return this.taken.map((event) =>
      event.kind === 'demand' ? `${event.delta.cluster}:${event.delta.origin.length}` : event.kind,
    );
  }
}

const demand = (cluster: string, rows: number): ControllerEvent => ({
  kind: 'demand',
  delta: wholeRollup(
    cluster,
    Array.from({ length: rows }, (_, i) => aNeed({ cluster, group: `${i}` })),
  ),
  rowsSetAside: 0,
});

describe('a controller that is behind', () => {
  it('given a controller that is not behind, then every event is posted at once', () => {
    const controller = new BusyController();
    const paced = new PacedController(controller);
    for (const event of [demand('a', 1), demand('b', 1), demand('a', 2)]) paced.post(event);
    expect(controller.story).toEqual(['a:1', 'b:1', 'a:2']);
    expect(paced.waiting).toBe(0);
  });

  it('given many changes of demand, then it receives only the newest of each cluster', async () => {
    const controller = new BusyController();
    const paced = new PacedController(controller);
    controller.isBehind = true;
    for (let i = 1; i <= 1000; i++) for (const cluster of ['a', 'b', 'c']) paced.post(demand(cluster, i));
    expect([paced.waiting, controller.taken.length, paced.coalesced]).toEqual([3, 0, 2997]);
    await controller.catchUp();
    expect(controller.story).toEqual(['a:1000', 'b:1000', 'c:1000']);
    paced.post(demand('a', 7));
    expect(controller.story.at(-1)).toBe('a:7');
  });

  it('gets the roll-ups of a cluster that waited as one, which applies to the last one it has', async () => {
    const controller = new BusyController();
    const paced = new PacedController(controller);
    const source = new DeltaSource('a');
    const needs = [1, 2, 3, 4].map((priority) => aNeed({ cluster: 'a', priority }));
    const post = (rowsSetAside: number, ...rows: readonly Need[]): void =>
      paced.post({ kind: 'demand', delta: source.next(rows), rowsSetAside });
    post(0, ...needs.slice(0, 2));
    controller.isBehind = true;
    post(1, ...needs.slice(0, 3));
    post(2, ...needs.slice(1));
    await controller.catchUp();
    const [, last] = controller.taken;
    expect(last).toMatchObject({ rowsSetAside: 2, delta: { base: 1, version: 3 } });
    const fleet = new Fleet();
    for (const event of controller.taken) if (event.kind === 'demand') fleet.demand.apply(event.delta);
    expect(fleet.demand.needsOf(fleet.clusters.find('a'))).toEqual(needs.slice(1));
  });

  it('given other events, then it receives them at once', () => {
    const controller = new BusyController();
    const paced = new PacedController(controller);
    controller.isBehind = true;
    paced.post({ kind: 'reclaim-acked', instruction: 'i' });
    expect(controller.story).toEqual(['reclaim-acked']);
  });

  it('given that it falls behind again while it catches up, then the rest stays queued', async () => {
    const controller = new BusyController();
    const paced = new PacedController(controller);
    controller.isBehind = true;
    for (const cluster of ['a', 'b', 'c']) paced.post(demand(cluster, 1));
    const post = controller.post.bind(controller);
    controller.post = (event) => {
      post(event);
      controller.isBehind = true;
    };
    await controller.catchUp();
    expect([controller.story, paced.waiting]).toEqual([['a:1'], 2]);
    paced.post(demand('a', 2));
    await controller.catchUp();
    await controller.catchUp();
    expect(controller.story).toEqual(['a:1', 'b:1', 'c:1']);
    await controller.catchUp();
    expect(controller.story.at(-1)).toBe('a:2');
  });
});
