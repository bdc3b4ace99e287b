// Explanations of Needs of a large fleet: with what a replica found, as if the controller had found it.

import { describe, expect, it, vi } from 'vitest';
import { NEED, record } from '../../../testing/support/actuation-scene.ts';
import { ControllerScene } from '../../../testing/support/controller-scene.ts';
import { aNeed, resources, same, stampOf } from '../../../testing/support/fleets.ts';
import { BigFleetError, keyOf, MachineState, type Need, ZONE_KEY } from '../../model/index.ts';
import type { ControllerPort } from '../events.ts';
import type { NeedFindings } from '../planning/queries/need-findings.ts';
import { needId } from '../planning/queries/need-names.ts';
import type { NeedExplanation } from '../views.ts';
import { FleetReplica } from './fleet-replica.ts';
import { explainedNeed } from './need-explainer.ts';

const { Configured, Creating, Failed, Idle, Speculative } = MachineState;
const LARGE = { largeFleet: { needs: 0, machines: 0 } };
const UNMET = aNeed({ cluster: 'c1', priority: 90, aggregate: resources({ cpu: 400 }) });
const LOW = aNeed({ cluster: 'c2', priority: 1 });
const GANG = aNeed({
  ...{ cluster: 'c1', priority: 100, group: 'gang', requirements: [same(ZONE_KEY)] },
  ...{ aggregate: resources({ cpu: 8 }), minUnit: resources({ cpu: 2 }) },
});

/** Met and unmet Needs, a gang, and machines that have failed, are blocked, in use, bought, and too small. */
function scene(options = LARGE): ControllerScene {
  const scene = new ControllerScene(options)
    .list([
      record('f1', Failed, { lastError: 'no power', zone: 'zb' }),
      record('f2', Failed, { zone: 'zb' }),
      record('f3', Failed, { lastError: 'no host', zone: 'za' }),
      ...['q1', 'q2', 'q3'].map((id) => record(id, Idle)),
      record('x', Configured, { cluster: 'c2', stamp: stampOf(LOW) }),
      ...['a1', 'a2', 'b1'].map((id) => record(id, Idle, { zone: id.startsWith('a') ? 'za' : 'zb' })),
      record('s', Speculative, { zone: 'za' }),
      record('tiny', Idle, { resources: resources({ cpu: 0.5 }) }),
    ])
    .open('c1', 'c2');
  for (const machine of ['q1', 'q2', 'q3'])
    scene.order({ kind: 'quarantine', machine, who: 'ada', why: 'it smokes' });
  scene.demand('c2', LOW).freeze('c2').demand('c1', NEED, GANG, UNMET).tick();
  return scene.accept('create', Creating).tick();
}

/** Asks for copies of all values, as between threads. */
function portOf({ controller }: ControllerScene): Pick<ControllerPort, 'ask'> {
  return {
    ask: async (name, ask) => structuredClone(controller.ask(name, structuredClone(ask))),
  };
}

/** A replica that is up to date whenever it is asked. */
function replicaOf({ controller }: ControllerScene) {
  const replica = new FleetReplica();
  let isFirst = true;
  return vi.fn(async (need: string): Promise<NeedFindings | null> => {
    replica.apply(controller.ask('replica', { isFirst })!);
    isFirst = false;
    return structuredClone(replica.findings(need, () => {}));
  });
}

function inline({ controller }: ControllerScene, need: Need): NeedExplanation {
  return controller.ask('explain', { need: needId(keyOf(need)) })!;
}

