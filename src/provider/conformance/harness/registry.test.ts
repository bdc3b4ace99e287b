import { describe, expect, it } from 'vitest';
import type { Profile, TargetKind } from './behaviour.ts';
import { BEHAVIOURS, selectBehaviours } from './registry.ts';

/** The required ids, repeated here so that the removal of a behaviour fails a test. */
const BASELINE =
  `FullLifecycle CreateIdempotent ConfigureIdempotent DrainIdempotent DeleteIdempotent GetUnknownMachine
  DeleteUnknownMachine ListFiltersByState ListMaxResults LabelShape CostFieldBounds ListRevisionAdvances
  DrainOnSpeculative DeleteOnConfigured TransitionalStateObservability DrainGraceTimeout FencingUnknownShardAccepted
  FencingStaleEpochRejected FencingStaleSequenceRejected FencingPerMachineIsolation FencingNewEpochResetsSequence
  FencingReadsUnaffected MetadataEchoedOnGetAndList MetadataAndBindingClearOnDrain
  MetadataUnknownKeysPreservedVerbatim`.split(/\s+/);

const numbered = (first: number, last: number, ...left: readonly number[]) =>
  Array.from({ length: last - first + 1 }, (_, i) => first + i)
    .filter((n) => !left.includes(n))
    .map((n) => `B${n}`);

const IDS_BY_TARGET: Readonly<Record<TargetKind, readonly string[]>> = {
  core: [
    ...BASELINE,
    ...numbered(101, 109, 102),
    ...numbered(201, 215),
    ...numbered(301, 312, 304),
    ...numbered(401, 409),
    ...numbered(501, 505),
    ...numbered(801, 807),
    ...numbered(901, 909),
    ...numbered(1201, 1205),
  ],
  fault: numbered(701, 708),
  durable: numbered(1001, 1007),
  scale: numbered(1101, 1109),
};

const idsOf = (profiles: readonly Profile[], only: readonly string[] = []) =>
  selectBehaviours({ profiles, only }).map(({ id }) => id);

describe('the behaviours of the conformance suite', () => {
  it('given all behaviours, then they are the required ones, each once', () => {
    expect(BEHAVIOURS.map(({ id }) => id).sort()).toEqual(Object.values(IDS_BY_TARGET).flat().sort());
    expect(BEHAVIOURS).toHaveLength(25 + 93);
  });

  it.each(Object.entries(IDS_BY_TARGET))(
    'given the %s target, then its behaviours have its profile',
    (targetKind, ids) => {
      expect(
        BEHAVIOURS.filter((behaviour) => behaviour.targetKind === targetKind).map(({ id }) => id),
      ).toEqual(expect.arrayContaining([...ids]));
      expect(idsOf([targetKind as Profile]).sort()).toEqual([...ids].sort());
    },
  );

  it('given the profiles cloud and spot, then they have the behaviours that need Delete or spot machines', () => {
    expect(idsOf(['cloud'])).toEqual(['B109', 'B204', 'B215', 'B409', 'B807']);
    expect(idsOf(['spot'])).toEqual(['B802']);
  });

  it('given all behaviours, then each title has 10 to 90 characters', () => {
    expect(BEHAVIOURS.filter(({ title }) => title.length < 10 || title.length > 90)).toEqual([]);
  });
});

describe('the selection of behaviours', () => {
  it('given ids, patterns and areas in any case, then their behaviours are selected', () => {
    expect(idsOf([], ['b301', 'FullLifecycle'])).toEqual(['FullLifecycle', 'B301']);
    expect(idsOf([], ['B5xx'])).toEqual(numbered(501, 505));
    expect(idsOf([], ['B10xx'])).toEqual(IDS_BY_TARGET.durable);
    expect(idsOf([], ['Scale'])).toEqual(IDS_BY_TARGET.scale);
  });

  it('given profiles, then only behaviours of these profiles are selected', () => {
    expect(idsOf(['fault'], ['B701', 'B301'])).toEqual(['B701']);
    expect(() => idsOf(['fault'], ['B301'])).toThrow('BF_USAGE');
  });

  it.each(['B999', 'B304', 'nonsense', 'B9xxx', ''])(
    'given %j, which matches no behaviour, then it is refused',
    (word) => {
      expect(() => idsOf([], [word])).toThrow('BF_USAGE');
    },
  );
});
