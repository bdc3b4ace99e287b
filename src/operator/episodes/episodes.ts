// Opens and ends episodes of stuck pods (E7 of the economy's definition): pods that have been unschedulable for T although
// their Need has been met with all machines Configured for T get a Need of their own with the same profile. It ends when
// every machine that its own verdict names has been empty for `emptyMs`, or when its row has no pods. Still stuck T after
// the episode was met: a new episode. Only with a shard that sends verdicts; otherwise stuck pods get an Event.

import { add, maximum, type ResourceVector } from '../../model/index.ts';
import { longestBackoffMs } from '../../runtime/backoff.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { ExtraNeed, PendingPod, PodsView, RowKey } from '../demand/contract.ts';
import type { EventSink, OperatorLog, OperatorMetrics } from '../nodes/contract.ts';
import type { ShardLink } from '../session/contract.ts';
import type { EpisodeView } from '../verdicts/contract.ts';
import { podReference } from '../verdicts/pod-events.ts';
import { countOf } from '../verdicts/texts.ts';
import type { VerdictTable } from '../verdicts/verdict-table.ts';
import { type Attempts, type Episode, type EpisodeStore, STUCK_GROUP_PREFIX } from './episode.ts';

export interface EpisodeSettings {
  /** T: how long pods are unschedulable before they count as stuck. */
  readonly stuckMs: number;
  readonly emptyMs: number;
  readonly maxOpen: number;
  /** Machines of all open episodes together. */
  readonly maxMachines: number;
}

export const DEFAULT_EPISODE_SETTINGS: EpisodeSettings = {
  stuckMs: 5 * 60_000,
  emptyMs: 2 * 60_000,
  maxOpen: 20,
  maxMachines: 50,
};

/** A pod that three episodes have not helped waits longer for each further one: no machine may fit it at all. */
const QUICK_ATTEMPTS = 3;
const LONGEST_WAIT_MS = 60 * 60_000;
const MAX_ATTEMPTS_KEPT = 2_000;
/** Pods that get an Event at one tick. */
const MAX_EVENTS = 50;
const MAX_TOLD = 10_000;

export interface EpisodesDeps {
  readonly clock: Clock;
  readonly store: EpisodeStore;
  readonly link: Pick<ShardLink, 'features' | 'isConnected' | 'requestRollup'>;
  readonly pods: Pick<PodsView, 'pendingPods' | 'podsIn'>;
  readonly verdicts: VerdictTable;
  /** Since when the node of a machine has been empty; null if it is not, or not known. */
  readonly emptySinceMs: (machine: string) => number | null;
  /** Whether pods, nodes and CapacityRequests are all listed and current. */
  readonly isCurrent: () => boolean;
  readonly events: EventSink;
  readonly log: OperatorLog;
  readonly metrics: OperatorMetrics;
  readonly settings?: Partial<EpisodeSettings>;
}

export class Episodes {
  readonly #deps: EpisodesDeps;
  readonly #settings: EpisodeSettings;
  readonly #open = new Map<string, Episode>();
  /** Groups of episodes that the ConfigMap has: only these are part of the roll-up. */
  #stored: ReadonlySet<string> = new Set();
  /** By episode without machines: since when no pod of its row is stuck. */
  readonly #idleSince = new Map<string, number>();
  readonly #attempts = new Map<string, Attempts>();
  readonly #told = new Set<string>();
  /** Since when the shard gets the demand as it is; null while a watch or the session is lost. */
  #currentSinceMs: number | null = null;
  #isRestored = false;
  #isDirty = false;
  #isWriting = false;
  #needs: readonly ExtraNeed[] = [];

  constructor(deps: EpisodesDeps) {
    this.#deps = deps;
    this.#settings = { ...DEFAULT_EPISODE_SETTINGS, ...deps.settings };
  }

  /** Whether the episodes of an earlier process are known. No roll-up may be sent before. */
  get isRestored(): boolean {
    return this.#isRestored;
  }

