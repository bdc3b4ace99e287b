// Merge patch (RFC 7396), JSON patch (RFC 6902) and server-side apply, as far as the operator and the tests use them.

import { ApiError, badRequest } from './api-errors.ts';

export type Json = Readonly<Record<string, unknown>>;

export function isRecord(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function mergePatch(target: unknown, patch: unknown): unknown {
  if (!isRecord(patch)) return patch;
  const result: Record<string, unknown> = isRecord(target) ? { ...target } : {};
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) delete result[name];
    else result[name] = mergePatch(result[name], value);
  }
  return result;
}

interface Operation {
  readonly op: string;
  readonly path: string;
  readonly value?: unknown;
  readonly from?: string;
}

export function jsonPatch(target: unknown, operations: unknown): unknown {
  if (!Array.isArray(operations)) throw badRequest('a JSON patch is a list of operations');
  let document: unknown = structuredClone(target);
  for (const operation of operations as Operation[]) document = operate(document, operation);
  return document;
}

function operate(document: unknown, { op, path, value, from }: Operation): unknown {
  const parts = pointer(path);
  if (parts.length === 0) return op === 'remove' ? null : value;
  const last = parts.at(-1)!;
  const parent = lookUp(document, parts.slice(0, -1));
  const current = (parent as Record<string, unknown> | undefined)?.[last];
  const refuse = (why: string) =>
    new ApiError(422, 'Invalid', `the server rejected our request due to an error in our request: ${why}`);
  if (typeof parent !== 'object' || parent === null) throw refuse(`doc is missing path: ${path}`);
  switch (op) {
    case 'test':
      if (!isEqual(current, value)) throw refuse(`testing value ${path} failed`);
      break;
    case 'replace':
    case 'remove':
      if (current === undefined) throw refuse(`${op} operation does not apply: doc is missing key: ${path}`);
      if (op === 'replace') set(parent, last, value, false);
      else if (Array.isArray(parent)) parent.splice(Number(last), 1);
      else delete (parent as Record<string, unknown>)[last];
      break;
    case 'add':
      set(parent, last, value, true);
      break;
    case 'copy':
      set(parent, last, structuredClone(lookUp(document, pointer(from ?? ''))), true);
      break;
    default:
      throw refuse(`unexpected kind: ${op}`);
  }
  return document;
}

function set(parent: object, name: string, value: unknown, inserts: boolean): void {
  if (!Array.isArray(parent)) (parent as Record<string, unknown>)[name] = value;
  else if (name === '-') parent.push(value);
  else parent.splice(Number(name), inserts ? 0 : 1, value);
}

function pointer(path: string): readonly string[] {
  return path
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));
}

function lookUp(document: unknown, parts: readonly string[]): unknown {
  return parts.reduce<unknown>(
    (value, part) => (value as Record<string, unknown> | undefined)?.[part],
    document,
  );
}

export function isEqual(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  if (Array.isArray(a) !== Array.isArray(b)) return false;
  const names = Object.keys(a);
  return (
    names.length === Object.keys(b).length &&
    names.every((name) => name in b && isEqual((a as Json)[name], (b as Json)[name]))
  );
}

/** Paths of the leaves that each manager has applied, by manager. Lists are leaves, except conditions, keyed by type. */
export type FieldOwners = ReadonlyMap<string, ReadonlySet<string>>;

export interface Applied {
  readonly object: Json;
  readonly owners: FieldOwners;
}

const SEPARATOR = '\u0000';
/** Lists whose entries are merged by this field instead of being replaced as a whole. */
const LIST_KEYS: ReadonlyMap<string, string> = new Map([['conditions', 'type']]);

/** Fields that identify an object belong to no manager. */
const UNOWNED = ['apiVersion', 'kind', 'metadata'].map((name) => name);
const OWNED_METADATA = ['labels', 'annotations', 'ownerReferences', 'finalizers'];

