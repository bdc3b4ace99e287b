// The controller's side of the journal: posts inputs and outcomes of cycles, and the events in between, as plain bytes
// and records. The cost of a cycle is proportional to what changed, plus one slice of unchanged state until the
// segment is whole. So no cycle waits for a full snapshot, and no second copy of the ledger is kept. Made by
// planning/controller.ts and called in each cycle.

import type { Decision } from '../../engine/index.ts';
import type { AppliedChanges, Fleet } from '../../fleet/index.ts';
import { type Action, type DecisionOptions, formatResources } from '../../model/index.ts';
import type { Clock } from '../../runtime/clock.ts';
import { needRef } from '../planning/queries/need-names.ts';
import type { UnmetChange } from '../planning/shortfalls.ts';
import type { CycleView, LossView, SeriesPoint, ShardEvent } from '../views.ts';
import { digestOf, MAX_DIGESTED_CLAIMS } from './digest.ts';
import type { Begin, HeldBackAction, JournalEvent, JournalLimits, JournalSink } from './format.ts';
import { InputPacker } from './packing.ts';

export interface RecorderParts {
  readonly sink: JournalSink;
  readonly fleet: Fleet;
  readonly clock: Clock;
  readonly epoch: bigint;
  readonly limits: JournalLimits;
  /** Notified when cycles are skipped. */
  readonly publish: (event: ShardEvent) => void;
  /** Unchanged machines, and rows, written per cycle; `SLICE` by default. */
  readonly slice?: number;
}

/** Machines, and rows, that take about 1 ms to write. */
const SLICE = 4096;
/** Segments that fit into the file if the changes outweigh the unchanged state; the oldest one is dropped as a whole. */
const SEGMENTS = 8;
/** Bounds how far before its first cycle a replay must begin reading when little changes. */
const LONGEST_SEGMENT_MS = 6 * 3_600_000;
/** Most bytes posted and not yet written. Beyond it cycles are skipped, until half of it has been written. */
const MAX_BEHIND_BYTES = 256 * 2 ** 20;
/** Longest time that events are batched. They are posted with the next cycle at the latest. */
const EVENTS_WAIT_MS = 100;
/** Most events written per batch: a cold fleet may have as many as it has rows. */
const MAX_EVENTS = 20_000;

/** Log lines that are not written, because an action or loss event has the same content in more detail. */
const WRITTEN_AS_EVENTS: ReadonlySet<string> = new Set([
  ...['action-failed', 'machine-lost', 'machines-lost', 'zone-dark'],
]);

export class Recorder {
  readonly #parts: RecorderParts;
  readonly #segmentBytes: number;
  readonly #segmentMs: number;
  #segment: Segment | null = null;
  /** Cycles are being skipped. */
  #hasGap = false;
  #isWritten = false;
  #events: JournalEvent[] = [];
  #left = 0;
  #cancelFlush: (() => void) | null = null;
  /** By machine: kind and reason of the action that was held back in the last cycle. */
  #waiting = new Map<string, string>();

  constructor(parts: RecorderParts) {
    this.#parts = parts;
    this.#segmentBytes = parts.limits.maxBytes / SEGMENTS;
    this.#segmentMs = Math.min(parts.limits.maxAgeMs / SEGMENTS, LONGEST_SEGMENT_MS);
  }

  /** Posts the changes of a commit and, if a decision follows, its options. Called before the decision. */
  input(applied: AppliedChanges, nowMs: number, options: DecisionOptions | null): void {
    this.#isWritten = false;
    if (this.#isBehind()) return;
    const begin = this.#begin(nowMs);
    const segment = this.#segment!;
    segment.packer.note(applied.rollUps.values());
    const wasWhole = segment.isWhole;
    const included = wasWhole ? applied : segment.withSlice(applied);
    const oddities = applied.sightings.filter(({ meaning }) => !PLAIN.has(meaning));
    if (begin === null && wasWhole && options === null && isNothing(applied)) return;
    const input = segment.packer.pack({
      ...{ slots: included.slots, clusters: included.clusters, removed: applied.removed, options },
      retimed: applied.retimed,
      oddities: oddities.map(({ id, meaning }) => ({ id, meaning })),
    });
    if (input.length > this.#parts.limits.maxBytes / 2) {
      this.#leaveOut({ bytes: input.length });
      return;
    }
    if (wasWhole) segment.bytes += input.length;
    this.#isWritten = true;
    this.#parts.sink.put({
      kind: 'input',
      epoch: Number(this.#parts.epoch),
      atMs: nowMs,
      begin,
      isWhole: segment.isWhole && (begin !== null || !wasWhole),
      isDecided: options !== null,
      input,
    });
  }

