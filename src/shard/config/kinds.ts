// Kinds of settings: how a value is read, from YAML as from the texts of flags and variables, and how it is written so
// that it reads the same again.

import { printable } from '../../model/index.ts';

export interface Kind<T> {
  /** What is expected, as in "a duration such as 500ms or 10s". */
  readonly what: string;
  /** undefined: it is not that. */
  readonly read: (raw: unknown) => T | undefined;
  /** As YAML holds it. */
  readonly write: (value: T) => Plain;
  /** Placeholder for the value in the list of flags; absent for a switch. */
  readonly placeholder?: string;
}

type Plain = string | number | boolean | readonly ProviderSpec[] | Readonly<Record<string, number>>;

export interface ProviderSpec {
  readonly name: string;
  /** HOST:PORT. */
  readonly address: string;
}

const same = <T>(value: T): T => value;

export const NAME: Kind<string> = {
  what: 'a name of letters, digits, dots, dashes and underscores, at most 253',
  read: (raw) => (typeof raw === 'string' && NAME_PATTERN.test(raw) ? raw : undefined),
  write: same,
  placeholder: 'name',
};
const NAME_PATTERN = /^[A-Za-z0-9][A-Za-z0-9._-]{0,252}$/;

export const PATH: Kind<string> = {
  what: 'a path',
  read: (raw) => (typeof raw === 'string' && raw !== '' && !raw.includes('\0') ? raw : undefined),
  write: same,
  placeholder: 'path',
};

/** undefined: none. */
export const OPTIONAL_PATH: Kind<string | undefined> = PATH as Kind<string | undefined>;

export const ADDRESS: Kind<string> = {
  what: 'HOST:PORT, or :PORT for every address of this machine',
  read: (raw) => {
    const address = addressOf(raw);
    return address?.startsWith(':') ? `0.0.0.0${address}` : address;
  },
  write: same,
  placeholder: 'host:port',
};

export const SWITCH: Kind<boolean> = {
  what: 'true or false',
  read: (raw) => {
    if (typeof raw === 'boolean') return raw;
    return raw === 'true' ? true : raw === 'false' ? false : undefined;
  },
  write: same,
};

export function whole(min: number, max: number): Kind<number> {
  return {
    what: `a whole number from ${min} to ${max}`,
    read: (raw) => numberIn(raw, /^\d{1,15}$/, min, max, Number.isInteger),
    write: same,
    placeholder: 'n',
  };
}

export function number(min: number, max: number): Kind<number> {
  return {
    what: `a number from ${min} to ${max}`,
    read: (raw) => numberIn(raw, /^\d{1,15}(\.\d{1,15})?$/, min, max, Number.isFinite),
    write: same,
    placeholder: 'n',
  };
}

/** A count that fits an int64. */
export const COUNTER: Kind<bigint> = {
  what: 'a whole number from 0 to 2^63 - 2',
  read: (raw) => {
    if (typeof raw === 'number' && !Number.isSafeInteger(raw)) return undefined;
    const text = typeof raw === 'number' || typeof raw === 'bigint' ? String(raw) : raw;
    if (typeof text !== 'string' || !/^\d{1,19}$/.test(text)) return undefined;
    const value = BigInt(text);
    return value < 2n ** 63n - 1n ? value : undefined;
  },
  // Readers of YAML may take large numbers for doubles.
  write: (value) => (value <= Number.MAX_SAFE_INTEGER ? Number(value) : String(value)),
  placeholder: 'n',
};

const UNIT_MS: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};
/** Timers of the runtime cannot be longer than 24.8 days; one that is fires at once. */
const MAX_TIMER_MS = 24 * UNIT_MS['d']!;

/** Milliseconds. */
export function duration(min: string): Kind<number> {
  const minMs = msOf(min)!;
  return {
    what: `a duration from ${min} to 24d, such as 500ms, 10s or 5m`,
    read: (raw) => {
      const ms = msOf(raw);
      return ms !== undefined && ms >= minMs && ms <= MAX_TIMER_MS ? ms : undefined;
    },
    write: durationText,
    placeholder: 'duration',
  };
}

/** Seconds; 0: for ever. */
export const HOLD: Kind<number> = {
  what: 'a duration from 1s to 365d, such as 10m, or "never"',
  read: (raw) => {
    if (raw === 'never') return 0;
    const seconds = (msOf(raw) ?? Number.NaN) / 1000;
    return seconds >= 1 && seconds <= 365 * 86_400 ? seconds : undefined;
  },
  write: (seconds) => (seconds === 0 ? 'never' : durationText(seconds * 1000)),
  placeholder: 'duration',
};

export function oneOf<const T extends string>(...choices: readonly T[]): Kind<T> {
  return {
    what: choices.join(', ').replace(/, ([^,]*)$/, ' or $1'),
    read: (raw) => choices.find((choice) => choice === raw),
    write: same,
    placeholder: choices.join('|'),
  };
}

