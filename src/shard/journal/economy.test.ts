// Journals of shards that share machines and hold back reclaims, and of versions that did neither.

import { deserialize, serialize } from 'node:v8';
import { describe, expect, it } from 'vitest';
import { record } from '../../../testing/support/actuation-scene.ts';
import { ControllerScene } from '../../../testing/support/controller-scene.ts';
import { aNeed, resources, stampOf } from '../../../testing/support/fleets.ts';
import { fileAt, replayAll, withPath } from '../../../testing/support/journal.ts';
import { DEFAULT_ECONOMY_OPTIONS, MachineState, type Need, UNSHARED_OPTIONS } from '../../model/index.ts';
import type { ControllerOptions } from '../planning/options.ts';
import { JOURNAL_LIMITS, type JournalSink, type PackedInput } from './format.ts';
import { ALWAYS } from './journal-reader.ts';

const HOLD_MS = DEFAULT_ECONOMY_OPTIONS.reclaimHoldSeconds * 1000;
/** The recorder begins a segment every two minutes, several of them within the hold. */
const LIMITS = { ...JOURNAL_LIMITS, maxAgeMs: 8 * 120_000 };
const SMALL = aNeed({ aggregate: resources({ cpu: 1 }), minUnit: resources({ cpu: 1 }) });

function large(cpu: number): Need {
  return aNeed({ priority: 9, aggregate: resources({ cpu }), minUnit: resources({ cpu: 1 }) });
}

/** A cluster with two machines of 4 cpu, which wants 7 and 1 cpu and then 3 and 1, until the hold has run out. */
function shrinking(sink: JournalSink, options: Partial<ControllerOptions> = {}): ControllerScene {
  const scene = new ControllerScene(options, undefined, { sink, limits: LIMITS }).open('c1');
  scene.list(['a', 'b'].map((id) => record(id, MachineState.Configured, {})));
  scene.demand('c1', large(7), SMALL).tick(20_000);
  return scene.demand('c1', large(3), SMALL).tick(HOLD_MS + 5000);
}

function reclaimsOf(cycles: ReturnType<typeof replayAll>): readonly number[] {
  return cycles.flatMap(({ atMs, recorded }) => ((recorded?.decided.Reclaim ?? 0) > 0 ? [atMs] : []));
}

describe('the journal of a shard with the standard rules', () => {
  it('given a reclaim after the hold, then a replay decides it in the same cycle, also from within the hold', () => {
    withPath((path) => {
      const file = fileAt(path);
      const scene = shrinking(file);
      file.close();
      expect(scene.of('instruct-reclaim').map(({ machine }) => machine)).toEqual(['b']);

      const cycles = replayAll(path);
      expect(cycles.filter(({ isSame }) => isSame !== true)).toEqual([]);
      const [reclaimed] = reclaimsOf(cycles);
      const span = { ...ALWAYS, fromMs: reclaimed! - HOLD_MS / 2 };
      const later = replayAll(path, span);
      expect(later.filter(({ isSame }) => isSame !== true)).toEqual([]);
      expect(reclaimsOf(later)[0]).toBe(reclaimed);
    });
  });
});

describe('the journal of a shard that replaces machines by cheaper ones', () => {
  /** Four machines of 2 cpu for $1 each serve a Need that one of 8 cpu for $2 could serve. */
  function renewing(sink: JournalSink): ControllerScene {
    const row = aNeed({ aggregate: resources({ cpu: 8 }), minUnit: resources({ cpu: 1 }) });
    const offer = (cpu: number) => ({ resources: resources({ cpu }), allocatable: new Map() });
    const scene = new ControllerScene({}, undefined, { sink, limits: LIMITS }).open('c1');
    scene.list([
      ...['a', 'b', 'c', 'd'].map((id) =>
        record(id, MachineState.Configured, { ...offer(2), stamp: stampOf(row) }),
      ),
      record('s', MachineState.Speculative, { ...offer(8), pricePerHour: 2 }),
    ]);
    return scene.demand('c1', row).tick(15 * 60_000);
  }

  it('given marks, then a replay decides alike, also from a segment that begins while they last', () => {
    withPath((path) => {
      const file = fileAt(path);
      const scene = renewing(file);
      file.close();
      const { sinceMs } = scene.machine('a')!.renewal!;
      expect(scene.calls('create').map(({ machine }) => machine)).toEqual(['s']);

      const cycles = replayAll(path);
      expect(cycles.filter(({ isSame }) => isSame !== true)).toEqual([]);
      expect(cycles.some(({ recorded }) => recorded?.decided.Provision === 1)).toBe(true);
      const later = replayAll(path, { ...ALWAYS, fromMs: sinceMs + 3 * 60_000 });
      expect(later.length).toBeGreaterThan(0);
      expect(later.filter(({ isSame }) => isSame !== true)).toEqual([]);
    });
  });
});

describe('the journal of a version without sharing and hold', () => {
  it('given the standard rules of today, then its decisions are replayed by the rules that it had', () => {
    withPath((path) => {
      const file = fileAt(path);
      const earlier: JournalSink = {
        behindBytes: 0,
        put: (message) =>
          file.put(message.kind === 'input' ? { ...message, input: asBefore(message.input) } : message),
      };
      const scene = shrinking(earlier, { economy: UNSHARED_OPTIONS });
      file.close();
      // Each row has a machine of its own.
      expect(scene.of('instruct-reclaim')).toEqual([]);

      const cycles = replayAll(path);
      expect(cycles.length).toBeGreaterThan(HOLD_MS / 1000);
      expect(cycles.filter(({ isSame }) => isSame !== true)).toEqual([]);
    });
  });
});

/** An input in the form of versions that knew neither unclaimed machines nor options of the economy. */
function asBefore(input: Uint8Array): Uint8Array {
  const { machines, options, ...rest } = deserialize(input) as PackedInput;
  const { unclaimedSinceMs, ...columns } = machines;
  expect(unclaimedSinceMs).toBeUndefined();
  const others =
    options?.others === undefined
      ? undefined
      : { releaseHoldSeconds: options.others.releaseHoldSeconds, weights: options.others.weights };
  return serialize({
    ...rest,
    machines: columns,
    options: options === null ? null : { ...options, others },
  });
}
