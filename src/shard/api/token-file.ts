// The file with the tokens of API callers: a YAML list of names with a role and the SHA-256 of a token. Checked for
// changes every few seconds; content that is not valid leaves the previous content in force, so that a mistake while
// editing locks no caller out. Read by access.ts.

import { createHash, timingSafeEqual } from 'node:crypto';
import { readFileSync, type Stats, statSync } from 'node:fs';
import { LineCounter, parseDocument } from 'yaml';
import * as z from 'zod';
import { BigFleetError, printable } from '../../model/index.ts';
import type { Log } from '../../runtime/logger.ts';
import { requireValid } from '../../runtime/validation.ts';

/** view: may read. operate: may also order. */
export type Role = 'view' | 'operate';

export interface TokenEntry {
  readonly name: string;
  readonly role: Role;
  /** SHA-256 of the token. */
  readonly digest: Buffer;
}

const MAX_FILE_BYTES = 1024 * 1024;
const MAX_NAME = 253;

/** Characters of a token that is in the file as it is. Shorter ones can be guessed, also from their SHA-256. */
const TOKEN_LENGTH = { min: 20, max: 1000 };

/** Modes that are refused: writable by other users than the owner, or readable by all. Groups may read it, as Kubernetes
 * mounts Secrets that way. */
const REFUSED_MODE = 0o027;
const GROUP_READ = 0o040;

// The texts of problems never contain the value: it may be a token in the wrong place.
const ENTRY = z.strictObject(
  {
    name: z
      .string({ error: 'Expected a name as text.' })
      .trim()
      .regex(/^\P{C}+$/u, { error: 'Expected a name without control characters.' })
      .max(MAX_NAME, { error: `Expected a name of at most ${MAX_NAME} characters.` }),
    role: z.enum(['view', 'operate'], { error: 'Expected view or operate.' }),
    sha256: z
      .string({ error: 'Expected a text of 64 hexadecimal digits.' })
      .regex(/^[0-9a-f]{64}$/i, { error: 'Expected 64 hexadecimal digits.' })
      .optional(),
    token: z
      .string({ error: 'Expected a token as text; write it in quotes.' })
      .regex(/^[\x21-\x7e]*$/, { error: 'Expected printable ASCII without spaces.' })
      .min(TOKEN_LENGTH.min, { error: `Expected at least ${TOKEN_LENGTH.min} characters.` })
      .max(TOKEN_LENGTH.max, { error: `Expected at most ${TOKEN_LENGTH.max} characters.` })
      .optional(),
  },
  {
    error: (issue) => (issue.code === 'invalid_type' ? 'Expected { name, role, sha256 }.' : undefined),
  },
);

const ENTRIES = z.array(
  ENTRY.refine(({ sha256, token }) => (sha256 === undefined) !== (token === undefined), {
    error: 'Expected sha256 or token, and not both.',
  }),
  { error: 'Expected a list of { name, role, sha256 }.' },
);

export class TokenFile {
  readonly #path: string;
  readonly #log: Log;
  #stamp: string;
  #entries: readonly TokenEntry[];

  /** Throws BF_API_TOKENS_INVALID if the file cannot be used at the start. */
  constructor(path: string, log: Log) {
    this.#path = path;
    this.#log = log;
    const stats = statsOf(path);
    this.#stamp = stampOf(stats);
    this.#entries = this.#read(stats);
  }

  /** Reloads the file if it changed. Returns whether its entries are in force now. */
  refresh(): boolean {
    let stamp = 'missing';
    try {
      const stats = statsOf(this.#path);
      stamp = stampOf(stats);
      if (stamp === this.#stamp) return false;
      this.#entries = this.#read(stats);
      this.#log('info', 'api-tokens-loaded', { path: this.#path, tokens: this.#entries.length });
      return true;
    } catch (error) {
      if (stamp !== this.#stamp)
        this.#log('error', 'api-tokens-refused', { path: this.#path, tokens: this.#entries.length, error });
      return false;
    } finally {
      this.#stamp = stamp;
    }
  }

  /** The entry of a token; null: there is none. */
  entryFor(token: string): TokenEntry | null {
    return this.entryWith(sha256(token));
  }

  /** The entry with this digest. Compares all entries in constant time, so that the time says nothing about any. */
  entryWith(digest: Buffer): TokenEntry | null {
    let found: TokenEntry | null = null;
    for (const entry of this.#entries) if (timingSafeEqual(entry.digest, digest)) found = entry;
    return found;
  }

  #read({ mode, size }: Stats): readonly TokenEntry[] {
    if ((mode & REFUSED_MODE) !== 0) {
      const found = `It has mode ${(mode & 0o777).toString(8)}, so that other users can read or change it.`;
      throw refused(this.#path, found);
    }
    if (size > MAX_FILE_BYTES) throw refused(this.#path, `It has more than ${MAX_FILE_BYTES} bytes.`);
    const values = requireValid(ENTRIES, yamlIn(this.#path), 'BF_API_TOKENS_INVALID', printable(this.#path));
    if ((mode & GROUP_READ) !== 0 && values.some(({ token }) => token !== undefined))
      this.#log('warn', 'api-tokens-readable', { path: this.#path, why: 'its group can read the tokens' });
    const entries = values.map(({ name, role, sha256: hex, token }) => {
      return { name, role, digest: token === undefined ? Buffer.from(hex!, 'hex') : sha256(token) };
    });
    const digests = entries.map(({ digest }) => digest.toString('hex'));
    const twice = digests.findIndex((digest, i) => digests.indexOf(digest) !== i);
    if (twice >= 0) throw refused(this.#path, `Entry ${twice + 1} has the token of another entry.`);
    return entries;
  }
}

export function sha256(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

function statsOf(path: string): Stats {
  try {
    return statSync(path);
  } catch (cause) {
    throw refused(path, `${(cause as Error).message}.`, cause);
  }
}

/** Mode included, since a file may be refused for it and corrected without a change to its content. */
function stampOf({ mtimeMs, ctimeMs, ino, size, mode }: Stats): string {
  return [mtimeMs, ctimeMs, ino, size, mode].join(' ');
}

function yamlIn(path: string): unknown {
  const lines = new LineCounter();
  const document = parseDocument(textOf(path), { lineCounter: lines, prettyErrors: false });
  const [error] = document.errors;
  if (error === undefined) return document.toJS() as unknown;
  // Without the message of the parser, which may quote the file.
  throw refused(path, `Line ${lines.linePos(error.pos[0]).line} is not YAML (${error.code}).`);
}

function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (cause) {
    throw refused(path, `${(cause as Error).message}.`, cause);
  }
}

function refused(path: string, message: string, cause?: unknown): BigFleetError {
  return new BigFleetError('BF_API_TOKENS_INVALID', `${printable(path)}: ${message}`, { cause });
}
