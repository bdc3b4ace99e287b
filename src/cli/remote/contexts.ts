// The file of the user's contexts: places of shards with credentials, and the one that is current. Read by flags.ts for
// every command against a shard, written by `bigfleet config` (config.ts).

import { randomUUID } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { BigFleetError, printable } from '../../model/index.ts';
import type { Credentials } from './client.ts';

/** Paths are absolute. */
export interface Context {
  readonly shard: string;
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
  readonly tokenFile?: string;
}

export interface ContextsFile {
  readonly current: string | null;
  readonly contexts: Readonly<Record<string, Context>>;
}

const NONE: ContextsFile = { current: null, contexts: {} };
const FIELDS = ['shard', 'ca', 'cert', 'key', 'tokenFile'] as const;

/** $BIGFLEET_CONFIG, or `bigfleet/config.yaml` in the user's configuration directory. */
export function contextsPath(env: NodeJS.ProcessEnv = process.env): string {
  const { BIGFLEET_CONFIG: given, XDG_CONFIG_HOME: base } = env;
  if (given !== undefined && given !== '') return resolve(given);
  return join(
    base === undefined || base === '' ? join(homedir(), '.config') : base,
    'bigfleet',
    'config.yaml',
  );
}

/** The context that commands use: $BIGFLEET_CONTEXT, or the current one of the file; null without one. */
export async function currentContext(): Promise<{
  readonly name: string;
  readonly shard: string;
  readonly credentials: Credentials;
} | null> {
  const named = process.env['BIGFLEET_CONTEXT'] || null;
  const path = contextsPath();
  const file = await readContexts(path);
  const name = named ?? file.current;
  if (name === null) return null;
  return { name, ...placeIn(contextNamed(file, name, path)) };
}

export function contextNamed({ contexts }: ContextsFile, name: string, path = contextsPath()): Context {
  const context = Object.hasOwn(contexts, name) ? contexts[name] : undefined;
  if (context !== undefined) return context;
  throw new BigFleetError(
    'BF_USAGE',
    `There is no context ${printable(name)} in ${printable(path)}. "bigfleet config get-contexts" lists them.`,
  );
}

function placeIn({ shard, ca, cert, key, tokenFile }: Context) {
  const pair = cert !== undefined && key !== undefined ? { cert, key } : {};
  const tls = ca === undefined ? null : { ca, ...pair };
  return { shard, credentials: { tls, tokenFile: tokenFile ?? null } };
}

/** The YAML library is loaded only where there is a file. */
export async function readContexts(path: string = contextsPath()): Promise<ContextsFile> {
  if (!existsSync(path)) return NONE;
  const { LineCounter, parseDocument } = await import('yaml');
  const lines = new LineCounter();
  const document = parseDocument(readText(path), { lineCounter: lines, prettyErrors: false });
  const fail = (offset: number | undefined, message: string): never => {
    const line = offset === undefined ? '' : `, line ${lines.linePos(offset).line}`;
    throw new BigFleetError('BF_INPUT_UNREADABLE', `${printable(path)}${line}: ${message}`);
  };
  const [error] = document.errors;
  if (error !== undefined) fail(error.pos[0], `${printable(error.message)}.`);
  const offsetOf = (keys: readonly string[]): number | undefined => {
    const node = document.getIn(keys, true) as { range?: readonly number[] | null } | undefined;
    return node?.range?.[0] ?? 0;
  };
  return contextsIn(document.toJS() as unknown, (keys, message) => fail(offsetOf(keys), message));
}

type Fail = (keys: readonly string[], message: string) => never;

function contextsIn(value: unknown, fail: Fail): ContextsFile {
  if (value === null) return NONE;
  if (!isRecord(value)) return fail([], 'expected "currentContext" and "contexts".');
  const { currentContext: current = null, contexts = {}, ...others } = value;
  for (const name of Object.keys(others)) fail([name], `unknown field "${printable(name)}".`);
  if (current !== null && typeof current !== 'string')
    fail(['currentContext'], 'expected the name of a context.');
  if (!isRecord(contexts)) return fail(['contexts'], 'expected contexts by name.');
  const read = Object.entries(contexts).map(
    ([name, context]) => [name, contextIn(name, context, fail)] as const,
  );
  return { current: current as string | null, contexts: Object.fromEntries(read) };
}

function contextIn(name: string, value: unknown, fail: Fail): Context {
  const at = (field: string) => ['contexts', name, field];
  if (!isRecord(value)) return fail(['contexts', name], 'expected a context with the field "shard".');
  for (const [field, text] of Object.entries(value)) {
    if (!FIELDS.some((known) => known === field))
      fail(at(field), `unknown field "${printable(field)}"; there are ${FIELDS.join(', ')}.`);
    if (typeof text !== 'string' || text === '') fail(at(field), `"${field}" must be a text.`);
  }
  if (value['shard'] === undefined) fail(['contexts', name], 'the field "shard" is missing.');
  return value as unknown as Context;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (cause) {
    throw new BigFleetError('BF_INPUT_UNREADABLE', `${(cause as Error).message}.`, { path, cause });
  }
}

/** Replaces the file at once, readable by its owner only, because it names keys and tokens. */
export async function writeContexts(file: ContextsFile, path: string = contextsPath()): Promise<void> {
  const { stringify } = await import('yaml');
  const text = stringify({
    ...(file.current === null ? {} : { currentContext: file.current }),
    contexts: file.contexts,
  });
  const partial = `${path}.${randomUUID()}`;
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    writeFileSync(partial, text, { mode: 0o600, flag: 'wx' });
    chmodSync(partial, 0o600);
    renameSync(partial, path);
  } catch (cause) {
    rmSync(partial, { force: true });
    throw new BigFleetError('BF_OUTPUT_UNWRITABLE', `${(cause as Error).message}.`, { path, cause });
  }
}