  /** Digest of the decision on the last input. Called before the decision changes the ledger. */
  digest(decision: Decision, actions: readonly Action[]): CycleDigest | null {
    if (!this.#isWritten) return null;
    const hasClaims = this.#parts.fleet.machines.count <= MAX_DIGESTED_CLAIMS;
    const claims = hasClaims ? decision.claims() : null;
    const { unmet } = decision;
    const [restamps, retargets] = [decision.restamps(), decision.retargets()];
    return { digest: digestOf({ actions, restamps, retargets, unmet, claims }), hasClaims };
  }

  /** Posts the outcome of a cycle. */
  outcome(
    digest: CycleDigest | null,
    view: CycleView,
    waiting: readonly HeldBackAction[],
    point: SeriesPoint | null = null,
  ): void {
    this.#heldBack(waiting, view.atMs);
    if (digest !== null) {
      const { number: cycle, durationMs, unmet, decided, admitted } = view;
      const counts = { durationMs, unmet, decided, admitted, waiting: view.waiting };
      this.#parts.sink.put({
        kind: 'outcome',
        outcome: { cycle, ...digest, ...counts, ...(point === null ? {} : { point }) },
      });
    }
    this.flush();
  }

  needsChanged(changes: readonly UnmetChange[], atMs: number): void {
    for (const { key, priority, reason, deficit } of changes) {
      const need = needRef(key, priority);
      const missing = formatResources(deficit);
      const about = { machine: null, cluster: key.cluster, need: need.id };
      this.#note({ atMs, ...about, body: { kind: 'need', need, reason, missing } });
    }
  }

  /** Called for every lost machine, including those that a `losses` event summarises. */
  loss(loss: LossView): void {
    const { atMs, machine, cluster, need } = loss;
    const about = { machine, cluster: cluster || null, need: need?.id ?? null };
    this.#note({ atMs, ...about, body: { kind: 'loss', loss } });
  }

  event(event: ShardEvent): void {
    if (event.kind === 'cycle' || event.kind === 'loss') return;
    const atMs = event.atMs ?? this.#parts.clock.now();
    if (event.kind === 'log') {
      const { kind, level, event: name, fields } = event;
      if (WRITTEN_AS_EVENTS.has(name)) return;
      this.#note({ atMs, ...subjectOf(event), need: null, body: { kind, level, event: name, fields } });
      return;
    }
    if (event.kind === 'losses') {
      const { losses } = event;
      const body = { kind: 'losses', losses } as const;
      this.#note({ atMs, machine: null, cluster: null, need: null, body });
      return;
    }
    const { action } = event;
    const about = { machine: action.machine, cluster: action.cluster || null, need: action.need?.id ?? null };
    this.#note({ atMs, ...about, body: { kind: 'action', action } });
  }

  /** Posts the batched events. */
  flush(): void {
    this.#cancelFlush?.();
    this.#cancelFlush = null;
    const events = this.#events;
    if (events.length === 0) return;
    if (this.#left > 0) events.push(this.#leftOut());
    this.#events = [];
    this.#left = 0;
    if (this.#parts.sink.behindBytes <= MAX_BEHIND_BYTES) this.#parts.sink.put({ kind: 'events', events });
  }

  #isBehind(): boolean {
    const { behindBytes } = this.#parts.sink;
    if (behindBytes > MAX_BEHIND_BYTES) this.#leaveOut({ behindBytes });
    return this.#hasGap && behindBytes > MAX_BEHIND_BYTES / 2;
  }

  #leaveOut(fields: Readonly<Record<string, number>>): void {
    if (!this.#hasGap) this.#parts.publish({ kind: 'log', level: 'warn', event: 'journal-gap', fields });
    this.#hasGap = true;
  }

  /** Begins a segment if one is due. */
  #begin(nowMs: number): Begin | null {
    const begin = this.#due(nowMs);
    if (begin === null) return null;
    this.#segment = new Segment(this.#parts, nowMs, begin === 'start');
    this.#hasGap = false;
    return begin;
  }

  #due(nowMs: number): Begin | null {
    if (this.#segment === null) return 'start';
    if (this.#hasGap) return 'gap';
    const { isWhole, bytes, beganMs } = this.#segment;
    // A clock that was set back begins a segment sooner, never later.
    const isOld = Math.abs(nowMs - beganMs) >= this.#segmentMs;
    return isWhole && (isOld || bytes >= this.#segmentBytes) ? 'pass' : null;
  }

  /** Records actions that are held back for the first time, or for another reason than in the last cycle. */
  #heldBack(waiting: readonly HeldBackAction[], atMs: number): void {
    const now = new Map<string, string>();
    for (const action of waiting) {
      const { machine, cluster, kind, why, need } = action;
      const what = `${kind} ${why}`;
      now.set(machine, what);
      if (this.#waiting.get(machine) === what) continue;
      const about = { machine, cluster: cluster || null, need: need?.id ?? null };
      this.#note({ atMs, ...about, body: { kind: 'waiting', action } });
    }
    this.#waiting = now;
  }

  #note(event: JournalEvent): void {
    if (this.#events.length >= MAX_EVENTS) this.#left++;
    else this.#events.push(event);
    this.#cancelFlush ??= this.#parts.clock.after(EVENTS_WAIT_MS, () => this.flush());
  }

  #leftOut(): JournalEvent {
    const fields = { count: this.#left };
    const body = { kind: 'log', level: 'warn', event: 'events-left-out', fields } as const;
    return { atMs: this.#parts.clock.now(), machine: null, cluster: null, need: null, body };
  }
}

export interface CycleDigest {
  readonly digest: string;
  readonly hasClaims: boolean;
}

/** A part of the journal that can be replayed from its beginning. */
class Segment {
  readonly packer: InputPacker;
  readonly beganMs: number;
  readonly #fleet: Fleet;
  readonly #slice: number;
  /** Whether the segment contains the complete state. */
  isWhole: boolean;
  /** Bytes posted since the segment is whole. */
  bytes = 0;
  #slot = 0;
  #cluster = 0;

  constructor({ fleet, slice = SLICE }: RecorderParts, beganMs: number, isWhole: boolean) {
    this.#fleet = fleet;
    this.#slice = slice;
    this.packer = new InputPacker(fleet);
    this.beganMs = beganMs;
    this.isWhole = isWhole;
  }

  /** The changes, and the next slice of the unchanged state. */
  withSlice({ slots, clusters }: AppliedChanges): Pick<AppliedChanges, 'slots' | 'clusters'> {
    const { machines, demand, clusters: names } = this.#fleet;
    const included = { slots: [...slots], clusters: [...clusters] };
    const known = new Set(slots);
    const end = Math.min(this.#slot + this.#slice, machines.size);
    for (; this.#slot < end; this.#slot++)
      if (machines.state[this.#slot] !== 0 && !known.has(this.#slot)) included.slots.push(this.#slot);
    for (let rows = 0; rows < this.#slice && this.#cluster < names.size; this.#cluster++) {
      // A cluster that changed earlier in this segment is written again; its record then has no new rows.
      included.clusters.push(this.#cluster);
      rows += demand.rowsOf(this.#cluster).length;
    }
    this.isWhole = this.#slot >= machines.size && this.#cluster >= names.size;
    return included;
  }
}

/** Meanings of sightings that are not written: first sightings and expected transitions. */
const PLAIN: ReadonlySet<string> = new Set(['discovered', 'progress']);

function isNothing({ slots, clusters, removed, retimed }: AppliedChanges): boolean {
  return slots.length + clusters.length + removed.length + retimed.size === 0;
}

/** An order that names neither a machine nor a cluster concerns all clusters: ''. */
function subjectOf({ event, fields }: Extract<ShardEvent, { readonly kind: 'log' }>) {
  const machine = textOr(fields['machine']);
  const cluster = textOr(fields['cluster']) ?? clusterIn(textOr(fields['freeze']));
  const isToAll = event === 'order' && machine === null && cluster === null;
  return { machine, cluster: isToAll ? '' : cluster };
}

/** The cluster that the id of a freeze names. */
function clusterIn(freeze: string | null): string | null {
  return /(?:^|\/)cluster:(.*)$/.exec(freeze ?? '')?.[1] ?? null;
}

function textOr(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}
