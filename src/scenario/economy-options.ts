// The options of a scenario that say how rows share machines, in which order they acquire them and when machines are given
// back. They have the names of the settings of a shard. Read by scenario.ts, written by scenario-write.ts.

import * as z from 'zod';
import { DEFAULT_ECONOMY_OPTIONS, type EconomyOptions } from '../model/index.ts';
import { parseDurationMs } from '../runtime/durations.ts';
import { describe, given, listText, parsed } from '../runtime/validation.ts';

const DEFAULTS = DEFAULT_ECONOMY_OPTIONS;

function choice<const T extends string>(choices: readonly T[]) {
  return parsed(
    (value) => choices.find((each) => each === value),
    (value) => `Expected ${listText(choices)}, found ${describe(value)}.`,
  );
}

const ORDER = choice(['last', 'by-price']);

type Accelerators = Pick<EconomyOptions, 'accelerators' | 'ignoredAccelerators'>;

/** The order alone, or with the resources that are not counted as accelerators. */
const ACCELERATORS = z.preprocess(
  (value) => (typeof value === 'string' ? { order: value } : value),
  z
    .strictObject({
      order: given(ORDER, DEFAULTS.accelerators),
      ignore: given(z.array(z.string()), [...DEFAULTS.ignoredAccelerators]),
    })
    .transform(
      ({ order, ignore }): Accelerators => ({
        accelerators: order,
        ignoredAccelerators: new Set(ignore),
      }),
    ),
);

const SECONDS = parsed(
  (value) => {
    const seconds = typeof value === 'string' ? (parseDurationMs(value) ?? Number.NaN) / 1000 : value;
    return typeof seconds === 'number' && seconds >= 0 && Number.isFinite(seconds) ? seconds : undefined;
  },
  (value) => `Expected seconds of at least 0 or a duration such as 10m, found ${describe(value)}.`,
);

const SHARING = choice(['on', 'off']);
const POOL_ORDER = choice(['coverage', 'price']);

/** Fields of `options`. */
export const ECONOMY_FIELDS = {
  sharing: given(SHARING, DEFAULTS.sharing),
  reclaimHold: given(SECONDS, DEFAULTS.reclaimHoldSeconds),
  poolOrder: given(POOL_ORDER, DEFAULTS.poolOrder),
  accelerators: given(ACCELERATORS, {
    accelerators: DEFAULTS.accelerators,
    ignoredAccelerators: DEFAULTS.ignoredAccelerators,
  }),
};

/** The same fields where one that is not given leaves an option as it is. */
export const ECONOMY_OVERRIDES = {
  sharing: given(SHARING, null),
  reclaimHold: given(SECONDS, null),
  poolOrder: given(POOL_ORDER, null),
  accelerators: given(ACCELERATORS, null),
};

type Fields = z.output<z.ZodObject<typeof ECONOMY_FIELDS>>;

export function economyOptionsOf({ sharing, reclaimHold, poolOrder, accelerators }: Fields): EconomyOptions {
  return { sharing, reclaimHoldSeconds: reclaimHold, poolOrder, ...accelerators };
}

/** All of them, whatever their default, so that a saved decision keeps its outcome when a default changes. */
export function economyJson(options: EconomyOptions): Readonly<Record<string, unknown>> {
  const { sharing, reclaimHoldSeconds, poolOrder, accelerators, ignoredAccelerators } = options;
  const ignore = [...ignoredAccelerators];
  return {
    sharing,
    reclaimHold: reclaimHoldSeconds,
    poolOrder,
    accelerators: ignore.length === 0 ? accelerators : { order: accelerators, ignore },
  };
}