  /** Rejects if the API server does not answer; call it again then. */
  async restore(): Promise<void> {
    const { episodes, attempts } = await this.#deps.store.read();
    for (const episode of episodes.slice(0, this.#settings.maxOpen)) this.#open.set(episode.group, episode);
    for (const [uid, entry] of attempts) this.#attempts.set(uid, entry);
    this.#stored = new Set(this.#open.keys());
    this.#isRestored = true;
    this.#isCurrent();
    this.#publish();
  }

  /** For the roll-up. A shard that does not know verdicts would not know such groups either. */
  extraNeeds(): readonly ExtraNeed[] {
    const { link } = this.#deps;
    return link.isConnected && !link.features.has('verdicts') ? [] : this.#needs;
  }

  *view(): Iterable<EpisodeView> {
    for (const { row, group, openedMs, pods } of this.#open.values()) {
      const machines =
        this.#deps.verdicts.get({ fingerprint: row.fingerprint, group })?.verdict.machines ?? [];
      yield { row, group, since: new Date(openedMs).toISOString(), pods: pods.length, machines };
    }
  }

  /** Call every ten seconds, or more often with a short T. Never rejects. */
  async tick(): Promise<void> {
    const { link, verdicts, log } = this.#deps;
    if (!this.#isRestored || !this.#isCurrent()) return;
    try {
      if (!link.features.has('verdicts')) this.#tellStuck();
      else if (verdicts.isLive) {
        const stuck = this.#stuckPods();
        this.#end(stuck);
        this.#begin(stuck);
      }
      this.#gauges();
      await this.#save();
    } catch (error) {
      log('error', 'episodes.tick-failed', { error });
    }
  }

  #isCurrent(): boolean {
    const { link, isCurrent, clock } = this.#deps;
    if (!isCurrent() || !link.isConnected) this.#currentSinceMs = null;
    else this.#currentSinceMs ??= clock.now();
    return this.#currentSinceMs !== null;
  }

  /** Pods unschedulable for T whose row has been met with all machines Configured for T, by row. */
  #stuckPods(): ReadonlyMap<string, readonly PendingPod[]> {
    const { clock, pods, verdicts } = this.#deps;
    const since = clock.now() - this.#settings.stuckMs;
    const byRow = new Map<string, PendingPod[]>();
    for (const pod of pods.pendingPods()) {
      if (pod.unschedulableSinceMs > since) continue;
      const metSinceMs = verdicts.get(pod.row)?.metSinceMs ?? null;
      if (metSinceMs === null || metSinceMs > since) continue;
      const key = keyOf(pod.row);
      const known = byRow.get(key);
      if (known === undefined) byRow.set(key, [pod]);
      else known.push(pod);
    }
    return byRow;
  }

  #end(stuck: ReadonlyMap<string, readonly PendingPod[]>): void {
    for (const episode of [...this.#open.values()]) {
      const why = this.#whyOver(episode, stuck.has(keyOf(episode.row)));
      if (why === null) continue;
      this.#open.delete(episode.group);
      this.#idleSince.delete(episode.group);
      this.#isDirty = true;
      this.#deps.log('info', 'episode.ended', { group: episode.group, why });
      this.#deps.metrics.count('bigfleet_operator_episodes_total', { outcome: why });
    }
  }

  #whyOver({ row, group }: Episode, isRowStuck: boolean): 'no-pods' | 'empty' | 'never-served' | null {
    const { pods, verdicts, emptySinceMs, clock } = this.#deps;
    if (pods.podsIn(row) === 0) return 'no-pods';
    const own = verdicts.get({ fingerprint: row.fingerprint, group });
    // The shard has not decided on it yet.
    if (own === undefined) return null;
    const { machines } = own.verdict;
    const now = clock.now();
    if (machines.length > 0) {
      this.#idleSince.delete(group);
      const isOver = machines.every((machine) => {
        const since = emptySinceMs(machine);
        return since !== null && now - since >= this.#settings.emptyMs;
      });
      return isOver ? 'empty' : null;
    }
    // No machine could be had. Once its pods run all the same, it must not buy one later.
    if (isRowStuck) {
      this.#idleSince.delete(group);
      return null;
    }
    const idleSince = this.#idleSince.get(group) ?? now;
    this.#idleSince.set(group, idleSince);
    return now - idleSince >= this.#settings.emptyMs ? 'never-served' : null;
  }

  #begin(stuck: ReadonlyMap<string, readonly PendingPod[]>): void {
    const now = this.#deps.clock.now();
    // Pods that came while the last roll-up was repeated were not part of the Need that is met: it asks for them now.
    if (this.#currentSinceMs === null || now - this.#currentSinceMs < this.#settings.stuckMs) return;
    const covered = this.#coveredPods();
    for (const uncovered of stuck.values()) {
      const pods = uncovered.filter(({ uid }) => !covered.has(uid) && this.#mayTry(uid, now));
      // A machine of an episode holds at least one of its pods, so it never has more machines than pods.
      const room = this.#settings.maxMachines - this.#machines();
      if (pods.length === 0) continue;
      if (this.#open.size >= this.#settings.maxOpen || room <= 0) {
        this.#deps.metrics.count('bigfleet_operator_episodes_total', { outcome: 'no-room' });
        continue;
      }
      this.#openEpisode(pods.slice(0, room), now);
    }
  }

  /** Pods of episodes that are not met, or have been met for less than T: the scheduler may still place them. */
  #coveredPods(): ReadonlySet<string> {
    const { verdicts, clock } = this.#deps;
    const since = clock.now() - this.#settings.stuckMs;
    const covered = new Set<string>();
    for (const { row, group, pods } of this.#open.values()) {
      const metSinceMs = verdicts.get({ fingerprint: row.fingerprint, group })?.metSinceMs ?? null;
      if (metSinceMs === null || metSinceMs > since) for (const uid of pods) covered.add(uid);
    }
    return covered;
  }