/** `live`: null if the object does not exist. */
export function applyPatch(
  live: Json | null,
  wanted: Json,
  owners: FieldOwners,
  manager: string,
  force: boolean,
): Applied {
  const leaves = leavesOf(wanted);
  const current = live === null ? new Map<string, unknown>() : leavesOf(live);
  const causes = [...leaves]
    .filter(([path, value]) => current.has(path) && !isEqual(current.get(path), value))
    .flatMap(([path]) =>
      [...owners]
        .filter(([owner, paths]) => owner !== manager && paths.has(path))
        .map(([owner]) => ({
          reason: 'FieldManagerConflict',
          message: `conflict with "${owner}"`,
          field: `.${path.replaceAll(SEPARATOR, '.')}`,
        })),
    );
  if (causes.length > 0 && !force)
    throw new ApiError(
      409,
      'Conflict',
      `Apply failed with ${causes.length} conflict${causes.length === 1 ? '' : 's'}: ${causes.map(({ message, field }) => `${message}: ${field}`).join(', ')}`,
      { causes },
    );
  let object: unknown = live ?? {};
  const others = new Set(
    [...owners].filter(([owner]) => owner !== manager).flatMap(([, paths]) => [...paths]),
  );
  for (const path of owners.get(manager) ?? [])
    if (!leaves.has(path) && !others.has(path)) object = without(object, path.split(SEPARATOR));
  for (const [path, value] of leaves) object = withValue(object, path.split(SEPARATOR), value);
  const next = new Map<string, ReadonlySet<string>>(
    [...owners].map(([owner, paths]) => [
      owner,
      owner === manager
        ? paths
        : new Set(
            [...paths].filter((path) => !leaves.has(path) || isEqual(current.get(path), leaves.get(path))),
          ),
    ]),
  );
  next.set(manager, new Set(leaves.keys()));
  return { object: object as Json, owners: next };
}

/** Leaves that an update changed belong to the manager of the update from now on, and no longer to the others. */
export function updatedOwners(
  before: Json | null,
  after: Json,
  owners: FieldOwners,
  manager: string,
): FieldOwners {
  const old = before === null ? new Map<string, unknown>() : leavesOf(before);
  const changed = new Set(
    [...leavesOf(after)].filter(([path, value]) => !isEqual(old.get(path), value)).map(([path]) => path),
  );
  const next = new Map<string, ReadonlySet<string>>(
    [...owners].map(([owner, paths]) => [owner, new Set([...paths].filter((path) => !changed.has(path)))]),
  );
  next.set(manager, new Set([...(owners.get(manager) ?? []), ...changed]));
  return next;
}

function leavesOf(object: Json): Map<string, unknown> {
  const leaves = new Map<string, unknown>();
  for (const [name, value] of Object.entries(object))
    if (!UNOWNED.includes(name)) collect(leaves, [name], value);
  const metadata = isRecord(object['metadata']) ? object['metadata'] : {};
  for (const name of OWNED_METADATA)
    if (metadata[name] !== undefined) collect(leaves, ['metadata', name], metadata[name]);
  return leaves;
}

function collect(leaves: Map<string, unknown>, path: readonly string[], value: unknown): void {
  const key = LIST_KEYS.get(path.at(-1)!);
  if (isRecord(value) && Object.keys(value).length > 0)
    for (const [name, inner] of Object.entries(value)) collect(leaves, [...path, name], inner);
  else if (key !== undefined && Array.isArray(value))
    for (const entry of value as Json[])
      leaves.set([...path, `[${String(entry[key])}]`].join(SEPARATOR), entry);
  else leaves.set(path.join(SEPARATOR), value);
}

function withValue(target: unknown, [name, ...rest]: readonly string[], value: unknown): unknown {
  if (name === undefined) return value;
  if (name.startsWith('[')) {
    const list = Array.isArray(target) ? (target as unknown[]) : [];
    const at = list.findIndex((entry) => isEntry(entry, name));
    return at === -1 ? [...list, value] : list.with(at, value);
  }
  const record = isRecord(target) ? target : {};
  return { ...record, [name]: withValue(record[name], rest, value) };
}

function without(target: unknown, [name, ...rest]: readonly string[]): unknown {
  if (name === undefined || target === undefined) return target;
  if (name.startsWith('['))
    return Array.isArray(target) ? target.filter((entry) => !isEntry(entry, name)) : target;
  if (!isRecord(target)) return target;
  const { [name]: inner, ...others } = target;
  if (rest.length === 0) return others;
  return { ...others, [name]: without(inner, rest) };
}

function isEntry(entry: unknown, name: string): boolean {
  return isRecord(entry) && `[${String(entry['type'])}]` === name;
}
