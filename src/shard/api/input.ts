// What callers of the API send, read strictly: a filter or a field that is not known is refused, because a misspelt
// `cluster` would otherwise freeze the whole fleet.

import type { IncomingMessage } from 'node:http';
import { excerpt } from '../../model/index.ts';
import { Refusal } from './refusal.ts';

/** Enough for every order there is. */
const MAX_BODY_BYTES = 64 * 1024;

/** Rows of a list: by default, and at most. */
const DEFAULT_LIMIT = 1_000;
const MAX_LIMIT = 10_000;

/** Characters of an id, a name or a reason: all of them are for people to read. */
const MAX_TEXT = 1_000;

/** A cursor may hold the id of a freeze, which has the name of a cluster in it. */
const MAX_CURSOR = 8_192;

/** Unknown names that a refusal repeats. */
const MAX_NAMED = 10;

/** Texts by name, each at most once. */
export class Params {
  readonly #what: string;
  readonly #values: ReadonlyMap<string, unknown>;

  private constructor(
    what: string,
    entries: readonly (readonly [string, unknown])[],
    known: readonly string[],
  ) {
    const stray = entries.map(([name]) => name).filter((name) => !known.includes(name));
    const there = known.length === 0 ? 'there are none' : `there are ${known.join(', ')}`;
    const named = excerpt(stray.slice(0, MAX_NAMED).join(', '));
    if (stray.length > 0) throw new Refusal(400, `Unknown ${what}: ${named}; ${there}.`);
    this.#what = what;
    this.#values = new Map(entries);
    if (this.#values.size < entries.length) throw new Refusal(400, `A ${what} was given twice.`);
  }

  static ofQuery(query: URLSearchParams, known: readonly string[]): Params {
    return new Params('parameter', [...query], known);
  }

  static ofBody(body: object, known: readonly string[]): Params {
    // A null field counts as absent.
    const given = Object.entries(body).filter(([, value]) => value !== null);
    return new Params('field', given, known);
  }

  text(name: string, most = MAX_TEXT): string | undefined {
    const value = this.#values.get(name);
    if (value === undefined) return undefined;
    if (typeof value !== 'string') throw new Refusal(400, `The ${this.#what} "${name}" must be a text.`);
    const text = value.trim();
    if (text === '') throw new Refusal(400, `The ${this.#what} "${name}" is empty; leave it out instead.`);
    if (text.length > most)
      throw new Refusal(400, `The ${this.#what} "${name}" has more than ${most} characters.`);
    // A lone surrogate would become another character in a cursor or a database.
    if (text.isWellFormed()) return text;
    throw new Refusal(400, `The ${this.#what} "${name}" is not well-formed Unicode.`);
  }

  needed(name: string): string {
    const text = this.text(name);
    if (text !== undefined) return text;
    throw new Refusal(400, `The ${this.#what} "${name}" is missing.`);
  }

  oneOf<T extends string>(name: string, choices: readonly T[]): T | undefined {
    const text = this.text(name);
    if (text === undefined || (choices as readonly string[]).includes(text)) return text as T | undefined;
    throw new Refusal(400, `The ${this.#what} "${name}" must be one of ${choices.join(', ')}.`);
  }

  flag(name: string): boolean {
    return this.oneOf(name, ['true', 'false']) === 'true';
  }

  /** Milliseconds since the epoch. */
  time(name: string): number | undefined {
    const text = this.text(name);
    if (text === undefined) return undefined;
    if (/^\d{1,15}(\.\d{1,6})?$/.test(text)) return Number(text);
    throw new Refusal(400, `The ${this.#what} "${name}" must be a time in milliseconds since the epoch.`);
  }

  cursor(): string | undefined {
    return this.text('after', MAX_CURSOR);
  }

  limit(): number {
    const text = this.text('limit');
    if (text === undefined) return DEFAULT_LIMIT;
    const limit = /^\d{1,9}$/.test(text) ? Number(text) : 0;
    if (limit >= 1 && limit <= MAX_LIMIT) return limit;
    throw new Refusal(400, `The limit must be a whole number from 1 to ${MAX_LIMIT}.`);
  }
}

/** The JSON object in a request. */
export async function bodyOf(request: IncomingMessage): Promise<object> {
  // HTML forms cannot send this type, and a script of another site needs a CORS preflight for it.
  const [type] = (request.headers['content-type'] ?? '').split(';');
  if (type!.trim().toLowerCase() !== 'application/json') {
    throw new Refusal(415, 'Send a JSON object with "content-type: application/json".');
  }
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > MAX_BODY_BYTES) {
      throw new Refusal(413, `The request has more than ${MAX_BODY_BYTES} bytes.`, { connection: 'close' });
    }
    chunks.push(chunk);
  }
  const value = parsed(Buffer.concat(chunks).toString('utf8'));
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value;
  throw new Refusal(400, 'The request must be a JSON object.');
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new Refusal(400, `The request is not JSON: ${excerpt((error as Error).message)}.`);
  }
}
