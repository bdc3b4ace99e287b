// Pods of a Need that only borrows, from the decision of the shard to the episodes and Events of the operator.

import { describe, expect, it } from 'vitest';
import { MachineState, type Need } from '../../src/model/index.ts';
import type { PendingPod } from '../../src/operator/demand/contract.ts';
import { EpisodeStore } from '../../src/operator/episodes/episode.ts';
import { Episodes } from '../../src/operator/episodes/episodes.ts';
import { PodEvents } from '../../src/operator/verdicts/pod-events.ts';
import { VerdictTable } from '../../src/operator/verdicts/verdict-table.ts';
import { VirtualClock } from '../../src/runtime/virtual-clock.ts';
import { record } from '../../testing/support/actuation-scene.ts';
import { ControllerScene } from '../../testing/support/controller-scene.ts';
import { aNeed, resources } from '../../testing/support/fleets.ts';
import { MemoryCluster } from '../../testing/support/memory-kube.ts';
import {
  noLog,
  RecordedEvents,
  RecordedLink,
  RecordedMetrics,
} from '../../testing/support/operator-parts.ts';

function need(group: string, priority: number): Need {
  return aNeed({
    ...{ cluster: 'c1', priority, group },
    ...{ aggregate: resources({ cpu: 1 }), minUnit: resources({ cpu: 1 }) },
  });
}

const LENDER = need('lender', 9);
const BORROWER = need('', 5);

/** One machine that the first Need claims and the second one borrows from. */
class Scene {
  readonly shard = new ControllerScene().openWith({ drainReport: false, verdicts: true }, 'c1');
  readonly clock = new VirtualClock(1_700_000_000_000);
  readonly verdicts = new VerdictTable(this.clock);
  readonly events = new RecordedEvents();
  readonly episodes: Episodes;
  readonly #podEvents: PodEvents;
  #frames = 0;

  constructor() {
    const { clock, verdicts, events } = this;
    const pod: PendingPod = {
      ...{ namespace: 'a', name: 'p', uid: 'uid-p', unschedulableSinceMs: clock.now() },
      row: { fingerprint: BORROWER.profile.fingerprint, group: BORROWER.group },
      ...{ resources: resources({ cpu: 1 }), remarks: [] },
    };
    const pods = { pendingPods: () => [pod], podsIn: () => 1 };
    this.#podEvents = new PodEvents({ clock, events, pods, verdicts });
    this.episodes = new Episodes({
      ...{ clock, verdicts, pods, events, log: noLog, metrics: new RecordedMetrics() },
      store: new EpisodeStore(new MemoryCluster(clock).client(), 'bigfleet'),
      link: new RecordedLink(),
      emptySinceMs: () => null,
      isCurrent: () => true,
    });
  }

  async pass(minutes: number): Promise<void> {
    for (let i = 0; i < minutes * 6; i++) {
      this.shard.tick(10_000);
      const frames = this.shard.of('need-verdicts').map(({ frame }) => frame);
      for (const frame of frames.slice(this.#frames)) this.verdicts.apply(frame);
      this.#frames = frames.length;
      await this.clock.advance(10_000);
      await this.episodes.tick();
      this.#podEvents.tick();
    }
  }
}

describe('pods of a Need that only borrows', () => {
  it('given a host of the lender that boots slowly, then no episode opens before it has joined', async () => {
    const s = new Scene();
    await s.episodes.restore();
    s.shard.list([record('m', MachineState.Configuring, { cluster: 'c1' })]).demand('c1', LENDER, BORROWER);
    await s.pass(14);
    const verdict = s.verdicts.get({ fingerprint: BORROWER.profile.fingerprint, group: '' })?.verdict;
    expect(verdict).toMatchObject({ satisfied: true, machines: [], sharedMachines: ['m'], notConfigured: 1 });
    expect(s.episodes.extraNeeds()).toEqual([]);
    expect(s.events.reasons()).toEqual(['MachinesJoining']);
    expect(s.events.all.at(-1)?.message).toBe('Waiting for 1 of 1 machine to join the cluster.');

    s.shard.list([record('m', MachineState.Configured, { cluster: 'c1' })]);
    await s.pass(4);
    expect(s.episodes.extraNeeds()).toEqual([]);
    expect(s.events.reasons()).toEqual(['MachinesJoining', 'MachinesReady']);

    await s.pass(3);
    expect(s.episodes.extraNeeds()).toHaveLength(1);
  });
});
