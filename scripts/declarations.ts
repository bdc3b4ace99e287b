// Checks the published declarations of an entry point, for verify-package.ts: every exported name has a doc comment,
// and every type that its declarations refer to is exported by the same entry point, so that callers can name what they
// are given.

import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { parseSync } from '@swc/core';

/** A declaration, by its file and its name there. */
interface Place {
  readonly file: string;
  readonly name: string;
  /** Exported with `export type *`: a constant of this name is not part of the entry point. */
  readonly isTypeOnly?: boolean;
}

/** One parsed .d.ts file. Types refer to declarations by their local names. */
interface Declarations {
  readonly text: string;
  readonly own: ReadonlyMap<string, readonly Node[]>;
  /** Names that come from another file of the package; null for those of other packages. */
  readonly imported: ReadonlyMap<string, Place | null>;
  readonly exported: ReadonlyMap<string, Place | 'namespace'>;
  readonly namespaces: readonly string[];
}

type Node = Readonly<Record<string, unknown>>;

const parsed = new Map<string, Declarations>();

/** Every finding as one line; an empty list means that the declarations are complete. */
export function declarationProblems(entryFile: string): readonly string[] {
  const entry = read(entryFile);
  const named = [...entry.exported]
    .filter((pair): pair is [string, Place] => pair[1] !== 'namespace')
    .map(([name, place]) => ({ name, place: origin(place) }));
  const spaces = entry.namespaces.flatMap((file) =>
    [...read(file).exported.keys()].map((name) => ({
      name,
      place: { ...origin({ file, name }), isTypeOnly: true },
    })),
  );
  const known = new Set([...named, ...spaces].map(({ place }) => keyOf(place)));
  return [
    ...named.filter(({ place }) => !isDocumented(place)).map(({ name }) => `${name} has no doc comment`),
    ...[...named, ...spaces].flatMap(({ name, place }) =>
      leaksOf(place, known).map((leak) => `${name} refers to ${leak}, which is not exported`),
    ),
  ];
}

function leaksOf(
  { file, name, isTypeOnly = false }: Place,
  known: ReadonlySet<string>,
  seen = new Set<string>(),
): string[] {
  const declarations = read(file);
  const nodes = declarations.own
    .get(name)!
    .filter(({ type }) => !isTypeOnly || type !== 'VariableDeclaration');
  const leaks = new Set<string>();
  for (const reference of nodes.flatMap((node) => referencesOf(node))) {
    const imported = declarations.imported.get(reference);
    const isOwn = declarations.own.has(reference);
    // Names of the language, of Node and of packages that this one depends on.
    if (imported === null || (imported === undefined && !isOwn)) continue;
    const place = origin(imported ?? { file, name: reference });
    const key = keyOf(place);
    if (known.has(key) || seen.has(key)) continue;
    seen.add(key);
    // An alias that is local to its file only abbreviates its definition.
    const isPrivateAlias = isAlias(place) && !read(place.file).exported.has(place.name);
    if (isPrivateAlias) for (const leak of leaksOf(place, known, seen)) leaks.add(leak);
    else leaks.add(place.name);
  }
  return [...leaks];
}

/** Names of types in a declaration, without its own type parameters, private members and `typeof` queries. */
function referencesOf(node: Node): readonly string[] {
  const names = new Set<string>();
  const parameters = new Set<string>();
  const visit = (value: unknown): void => {
    if (Array.isArray(value)) value.forEach(visit);
    if (!isNode(value)) return;
    if (value['accessibility'] === 'private' || value['type'] === 'TsTypeQuery') return;
    if (value['type'] === 'TsTypeParameter') parameters.add(identifierOf(value['name']));
    if (value['type'] === 'TsTypeReference') names.add(identifierOf(value['typeName']));
    if (value['type'] === 'TsExpressionWithTypeArguments') names.add(identifierOf(value['expression']));
    if (isNode(value['superClass'])) names.add(identifierOf(value['superClass']));
    Object.values(value).forEach(visit);
  };
  visit(node);
  return [...names].filter((name) => name !== '' && !parameters.has(name));
}

