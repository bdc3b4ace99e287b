// Kinds of settings: the type of a value, which accepts YAML values and the texts of flags and variables, and how a
// value is written so that it reads the same again. Used by settings.ts and config.ts.

import * as z from 'zod';
import { type DecisionOptions, printable } from '../../model/index.ts';
import { durationText, parseDurationMs } from '../../runtime/durations.ts';
import { listText } from '../../runtime/validation.ts';

export interface Kind<T> {
  /** What is expected, as in "a duration such as 500ms or 10s". */
  readonly what: string;
  readonly type: z.ZodType<T>;
  /** The value as it appears in YAML. */
  readonly write: (value: T) => Plain;
  /** Placeholder for the value in the list of flags; absent for a switch. */
  readonly placeholder?: string;
}

type Plain =
  | string
  | number
  | boolean
  | readonly ProviderSpec[]
  | Readonly<Record<string, number>>
  | AcceleratorsSpec;

export interface ProviderSpec {
  readonly name: string;
  /** HOST:PORT. */
  readonly address: string;
}

const identity = <T>(value: T): T => value;

export const NAME: Kind<string> = {
  what: 'a name of letters, digits, dots, dashes and underscores, at most 253',
  type: z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,252}$/),
  write: identity,
  placeholder: 'name',
};

export const PATH: Kind<string> = {
  what: 'a path',
  type: z.string().refine((path) => path !== '' && !path.includes('\0')),
  write: identity,
  placeholder: 'path',
};

/** undefined: none. */
export const OPTIONAL_PATH = PATH as Kind<string | undefined>;

const HOST_PORT = z.string().refine((address) => {
  const [, port] = /^(?:\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]*):(\d{1,5})$/.exec(address) ?? [];
  return port !== undefined && Number(port) <= 65_535;
});

export const ADDRESS: Kind<string> = {
  what: 'HOST:PORT, or :PORT for every address of this machine',
  type: HOST_PORT.transform((address) => (address.startsWith(':') ? `0.0.0.0${address}` : address)),
  write: identity,
  placeholder: 'host:port',
};

export const SWITCH: Kind<boolean> = {
  what: 'true or false',
  type: z.union([z.boolean(), z.stringbool({ truthy: ['true'], falsy: ['false'], case: 'sensitive' })]),
  write: identity,
};

/** A number, or text that matches the pattern. */
function numeric(pattern: RegExp, type: z.ZodType<number, number>): z.ZodType<number> {
  return z.union([z.number(), z.string().regex(pattern).transform(Number)]).pipe(type);
}

export function whole(min: number, max: number): Kind<number> {
  return {
    what: `a whole number from ${min} to ${max}`,
    type: numeric(/^\d{1,15}$/, z.int().min(min).max(max)),
    write: identity,
    placeholder: 'n',
  };
}

export function number(min: number, max: number): Kind<number> {
  return {
    what: `a number from ${min} to ${max}`,
    type: numeric(/^\d{1,15}(\.\d{1,15})?$/, z.number().min(min).max(max)),
    write: identity,
    placeholder: 'n',
  };
}

/** A count that fits an int64. */
export const COUNTER: Kind<bigint> = {
  what: 'a whole number from 0 to 2^63 - 2',
  type: z
    .union([z.int(), z.bigint(), z.string().regex(/^\d{1,19}$/)])
    .transform(BigInt)
    .pipe(
      z
        .bigint()
        .min(0n)
        .max(2n ** 63n - 2n),
    ),
  // Readers of YAML may parse large numbers as doubles.
  write: (value) => (value <= Number.MAX_SAFE_INTEGER ? Number(value) : String(value)),
  placeholder: 'n',
};

const DAY_SECONDS = 86_400;
/** Timers of the runtime cannot be longer than 24.8 days; a longer one fires at once. */
const MAX_TIMER_MS = 24 * DAY_SECONDS * 1000;

const MILLISECONDS = z
  .string()
  .transform((text) => parseDurationMs(text))
  .pipe(z.number());
const SECONDS = MILLISECONDS.transform((ms) => ms / 1000);

/** Milliseconds. */
export function duration(min: string): Kind<number> {
  return {
    what: `a duration from ${min} to 24d, such as 500ms, 10s or 5m`,
    type: MILLISECONDS.pipe(z.number().min(parseDurationMs(min)!).max(MAX_TIMER_MS)),
    write: durationText,
    placeholder: 'duration',
  };
}

/** Seconds; 0: never released. */
export const HOLD: Kind<number> = {
  what: 'a duration from 1s to 365d, such as 10m, or "never"',
  type: z.union([
    z.literal('never').transform(() => 0),
    SECONDS.pipe(
      z
        .number()
        .min(1)
        .max(365 * DAY_SECONDS),
    ),
  ]),
  write: (seconds) => (seconds === 0 ? 'never' : durationText(seconds * 1000)),
  placeholder: 'duration',
};

/** Seconds; 0: no hold. */
export const RECLAIM_HOLD: Kind<number> = {
  what: 'a duration from 0 to 365d, such as 10m',
  type: z.union([
    z.literal([0, '0']).transform(() => 0),
    SECONDS.pipe(
      z
        .number()
        .min(0)
        .max(365 * DAY_SECONDS),
    ),
  ]),
  write: (seconds) => durationText(seconds * 1000),
  placeholder: 'duration',
};

