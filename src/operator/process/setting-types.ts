// Kinds of the operator's settings: a zod type for the YAML value with its default, and what the reference page says about
// it. The page is made from these entries, so that it cannot differ from what is read. Used by settings.ts.

import * as z from 'zod';
import { durationText, parseDurationMs } from '../../runtime/durations.ts';
import { describe, listText, parsed } from '../../runtime/validation.ts';
import { addressList } from '../session/endpoints.ts';

/** What the page says about a setting. */
export interface SettingDoc {
  readonly accepts: string;
  /** As written in YAML; '' if there is none. */
  readonly defaultText: string;
  readonly about: string;
}

/** Entries of the page, by type. */
export const SETTING_DOCS = z.registry<SettingDoc>();

interface Kind<T> {
  readonly accepts: string;
  readonly type: z.ZodType<T>;
  readonly text?: (value: T) => string;
}

/** A setting with a default; null and an absent setting both mean "not given". */
export function setting<T, D extends T | undefined>(kind: Kind<T>, fallback: D, about: string) {
  const type = kind.type.nullish().transform((value): T | D => value ?? fallback);
  const defaultText = fallback === undefined ? '' : (kind.text ?? JSON.stringify)(fallback as T);
  SETTING_DOCS.add(type, { accepts: kind.accepts, defaultText: defaultText ?? '', about });
  return type;
}

/** A setting without which the operator does not start. */
export function mandatory<T>(kind: Kind<T>, about: string) {
  const type = z.unknown().transform((value, context): T => {
    const given = value ?? undefined;
    const result = given === undefined ? null : kind.type.safeParse(given);
    if (result?.success === true) return result.data;
    const message =
      result === null ? 'It must be given.' : `Expected ${kind.accepts}, found ${describe(value)}.`;
    context.issues.push({ code: 'custom', input: value, message });
    return z.NEVER;
  });
  SETTING_DOCS.add(type, { accepts: kind.accepts, defaultText: '', about });
  return type;
}

/** Settings by name; the section may be left out. */
export function section<S extends z.core.$ZodLooseShape>(shape: S) {
  return z.preprocess((value) => value ?? {}, z.strictObject(shape));
}

function kindOf<T>(accepts: string, type: z.ZodType<T>, text?: (value: T) => string): Kind<T> {
  return text === undefined ? { accepts, type } : { accepts, type, text };
}

function matching(accepts: string, isFit: (text: string) => boolean): Kind<string> {
  const type = parsed(
    (value) => (typeof value === 'string' && isFit(value) ? value : undefined),
    (value) => `Expected ${accepts}, found ${describe(value)}.`,
  );
  return kindOf(accepts, type, (value) => value);
}

export const CLUSTER_NAME = matching(
  'a name of letters, digits, dots, dashes and underscores, at most 253',
  (text) => /^[A-Za-z0-9][A-Za-z0-9._-]{0,252}$/.test(text),
);
export const OBJECT_NAME = matching('the name of a Kubernetes object', (text) =>
  /^[a-z0-9]([a-z0-9.-]{0,61}[a-z0-9])?$/.test(text),
);
export const PATH = matching('a path', (text) => text !== '' && !text.includes('\0'));
export const BOOTSTRAP_GROUP = /^system:bootstrappers:[a-z0-9:-]{0,255}[a-z0-9]$/;

function isHostPort(text: string, mayOmitHost = false): boolean {
  const [, host, port] = /^(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]*):(\d{1,5})$/.exec(text) ?? [];
  return port !== undefined && Number(port) <= 65_535 && (mayOmitHost || host !== '');
}

export const HOST_PORT = matching('HOST:PORT', (text) => isHostPort(text));
export const LISTEN_ADDRESS = matching('HOST:PORT, or :PORT for every address of this machine', (text) =>
  isHostPort(text, true),
);

const ADDRESSES_TEXT = 'one or several HOST:PORT, as a list or separated by commas';
export const ADDRESSES: Kind<readonly string[]> = kindOf(
  ADDRESSES_TEXT,
  parsed(
    (value) => {
      const texts: unknown = typeof value === 'string' ? addressList(value) : value;
      const isFit =
        Array.isArray(texts) &&
        texts.length > 0 &&
        texts.length <= 16 &&
        texts.every((text) => typeof text === 'string' && isHostPort(text));
      return isFit ? (texts as readonly string[]) : undefined;
    },
    (value) => `Expected ${ADDRESSES_TEXT}, found ${describe(value)}.`,
  ),
);

/** Timers of the runtime cannot be longer than 24.8 days. */
const MAX_TIMER_MS = 24 * 86_400_000;

/** Milliseconds. */
export function duration(min: string, max = '24d'): Kind<number> {
  const accepts = `a duration from ${min} to ${max}, such as 500ms, 10s or 5m`;
  const [least, most] = [parseDurationMs(min)!, Math.min(parseDurationMs(max)!, MAX_TIMER_MS)];
  const type = parsed(
    (value) => {
      const ms = typeof value === 'string' ? parseDurationMs(value) : undefined;
      return ms !== undefined && ms >= least && ms <= most ? ms : undefined;
    },
    (value) => `Expected ${accepts}, found ${describe(value)}.`,
  );
  return kindOf(accepts, type, durationText);
}

export const SWITCH: Kind<boolean> = kindOf('true or false', z.boolean());

export function oneOf<const T extends string>(...choices: readonly T[]): Kind<T> {
  return kindOf<T>(listText(choices), z.literal(choices) as unknown as z.ZodType<T>, (value) => value);
}

export function whole(min: number, max: number): Kind<number> {
  const accepts = `a whole number from ${min} to ${max}`;
  const error = ({ input }: { readonly input?: unknown }) => `Expected ${accepts}, found ${describe(input)}.`;
  return kindOf(accepts, z.number({ error }).int({ error }).min(min, { error }).max(max, { error }));
}

/** A value with a schema of its own. */
export function structured<T>(accepts: string, type: z.ZodType<T>): Kind<T> {
  return kindOf(accepts, type);
}