/** `prefix` precedes the number in texts, as in fixed:4. */
export function autoOr({ what, read, write }: Kind<number>, prefix = ''): Kind<number | 'auto'> {
  return {
    what: `auto, or ${prefix === '' ? '' : `${prefix}N with `}${what}`,
    read: (raw) => {
      if (raw === 'auto') return raw;
      if (prefix === '') return read(raw);
      return typeof raw === 'string' && raw.startsWith(prefix) ? read(raw.slice(prefix.length)) : undefined;
    },
    write: (value) => (value === 'auto' ? value : prefix === '' ? write(value) : `${prefix}${value}`),
    placeholder: `auto|${prefix}n`,
  };
}

/** In YAML a list of names and addresses; in texts NAME=ADDR, several with commas between them. */
export const PROVIDERS: Kind<readonly ProviderSpec[]> = {
  what: 'providers as NAME=HOST:PORT, or in a file as a list of { name, address }',
  read: (raw) => {
    if (typeof raw === 'string') return PROVIDERS.read(raw.split(','));
    if (!Array.isArray(raw)) return undefined;
    const providers = raw.map(providerOf);
    return providers.every((provider) => provider !== undefined) ? providers : undefined;
  },
  write: (providers) => providers.map(({ name, address }) => ({ name, address })),
  placeholder: 'name=host:port',
};

function providerOf(raw: unknown): ProviderSpec | undefined {
  if (typeof raw === 'string') {
    const at = raw.indexOf('=');
    return at < 0 ? undefined : providerOf({ name: raw.slice(0, at), address: raw.slice(at + 1) });
  }
  if (typeof raw !== 'object' || raw === null) return undefined;
  const { name, address, ...rest } = raw as Readonly<Record<string, unknown>>;
  const read = { name: NAME.read(name), address: addressOf(address) };
  if (read.name === undefined || read.address === undefined || read.address.startsWith(':')) return undefined;
  return Object.keys(rest).length === 0 ? { name: read.name, address: read.address } : undefined;
}

/** Names and prices that are kept. */
const MAX_PRICES = 1000;
const PRICE = number(0, 1_000_000);

/** Dollars per hour by name. In YAML a mapping; in texts NAME=PRICE, several with commas between them. */
export const PRICES: Kind<ReadonlyMap<string, number>> = {
  what: 'dollars per hour as NAME=PRICE, or in a file as a mapping of names to prices',
  read: (raw) => {
    if (typeof raw === 'string') return PRICES.read(raw.split(','));
    if (typeof raw !== 'object' || raw === null) return undefined;
    const texts = Array.isArray(raw) ? raw.flatMap((text) => String(text).split(',')) : null;
    const entries = texts?.map(priceEntry) ?? Object.entries(raw);
    const prices = new Map<string, number>();
    for (const [name, price] of entries) {
      const read = PRICE.read(price);
      if (name === '' || name.length > 253 || prices.has(name) || read === undefined) return undefined;
      prices.set(name, read);
    }
    return prices.size <= MAX_PRICES ? prices : undefined;
  },
  write: (prices) => Object.fromEntries(prices),
  placeholder: 'name=price',
};

/** Without a price where there is none. */
function priceEntry(text: string): [string, unknown] {
  const at = text.lastIndexOf('=');
  return at < 0 ? [text, undefined] : [text.slice(0, at), text.slice(at + 1)];
}

/** A value that was not accepted, as a person would write it. */
export function described(raw: unknown): string {
  if (raw === null || raw === undefined) return 'nothing';
  return printable(JSON.stringify(raw)).slice(0, 200);
}

function addressOf(raw: unknown): string | undefined {
  if (typeof raw !== 'string') return undefined;
  const [, port] = /^(?:\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]*):(\d{1,5})$/.exec(raw) ?? [];
  return port !== undefined && Number(port) <= 65_535 ? raw : undefined;
}

function numberIn(
  raw: unknown,
  pattern: RegExp,
  min: number,
  max: number,
  fits: (value: number) => boolean,
): number | undefined {
  const value = typeof raw === 'string' && pattern.test(raw) ? Number(raw) : raw;
  return typeof value === 'number' && fits(value) && value >= min && value <= max ? value : undefined;
}

function msOf(raw: unknown): number | undefined {
  const match = typeof raw === 'string' ? /^(\d{1,10}(?:\.\d{1,3})?)(ms|s|m|h|d)$/.exec(raw) : null;
  return match === null ? undefined : Math.round(Number(match[1]) * UNIT_MS[match[2]!]!);
}

/** In the largest unit that needs no fraction. */
function durationText(ms: number): string {
  const unit = ['d', 'h', 'm', 's'].find((each) => ms % UNIT_MS[each]! === 0) ?? 'ms';
  return ms === 0 ? '0s' : `${ms / UNIT_MS[unit]!}${unit}`;
}
