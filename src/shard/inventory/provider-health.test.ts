import { describe, expect, it } from 'vitest';
import { record } from '../../../testing/support/actuation-scene.ts';
import { Fleet } from '../../fleet/index.ts';
import { type Machine, MachineState } from '../../model/index.ts';
import type { ProviderHealth } from '../views.ts';
import { MachineLedger } from './machine-ledger.ts';
import { ProvidersHealth } from './provider-health.ts';

const { Speculative, Configured, Failed } = MachineState;
const MINUTE_MS = 60_000;

/** A ledger with a health tracker. */
class Scene {
  readonly #ledger = new MachineLedger(new Fleet());
  nowMs = 0;
  readonly health = new ProvidersHealth(this.#ledger, () => this.nowMs);

  constructor() {
    this.#ledger.listen((change) => this.health.moved(change));
  }

  observe(state: MachineState, ids: readonly string[], given: Partial<Machine> = {}): void {
    const cluster = state === Configured ? 'c1' : '';
    for (const id of ids) this.#ledger.observe(record(id, state, { cluster, ...given }), 'p', this.nowMs);
  }

  view(hidden: readonly string[] = []): ProviderHealth | undefined {
    return this.health.views(hidden).get('p');
  }
}

function ids(count: number, from = 0): readonly string[] {
  return Array.from({ length: count }, (_, i) => `m-${from + i}`);
}

describe('ProvidersHealth', () => {
  it('given tens of thousands of failing machines, then all of them are counted', () => {
    const scene = new Scene();
    scene.observe(Configured, ids(42_000));
    scene.observe(Failed, ids(21_000), { lastError: 'no power' });
    expect(scene.view()).toMatchObject({ state: 'failing', machines: 42_000, failing: 21_000 });
  });

  it('given failures with several errors, then a zone has the most frequent class, with its latest text', () => {
    const scene = new Scene();
    scene.observe(Configured, ids(10));
    scene.observe(Failed, ids(2), { lastError: 'quota exceeded' });
    scene.observe(Failed, ids(2, 2), { lastError: 'no power' });
    scene.observe(Failed, ids(1, 4), { lastError: 'the disk died' });
    expect(scene.view()?.zones).toMatchObject([
      { zone: 'za', failing: 5, machines: 10, errorClass: 'host-failed', error: 'the disk died' },
    ]);
    scene.observe(Configured, ids(3, 2));
    expect(scene.view()?.zones).toMatchObject([{ failing: 2, machines: 10, errorClass: 'quota' }]);
  });

  it('given machines hidden by forget, then they do not count', () => {
    const scene = new Scene();
    scene.observe(Configured, ids(10));
    scene.observe(Failed, ids(4), { lastError: 'no power' });
    expect(scene.view(ids(1))).toMatchObject({ failing: 3, machines: 9 });
    expect(scene.view(ids(4))).toBeUndefined();
    expect(scene.view()).toMatchObject({ failing: 4, machines: 10 });
  });

  it('given a machine that left Failed without being Configured again, then it counts for five more minutes', () => {
    const scene = new Scene();
    scene.observe(Failed, ids(3), { lastError: 'no power' });
    scene.nowMs = 60 * MINUTE_MS;
    scene.observe(Speculative, ids(3));
    expect(scene.view()).toMatchObject({ failing: 3 });
    scene.nowMs += 4 * MINUTE_MS;
    expect(scene.view()).toMatchObject({ failing: 3 });
    scene.nowMs += 2 * MINUTE_MS;
    expect(scene.view()).toBeUndefined();
  });

  it('given a clock that is set back, then failures still end after five minutes', () => {
    const scene = new Scene();
    scene.nowMs = 60 * MINUTE_MS;
    scene.observe(Failed, ids(3), { lastError: 'no power' });
    scene.observe(Speculative, ids(3));
    scene.nowMs = 10 * MINUTE_MS;
    expect(scene.view()).toMatchObject({ failing: 3 });
    scene.nowMs = 16 * MINUTE_MS;
    expect(scene.view()).toBeUndefined();
  });

  it('given a machine that fails, then the time of the failure is kept until it leaves Failed', () => {
    const scene = new Scene();
    scene.observe(Configured, ['m']);
    expect(scene.health.failedMs('m')).toBe(0);
    scene.nowMs = 5;
    scene.observe(Failed, ['m'], { lastError: 'no power' });
    scene.nowMs = 9;
    scene.observe(Failed, ['m'], { lastError: 'no power at all' });
    expect(scene.health.failedMs('m')).toBe(5);
    scene.observe(Speculative, ['m']);
    expect(scene.health.failedMs('m')).toBe(0);
  });
});
