// Verdicts for operators: all after a hello, then the changed ones, rarely, and within the limits of a frame.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { record } from '../../../testing/support/actuation-scene.ts';
import { ControllerScene } from '../../../testing/support/controller-scene.ts';
import { aNeed, resources } from '../../../testing/support/fleets.ts';
import { MachineState, type Need } from '../../model/index.ts';
import { NeedVerdicts, NeedVerdicts_Verdict } from '../../wire/gen/bigfleet/v1alpha1/shard.ts';
import { VERDICT_INTERVAL_MS } from './operator-verdicts.ts';
import { framesOf, VerdictLimits } from './verdict-frames.ts';

const WANTED = { drainReport: false, verdicts: true };

function need(name: string, cpu: number): Need {
  return aNeed({
    cluster: 'c1',
    priority: 5,
    group: name,
    aggregate: resources({ cpu }),
    minUnit: resources({ cpu: 1 }),
  });
}

function started(...needs: readonly Need[]): ControllerScene {
  const scene = new ControllerScene().openWith(WANTED, 'c1');
  const machine = record('m', MachineState.Configured, { cluster: 'c1' });
  return scene
    .list([machine])
    .demand('c1', ...needs)
    .tick();
}

/** The frames since the last call. */
function frames(scene: ControllerScene): readonly NeedVerdicts[] {
  const all = scene.of('need-verdicts').map(({ frame }) => frame);
  const known = seen.get(scene) ?? 0;
  seen.set(scene, all.length);
  return all.slice(known);
}
const seen = new WeakMap<ControllerScene, number>();

describe('verdicts for an operator', () => {
  it('given a hello with the feature, then all verdicts are sent once, and nothing while nothing changes', () => {
    const scene = started(need('a', 1), need('b', 1000));
    scene.tick(VERDICT_INTERVAL_MS);
    const sent = frames(scene);
    const last = sent.findLast(({ full }) => full)!;
    expect(
      sent
        .flatMap(({ verdicts }) => verdicts)
        .map(({ group }) => group)
        .sort(),
    ).toEqual(['a', 'b']);
    expect(last.full).toBe(true);
    scene.tick(10 * VERDICT_INTERVAL_MS);
    expect(frames(scene)).toEqual([]);
  });

  it('given a met and an unmet need, then each verdict says so', () => {
    const scene = started(need('a', 1), need('b', 1000)).tick(VERDICT_INTERVAL_MS);
    const verdicts = frames(scene).flatMap((frame) => frame.verdicts);
    const of = (group: string) => verdicts.findLast((verdict) => verdict.group === group);
    expect(of('a')).toMatchObject({ satisfied: true, cause: '', unmetReason: '', removed: false });
    expect(of('b')).toMatchObject({ satisfied: false, rowsAhead: 0 });
    expect(of('b')?.cause).not.toBe('');
    expect(of('b')?.unmetReason).toMatch(/^UNMET_REASON_/);
    expect(of('b')?.sentence).toMatch(/^not met/);
  });

  it('given a changed and a removed need, then only these are sent, no sooner than the interval', () => {
    const scene = started(need('a', 1), need('b', 1000)).tick(VERDICT_INTERVAL_MS);
    frames(scene);
    scene.demand('c1', need('a', 2000)).tick(VERDICT_INTERVAL_MS);
    const first = frames(scene);
    expect(first).toHaveLength(1);
    expect(first[0]).toMatchObject({ full: false });
    expect(first[0]!.verdicts.map(({ group, removed }) => [group, removed])).toEqual([
      ['a', false],
      ['b', true],
    ]);
    scene.demand('c1', need('a', 1)).tick();
    expect(frames(scene)).toEqual([]);
    scene.tick(VERDICT_INTERVAL_MS);
    expect(frames(scene)).toHaveLength(1);
  });

  it('given a new session, then all are sent again; given one without the feature, then none', () => {
    const scene = started(need('a', 1)).tick(VERDICT_INTERVAL_MS);
    frames(scene);
    scene.openWith(WANTED, 'c1').tick();
    expect(frames(scene)).toMatchObject([{ full: true, verdicts: [{ group: 'a' }] }]);
    scene
      .open('c1')
      .demand('c1', need('a', 2000))
      .tick(2 * VERDICT_INTERVAL_MS);
    expect(frames(scene)).toEqual([]);
  });
});

describe('frames of verdicts', () => {
  const empty = NeedVerdicts_Verdict.decode(new Uint8Array());

  it('given any verdicts, then the frames are within their limits and have all of them in order', () => {
    const verdict = fc.record({ machines: fc.nat(6000), sentence: fc.nat(500) });
    fc.assert(
      fc.property(
        fc.array(verdict, { maxLength: 12 }),
        fc.nat(2500),
        fc.boolean(),
        (large, small, isFull) => {
          const verdicts = [
            ...large.map(({ machines, sentence }) => ({
              ...empty,
              machines: Array.from({ length: machines }, (_, i) => `machine-${i}`.padEnd(100, 'x')),
              sentence: 's'.repeat(sentence),
            })),
            ...Array.from({ length: small }, () => empty),
          ];
          const made = framesOf(7, isFull, verdicts);
          expect(made.flatMap((frame) => frame.verdicts)).toEqual(verdicts);
          made.forEach((frame, i) => {
            expect(frame.full).toBe(isFull && i === 0);
            expect(frame.cycle).toBe(7n);
            expect(frame.verdicts.length).toBeLessThanOrEqual(VerdictLimits.verdicts);
            if (frame.verdicts.length > 1)
              expect(NeedVerdicts.encode(frame).finish().length).toBeLessThanOrEqual(
                VerdictLimits.frameBytes + 16,
              );
          });
          expect(made.length > 0).toBe(isFull || verdicts.length > 0);
        },
      ),
      { numRuns: 30 },
    );
  });
});