  #mayTry(uid: string, now: number): boolean {
    const attempts = this.#attempts.get(uid);
    if (attempts === undefined || attempts.count < QUICK_ATTEMPTS) return true;
    const limits = { baseMs: 2 * this.#settings.stuckMs, maxMs: LONGEST_WAIT_MS };
    return now - attempts.lastMs >= longestBackoffMs(limits, attempts.count - QUICK_ATTEMPTS + 1);
  }

  /** Machines of open episodes; of one without a met verdict as many as it has pods, which is the most it can get. */
  #machines(): number {
    let machines = 0;
    for (const { row, group, pods } of this.#open.values()) {
      const own = this.#deps.verdicts.get({ fingerprint: row.fingerprint, group })?.verdict;
      machines += own?.satisfied === true ? own.machineTotal : Math.max(pods.length, own?.machineTotal ?? 0);
    }
    return machines;
  }

  #openEpisode(pods: readonly PendingPod[], now: number): void {
    const { row } = pods[0]!;
    let aggregate: ResourceVector = new Map();
    let minUnit: ResourceVector = new Map();
    const uids: string[] = [];
    for (const pod of pods) {
      const sum = sumOf(aggregate, pod.resources);
      if (sum === null) break;
      aggregate = sum;
      minUnit = maximum(minUnit, pod.resources);
      uids.push(pod.uid);
    }
    if (uids.length === 0) return;
    let second = Math.floor(now / 1000);
    while (this.#open.has(`${STUCK_GROUP_PREFIX}${second}`)) second++;
    const group = `${STUCK_GROUP_PREFIX}${second}`;
    this.#open.set(group, { row, group, openedMs: now, pods: uids, aggregate, minUnit });
    this.#isDirty = true;
    for (const uid of uids) {
      const count = (this.#attempts.get(uid)?.count ?? 0) + 1;
      this.#attempts.delete(uid);
      this.#attempts.set(uid, { count, lastMs: now });
    }
    while (this.#attempts.size > MAX_ATTEMPTS_KEPT)
      this.#attempts.delete(this.#attempts.keys().next().value!);
    this.#deps.log('info', 'episode.opened', { group, fingerprint: row.fingerprint, pods: uids.length });
    this.#deps.metrics.count('bigfleet_operator_episodes_total', { outcome: 'opened' });
    const minutes = Math.round(this.#settings.stuckMs / 60_000);
    for (const pod of pods.slice(0, MAX_EVENTS))
      this.#deps.events.event(
        podReference(pod),
        'Normal',
        'StuckPod',
        `Unschedulable for ${countOf(minutes, 'minute')} although its machines are in the cluster; another machine is asked for (${group}).`,
      );
  }

  /** A shard without verdicts does not say whether the Need is met, so the pods are told and nothing is asked for. */
  #tellStuck(): void {
    const { pods, events, clock } = this.#deps;
    const now = clock.now();
    let left = MAX_EVENTS;
    for (const pod of pods.pendingPods()) {
      if (now - pod.unschedulableSinceMs < this.#settings.stuckMs || this.#told.has(pod.uid)) continue;
      if (left-- === 0) return;
      this.#told.add(pod.uid);
      if (this.#told.size > MAX_TOLD) this.#told.delete(this.#told.keys().next().value!);
      const minutes = Math.round(this.#settings.stuckMs / 60_000);
      const text = `Unschedulable for ${countOf(minutes, 'minute')}. This shard does not say whether its machines are there.`;
      events.event(podReference(pod), 'Warning', 'StuckPod', text);
    }
  }

  /** An episode becomes part of the roll-up once it is stored, so that no restart forgets one that has a machine. */
  async #save(): Promise<void> {
    if (!this.#isDirty || this.#isWriting) return;
    this.#isWriting = true;
    this.#publish();
    const episodes = [...this.#open.values()];
    try {
      this.#isDirty = false;
      await this.#deps.store.write({ episodes, attempts: new Map(this.#attempts) });
      this.#stored = new Set(episodes.map(({ group }) => group));
      this.#publish();
      this.#deps.link.requestRollup();
    } catch (error) {
      this.#isDirty = true;
      this.#deps.metrics.count('bigfleet_operator_episode_write_failures_total');
      this.#deps.log('warn', 'episodes.not-stored', { error });
    } finally {
      this.#isWriting = false;
    }
  }

  #publish(): void {
    this.#needs = [...this.#open.values()]
      .filter(({ group }) => this.#stored.has(group))
      .map(({ row, group, aggregate, minUnit }) => ({
        fingerprint: row.fingerprint,
        group,
        aggregate,
        minUnit,
      }));
  }

  #gauges(): void {
    const { metrics } = this.#deps;
    metrics.gauge('bigfleet_operator_episodes_open', this.#open.size);
    metrics.gauge('bigfleet_operator_episode_machines', this.#open.size === 0 ? 0 : this.#machines());
  }
}

function keyOf({ fingerprint, group }: RowKey): string {
  return `${fingerprint}\n${group}`;
}

/** Null if an amount leaves the exact range. */
function sumOf(a: ResourceVector, b: ResourceVector): ResourceVector | null {
  try {
    return add(a, b);
  } catch {
    return null;
  }
}
