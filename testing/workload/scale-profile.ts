// Parses the scale profiles of bench/profiles/*.yaml: size and mix of a synthetic fleet, its changes per cycle and the
// limits of `bench ladder`. src/demo/workload/scale-profile.ts has the type. Called by bench/profiles/load.ts.

import * as z from 'zod';
import { CATALOGUE_NAMES, catalogueOf } from '../../src/demo/catalogues/index.ts';
import type { Change, ScaleProfile } from '../../src/demo/workload/scale-profile.ts';
import { ok, type Result } from '../../src/model/index.ts';
import { describe, given, numberIn, parsed, validate } from '../../src/runtime/validation.ts';
import { parseDocumentText } from '../../src/scenario/document.ts';
import { isRegime, REGIMES } from './regimes.ts';

const COUNT = numberIn({ min: 0, max: 10_000_000, integer: true });
const AT_LEAST_ONE = numberIn({ min: 1, max: 10_000_000, integer: true });
const FRACTION = given(numberIn({ min: 0, max: 1 }), 0);
const TEXT = given(z.string(), '');
const NO_CHANGE: Change = { clusters: 0, rows: 0, machines: 0 };
const CHANGE = z.strictObject({ clusters: FRACTION, rows: FRACTION, machines: FRACTION });

const THRESHOLD = z.strictObject({
  regime: TEXT.refine(isRegime, {
    error: ({ input }) => `No regime is named ${describe(input)}; there are ${REGIMES.join(', ')}.`,
  }),
  p99Ms: given(numberIn({ min: 0 }), 0),
  why: TEXT.refine((why) => why !== '', 'A threshold needs a reason, to be shown when it is not met.'),
});

const PROFILE = z.strictObject({
  catalogue: parsed(
    (value) => (typeof value === 'string' ? catalogueOf(value) : undefined),
    (value) => `No catalogue is named ${describe(value)}; there are ${CATALOGUE_NAMES.join(', ')}.`,
  ),
  machines: given(
    z.strictObject({
      configured: given(COUNT, 0),
      idle: given(COUNT, 0),
      speculative: given(COUNT, 0),
    }),
    { configured: 0, idle: 0, speculative: 0 },
  ),
  racks: given(z.strictObject({ perZone: given(COUNT, 0), machines: given(COUNT, 0) }), {
    perZone: 10,
    machines: 0,
  }),
  regions: given(numberIn({ min: 0, max: 64, integer: true }), 0),
  roaming: FRACTION,
  name: TEXT,
  about: TEXT,
  clusters: given(AT_LEAST_ONE, 0),
  needs: given(COUNT, 0),
  density: given(AT_LEAST_ONE, 100),
  groups: given(z.boolean(), true),
  jitter: given(numberIn({ min: 0, max: 0.01 }), 0),
  churn: given(CHANGE, NO_CHANGE),
  burst: given(CHANGE, NO_CHANGE),
  thresholds: given(z.array(THRESHOLD), []),
});

/** Parses a profile; every problem is reported with its path. */
export function parseScaleProfile(text: string): Result<ScaleProfile> {
  const document = parseDocumentText(text);
  if (!document.ok) return document;
  const profile = validate(PROFILE, document.value);
  if (!profile.ok) return profile;
  const { machines, racks, ...rest } = profile.value;
  return ok({ ...rest, ...machines, racksPerZone: racks.perZone, machinesPerRack: racks.machines });
}