export function oneOf<const T extends string>(...choices: readonly T[]): Kind<T> {
  return {
    what: listText(choices),
    type: z.literal(choices),
    write: identity,
    placeholder: choices.join('|'),
  };
}

/** `prefix` precedes the number in texts, as in fixed:4. */
export function autoOr({ what, type, write }: Kind<number>, prefix = ''): Kind<number | 'auto'> {
  const unprefixed = (raw: unknown) =>
    typeof raw === 'string' && raw.startsWith(prefix) ? raw.slice(prefix.length) : undefined;
  return {
    what: `auto, or ${prefix === '' ? '' : `${prefix}N with `}${what}`,
    type: z.union([z.literal('auto'), prefix === '' ? type : z.preprocess(unprefixed, type)]),
    write: (value) => (value === 'auto' ? value : prefix === '' ? write(value) : `${prefix}${value}`),
    placeholder: `auto|${prefix}n`,
  };
}

/** In texts NAME=ADDR. */
const PROVIDER = z.preprocess(
  (raw) => {
    const at = typeof raw === 'string' ? raw.indexOf('=') : -1;
    return at < 0 ? raw : { name: (raw as string).slice(0, at), address: (raw as string).slice(at + 1) };
  },
  z.strictObject({ name: NAME.type, address: HOST_PORT.refine((address) => !address.startsWith(':')) }),
);

/** In YAML a list of names and addresses; in texts NAME=ADDR, separated by commas. */
export const PROVIDERS: Kind<readonly ProviderSpec[]> = {
  what: 'providers as NAME=HOST:PORT, or in a file as a list of { name, address }',
  type: z.preprocess((raw) => (typeof raw === 'string' ? raw.split(',') : raw), z.array(PROVIDER)),
  write: (providers) => providers.map(({ name, address }) => ({ name, address })),
  placeholder: 'name=host:port',
};

/** Dollars per hour; Infinity: no limit. */
export const DOLLAR_LIMIT: Kind<number> = {
  what: 'dollars per hour from 0 to 1000000000, or "none"',
  type: z.union([z.literal('none').transform(() => Number.POSITIVE_INFINITY), number(0, 1e9).type]),
  write: (dollars) => (dollars === Number.POSITIVE_INFINITY ? 'none' : dollars),
  placeholder: 'dollars',
};

/** Bound on the number of names with a price. */
const MAX_PRICES = 1000;

/** Dollars per hour by name. In YAML a mapping; in texts NAME=PRICE, separated by commas. */
export const PRICES: Kind<ReadonlyMap<string, number>> = {
  what: 'dollars per hour as NAME=PRICE, or in a file as a mapping of names to prices',
  type: z
    .preprocess(
      priceEntries,
      z.array(z.tuple([z.string().min(1).max(253), number(0, 1_000_000).type])).max(MAX_PRICES),
    )
    .refine((entries) => new Map(entries).size === entries.length)
    .transform((entries) => new Map(entries)),
  write: (prices) => Object.fromEntries(prices),
  placeholder: 'name=price',
};

function priceEntries(raw: unknown): unknown {
  if (typeof raw === 'string') return priceEntries([raw]);
  if (Array.isArray(raw)) return raw.flatMap((text) => String(text).split(',')).map(priceEntry);
  return typeof raw === 'object' && raw !== null ? Object.entries(raw) : raw;
}

/** Without a price if the text has none. */
function priceEntry(text: string): readonly string[] {
  const at = text.lastIndexOf('=');
  return at < 0 ? [text] : [text.slice(0, at), text.slice(at + 1)];
}

/** Bound on the number of resources that are not counted as accelerators. */
const MAX_IGNORED = 100;

export interface AcceleratorsSpec {
  readonly order: DecisionOptions['accelerators'];
  /** Names of resources. */
  readonly ignore: readonly string[];
}

const ACCELERATOR_ORDERS = ['last', 'by-price'] as const;

/** In YAML the order, or a mapping; in texts the order and the names, separated by commas. */
export const ACCELERATORS: Kind<AcceleratorsSpec> = {
  what: `${listText(ACCELERATOR_ORDERS)}, or in a file { order, ignore: [resource, …] }, elsewhere ORDER,RESOURCE,…`,
  type: z.preprocess(
    (raw) => {
      if (typeof raw !== 'string') return raw;
      const [order, ...ignore] = raw.split(',');
      return { order, ignore };
    },
    z.strictObject({
      order: z.literal(ACCELERATOR_ORDERS),
      ignore: z.array(z.string().min(1).max(253)).max(MAX_IGNORED).default([]),
    }),
  ),
  write: ({ order, ignore }) => (ignore.length === 0 ? order : { order, ignore }),
  placeholder: ACCELERATOR_ORDERS.join('|'),
};

/** A value that was refused, as it was written. */
export function described(raw: unknown): string {
  if (raw === null || raw === undefined) return 'nothing';
  return printable(JSON.stringify(raw)).slice(0, 200);
}
