// Pods with several alternatives: which one they ask for, by price, and when they move on to the next one.

import { beforeEach, describe, expect, it } from 'vitest';
import { DemandScene, JOIN_MS, PATIENCE_MS, pod, ZONE } from '../../../testing/support/demand-scene.ts';
import { requirementsToWire } from '../../wire/index.ts';

let scene: DemandScene;
let clock: DemandScene['clock'];
let demand: DemandScene['demand'];
const list: DemandScene['list'] = (kind, ...objects) => scene.list(kind, ...objects);
const built: DemandScene['built'] = (...given) => scene.built(...given);

beforeEach(() => {
  scene = new DemandScene().listAll();
  ({ clock, demand } = scene);
});

describe('alternatives of node affinity', () => {
  const term = (key: string, value: string) => ({
    matchExpressions: [{ key, operator: 'In', values: [value] }],
  });
  const nodeSelectorTerms = [term('rack', 'r1'), term('pool', 'spot')];
  const affinity = {
    nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } },
  };
  const keys = () => built().needs.map(({ requirements }) => requirements[0]?.key);
  const published = (
    pairs: Readonly<Record<string, string>>,
    availableCount: number,
    costPerHour: number,
  ) => {
    const requirements = requirementsToWire(
      Object.entries(pairs).map(([key, value]) => ({ key, operator: 1, values: [value] })),
    );
    demand.availableCapacity({ requirements, availableCount, costPerHour });
  };
  let cycle = 0n;
  /** What the shard says about the row that pods ask for now. */
  const says = (satisfied: boolean, full = false): void => {
    const [{ row } = { row: { fingerprint: '', group: '' } }] = [...demand.pendingPods()];
    const { fingerprint: profileFingerprint, group } = row;
    demand.needVerdicts({
      cycle: ++cycle,
      full,
      verdicts: [{ profileFingerprint, group, satisfied, removed: false }],
    });
  };
  /** Advances to a moment before the patience is over, and over it. */
  const beforeAndAfter = async (patienceMs: number) => {
    await clock.advance(patienceMs - 1);
    const before = keys();
    await clock.advance(1);
    return [before, keys()];
  };

  it('given a row that stays short, then its pods ask for the next one in turn', async () => {
    demand.connected(true);
    list('pods', pod('a', { affinity }));
    expect(keys()).toEqual(['rack']);
    says(false, true);
    expect(await beforeAndAfter(PATIENCE_MS)).toEqual([['rack'], ['pool']]);
    says(false);
    expect(await beforeAndAfter(PATIENCE_MS)).toEqual([['pool'], ['rack']]);
  });

  it('given a row that becomes short after a good while, then its patience begins then, and again after each good moment', async () => {
    demand.connected(true);
    list('pods', pod('a', { affinity }));
    keys();
    says(true, true);
    await clock.advance(10 * PATIENCE_MS);
    says(false);
    expect(keys()).toEqual(['rack']);
    await clock.advance(PATIENCE_MS - 1);
    says(true);
    says(false);
    // Said again without a change.
    await clock.advance(PATIENCE_MS / 2);
    says(false);
    says(false, true);
    expect(await beforeAndAfter(PATIENCE_MS / 2)).toEqual([['rack'], ['pool']]);
  });

  it('given a session that is lost, then nothing moves before the shard has called the row short for all the patience', async () => {
    demand.connected(true);
    list('pods', pod('a', { affinity }));
    keys();
    says(true, true);
    await clock.advance(10 * PATIENCE_MS);
    says(false);
    await clock.advance(PATIENCE_MS / 2);
    demand.disconnected();
    expect(keys()).toEqual(['rack']);
    await clock.advance(10 * PATIENCE_MS);
    expect(keys()).toEqual(['rack']);
    demand.connected(true);
    // The first roll-up of a session is built before its verdicts arrive.
    expect(keys()).toEqual(['rack']);
    says(false, true);
    expect(await beforeAndAfter(PATIENCE_MS)).toEqual([['rack'], ['pool']]);
  });

  it('given a row that was short before pods chose it, then they wait for the whole patience', async () => {
    demand.connected(true);
    list('pods', pod('plain', { nodeSelector: { rack: 'r1' } }));
    keys();
    says(false, true);
    await clock.advance(10 * PATIENCE_MS);
    list('pods', pod('a', { affinity }));
    expect(keys()).toEqual(['rack']);
    expect(await beforeAndAfter(PATIENCE_MS)).toEqual([['rack'], ['pool']]);
  });

  it('given a shard without verdicts, then pods wait for twice the time that a machine may take to join', async () => {
    demand.connected(false);
    const since = (ms: number) => {
      const waits = pod('a', { affinity });
      const condition = { ...waits.status!.conditions![0]!, lastTransitionTime: new Date(ms).toISOString() };
      return { ...waits, status: { conditions: [condition] } };
    };
    list('pods', since(clock.now()));
    expect(keys()).toEqual(['rack']);
    await clock.advance(2 * JOIN_MS - 1000);
    // Pods that come and go are served; only one that waits all the time says that the row is short.
    list('pods', since(clock.now()));
    expect(await beforeAndAfter(2 * JOIN_MS)).toEqual([['rack'], ['pool']]);
    // Machines do not join without a session, so a new one begins from zero.
    await clock.advance(JOIN_MS);
    demand.disconnected();
    demand.connected(false);
    expect(await beforeAndAfter(2 * JOIN_MS)).toEqual([['pool'], ['rack']]);
  });

  it('given published capacity, then the cheapest that is available is first', () => {
    published({ rack: 'r1' }, 3, 2);
    published({ pool: 'spot' }, 3, 0.5);
    list('pods', pod('a', { affinity }));
    expect(keys()).toEqual(['pool']);
  });

  it('given alternatives without a price of their own, then that of the cheapest capacity which does not contradict them', () => {
    const zoned = (rack: string, zone: string) => ({
      matchExpressions: [
        { key: 'rack', operator: 'In', values: [rack] },
        { key: ZONE, operator: 'In', values: [zone] },
      ],
    });
    const terms = [zoned('r1', 'a'), zoned('r2', 'b')];
    const nodeAffinity = { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: terms } };
    published({ [ZONE]: 'a' }, 3, 2);
    published({ [ZONE]: 'b', size: '8' }, 3, 1);
    published({ [ZONE]: 'a', size: '2' }, 0, 0.1);
    published({ [ZONE]: 'c' }, 9, 0.01);
    list('pods', pod('a', { affinity: { nodeAffinity } }));
    expect(built().needs[0]?.requirements.flatMap(({ values }) => values)).toContain('b');
  });

  it('given prices that change, then the next choice is made with the new ones; what ran out is tried again an hour later', async () => {
    const third = { nodeSelectorTerms: [...nodeSelectorTerms, term('disk', 'fast')] };
    const nodeAffinity = { requiredDuringSchedulingIgnoredDuringExecution: third };
    const waiting = pod('a', { affinity: { nodeAffinity } });
    demand.connected(true);
    published({ rack: 'r1' }, 0, 1);
    published({ pool: 'spot' }, 3, 1);
    published({ disk: 'fast' }, 3, 2);
    list('pods', waiting);
    expect(keys()).toEqual(['pool']);
    says(false, true);
    published({ rack: 'r1' }, 3, 1);
    await clock.advance(PATIENCE_MS);
    expect(keys()).toEqual(['rack']);
    published({ rack: 'r1' }, 0, 5);
    published({ pool: 'spot' }, 0, 1);
    published({ disk: 'fast' }, 0, 2);
    await clock.advance(60 * 60_000);
    published({ disk: 'fast' }, 0, 2);
    published({ pool: 'spot' }, 0, 1);
    list('pods');
    keys();
    list('pods', waiting);
    expect(keys()).toEqual(['rack']);
  });

  it('given a row that the shard has satisfied, then pods wait for its machines', async () => {
    demand.connected(true);
    list('pods', pod('a', { affinity }));
    keys();
    says(true, true);
    await clock.advance(10 * PATIENCE_MS);
    expect(keys()).toEqual(['rack']);
  });

  it('given pods that run, then they count for the alternative that their node meets', () => {
    demand.consumers.nodes.set({ metadata: { name: 'node-1', labels: { pool: 'spot' } } });
    list('pods', pod('a', { affinity, nodeName: 'node-1' }));
    expect(keys()).toEqual(['pool']);
    demand.consumers.nodes.remove({ metadata: { name: 'node-1' } });
    expect(keys()).toEqual(['rack']);
  });
});