/** The name that a type begins with: `A` of `A.B`. */
function identifierOf(node: unknown): string {
  if (!isNode(node)) return '';
  if (node['type'] === 'TsQualifiedName') return identifierOf(node['left']);
  return typeof node['value'] === 'string' ? node['value'] : '';
}

/** Follows re-exports to the file that declares the name. */
function origin({ file, name }: Place): Place {
  const { own, exported, imported } = read(file);
  if (own.has(name)) return { file, name };
  const next = exported.get(name);
  if (next !== undefined && next !== 'namespace' && keyOf(next) !== keyOf({ file, name }))
    return origin(next);
  const source = imported.get(name);
  if (source === undefined || source === null) throw new Error(`${file} does not declare ${name}.`);
  return origin(source);
}

function keyOf({ file, name }: Place): string {
  return `${file} ${name}`;
}

function isDocumented({ file, name }: Place): boolean {
  const declared = new RegExp(
    `\\*/\\n(export )?(declare )?(abstract )?(class|interface|type|const|function) ${name}\\b`,
  );
  return declared.test(read(file).text);
}

function isAlias({ file, name }: Place): boolean {
  return read(file)
    .own.get(name)!
    .every(({ type }) => type === ALIAS);
}

const ALIAS = 'TsTypeAliasDeclaration';

function read(file: string): Declarations {
  const known = parsed.get(file);
  if (known !== undefined) return known;
  const text = readFileSync(file, 'utf8');
  const own = new Map<string, Node[]>();
  const imported = new Map<string, Place | null>();
  const exported = new Map<string, Place | 'namespace'>();
  const namespaces: string[] = [];
  const declare = (node: Node, isExported: boolean): void => {
    for (const name of declaredNames(node)) {
      own.set(name, [...(own.get(name) ?? []), node]);
      if (isExported) exported.set(name, { file, name });
    }
  };
  for (const item of parseSync(text, { syntax: 'typescript' }).body as unknown as readonly Node[]) {
    const source = isNode(item['source']) ? fileOf(file, String(item['source']['value'])) : undefined;
    const specifiers = (item['specifiers'] ?? []) as readonly Node[];
    if (item['type'] === 'ExportDeclaration') declare(item['declaration'] as Node, true);
    else if (item['type'] === 'ImportDeclaration') {
      for (const specifier of specifiers) {
        const local = identifierOf(specifier['local']);
        const name = identifierOf(specifier['imported']) || local;
        imported.set(local, source === null ? null : { file: source!, name });
      }
    } else if (item['type'] === 'ExportAllDeclaration') {
      // A name that the file exports itself wins over one of `export *`.
      for (const name of source === null ? [] : read(source!).exported.keys())
        if (!exported.has(name)) exported.set(name, { file: source!, name });
    } else if (item['type'] === 'ExportNamedDeclaration') {
      for (const specifier of specifiers) {
        if (specifier['type'] === 'ExportNamespaceSpecifier') {
          exported.set(identifierOf(specifier['name']), 'namespace');
          namespaces.push(source!);
          continue;
        }
        const name = identifierOf(specifier['orig']);
        exported.set(identifierOf(specifier['exported']) || name, { file: source ?? file, name });
      }
    } else declare(item, false);
  }
  const declarations = { text, own, imported, exported, namespaces };
  parsed.set(file, declarations);
  return declarations;
}

function declaredNames(node: Node): readonly string[] {
  if (node['type'] === 'VariableDeclaration') {
    return (node['declarations'] as readonly Node[]).map(({ id }) => identifierOf(id));
  }
  const name = identifierOf(node['identifier'] ?? node['id']);
  return name === '' ? [] : [name];
}

/** The declaration file behind a relative import; null for another package. */
function fileOf(from: string, specifier: string): string | null {
  if (!specifier.startsWith('.')) return null;
  return resolve(dirname(from), specifier).replace(/\.[jt]s$/, '.d.ts');
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