describe('the explanation of a Need of a large fleet', () => {
  it.each([
    ['met', NEED, true],
    ['a gang', GANG, true],
    ['unmet', UNMET, false],
    ['in a frozen cluster', LOW, true],
  ] as const)(
    'given one that is %s, then it is what the controller alone would answer',
    async (_, need, isMet) => {
      // Given
      const given = scene();
      const findings = replicaOf(given);
      // When
      const story = await explainedNeed(portOf(given), findings, needId(keyOf(need)));
      // Then
      expect(story).toEqual(inline(given, need));
      expect(story?.need.isMet).toBe(isMet);
      expect(findings).toHaveBeenCalledTimes(1);
    },
  );

  it('has what only the controller knows of the machines that the replica found', async () => {
    // Given
    const given = scene();
    // When
    const story = await explainedNeed(portOf(given), replicaOf(given), needId(keyOf(UNMET)));
    // Then
    const sentences = story!.obstacles.map(({ sentence }) => sentence);
    expect(sentences).toContain('3 have failed: 2 in zb, 1 in za; the last one: no power.');
    expect(sentences).toContain('3 are quarantined by ada: it smokes.');
    expect(sentences).toContain('1 serves cluster c2, which is frozen by ada: a test.');
  });

  it('given more blocked machines than ids, then the others are counted', async () => {
    // Given
    const given = scene();
    const need = needId(keyOf(UNMET));
    const { ids, ...found } = (await replicaOf(given)(need))!;
    const isQuarantined = (id: string): boolean => id.startsWith('q');
    const blocked = ids.blocked.filter((id) => !isQuarantined(id) || id === 'q1');
    // When
    const story = await explainedNeed(
      portOf(given),
      async () => ({ ...found, ids: { ...ids, blocked } }),
      need,
    );
    // Then
    const sentences = story!.obstacles.map(({ sentence }) => sentence);
    expect(sentences).toContain('1 is quarantined by ada: it smokes.');
    expect(sentences).toContain('2 are blocked: there are too many to look up the reason of each.');
  });

  it('given that the row ahead of it on the replica is gone, then it is not named', async () => {
    // Given
    const given = scene();
    const need = needId(keyOf(NEED));
    const found = (await replicaOf(given)(need))!;
    const blocker = keyOf(aNeed({ cluster: 'c1', group: 'gone' }));
    const stale = { ...found, explanation: { ...found.explanation, blocker } };
    // When
    const story = await explainedNeed(portOf(given), async () => stale, need);
    // Then
    expect(story!.blocker).toBeNull();
  });

  it('given that the Need is unmet now, then verdict and obstacles are those of the decision on the replica', async () => {
    // Given
    const given = scene();
    const findings = replicaOf(given);
    const before = (await findings(needId(keyOf(NEED))))!;
    const larger = { ...NEED, aggregate: resources({ cpu: 4_000 }) };
    given.demand('c1', larger, GANG, UNMET).tick();
    expect(inline(given, NEED).need.isMet).toBe(false);
    // When
    const story = await explainedNeed(portOf(given), async () => before, needId(keyOf(NEED)));
    // Then
    expect(story).toMatchObject({ need: { isMet: true }, claimed: before.verdict.claimed });
    expect(story!.sentence).toContain('met');
  });

  it('given that it is not on the replica any more, then there is none', async () => {
    // Given
    const given = scene();
    // When
    const story = await explainedNeed(portOf(given), async () => null, needId(keyOf(UNMET)));
    // Then
    expect(story).toBeNull();
  });

  it('given a Need that is gone, then there is none, and the replica is not asked', async () => {
    // Given
    const given = scene();
    given.demand('c1', NEED).tick();
    const findings = replicaOf(given);
    // When
    const story = await explainedNeed(portOf(given), findings, needId(keyOf(UNMET)));
    // Then
    expect(story).toBeNull();
    expect(findings).not.toHaveBeenCalled();
  });

  it('given a Need that is withdrawn while the replica is asked, then it is explained as it was decided', async () => {
    // Given
    const given = scene();
    const findings = replicaOf(given);
    const whileAsked = async (need: string): Promise<NeedFindings | null> => {
      const found = await findings(need);
      given.demand('c1', NEED).tick();
      return found;
    };
    const before = inline(given, UNMET);
    // When
    const story = await explainedNeed(portOf(given), whileAsked, needId(keyOf(UNMET)));
    // Then
    expect(story).toMatchObject({ sentence: before.sentence, need: { isMet: false } });
  });

  it('given a replica that is busy, then the caller is told so', async () => {
    // Given
    const given = scene();
    const findings = async () => {
      throw new BigFleetError('BF_WHATIF_BUSY', 'The fleet is being copied.');
    };
    // When
    const story = explainedNeed(portOf(given), findings, needId(keyOf(UNMET)));
    // Then
    await expect(story).rejects.toMatchObject({ code: 'BF_WHATIF_BUSY' });
  });
});

describe('the explanation of a Need of a small fleet', () => {
  it.each([
    ['fewer Needs and machines than a large one', { needs: 5, machines: 13 }, 0],
    ['as many Needs', { needs: 4, machines: 13 }, 1],
    ['as many machines', { needs: 5, machines: 12 }, 1],
  ])('given %s, then the replica is asked %#', async (_, largeFleet, times) => {
    // Given
    const given = scene({ largeFleet });
    const findings = replicaOf(given);
    // When
    const story = await explainedNeed(portOf(given), findings, needId(keyOf(UNMET)));
    // Then
    expect(story).toEqual(inline(given, UNMET));
    expect(findings).toHaveBeenCalledTimes(times);
  });
});
