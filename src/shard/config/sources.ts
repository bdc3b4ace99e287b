// Sources of settings: a YAML file, the environment, flags. Each source returns raw values with their position, and a
// problem for each name that is not a setting. config.ts merges them.

import { isAlias, isMap, isScalar, LineCounter, type ParsedNode, parseDocument } from 'yaml';
import { type Problem, printable } from '../../model/index.ts';
import { didYouMean } from '../../runtime/nearest.ts';
import { isSettingKey, KEYS, type SettingKey, settingOf, VARIABLE_PREFIX, variableOf } from './settings.ts';

export interface Given {
  readonly key: SettingKey;
  readonly raw: unknown;
  /** Position for messages: `shard.yaml:3 cycle.interval`, the name of a variable, or a flag. */
  readonly where: string;
}

export interface Source {
  /** The source could not be read at all, so its values are unknown. */
  readonly isUnread?: boolean;
  readonly given: readonly Given[];
  readonly problems: readonly Problem[];
}

export function problem(path: string, message: string): Problem {
  return { code: 'BF_CONFIG_INVALID', path, message };
}

export function fromFile(path: string, text: string): Source {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false });
  const file = printable(path);
  if (document.errors.length > 0) {
    const problems = document.errors.map(({ message, pos }) =>
      problem(`${file}:${lines.linePos(pos[0]).line}`, `${message}.`),
    );
    return { isUnread: true, given: [], problems };
  }
  const given: Given[] = [];
  const problems: Problem[] = [];
  let isUnread = false;
  const walk = (node: ParsedNode | null, prefix: string): void => {
    if (node === null || (isScalar(node) && node.value === null)) return;
    if (!isMap(node)) {
      isUnread = prefix === '';
      const where = prefix === '' ? file : `${file}:${lines.linePos(node.range[0]).line} ${prefix}`;
      problems.push(problem(where, 'Expected settings by name, as in "listen: 127.0.0.1:7780".'));
      return;
    }
    for (const { key, value } of node.items) {
      const name = isScalar(key) ? String(key.value) : String(key);
      const full = prefix === '' ? name : `${prefix}.${name}`;
      const where = `${file}:${lines.linePos(key.range[0]).line} ${printable(full)}`;
      const target = isAlias(value) ? (value.resolve(document) as ParsedNode | undefined) : value;
      const current = currentName(full);
      if (isSettingKey(current)) given.push({ key: current, raw: target?.toJS(document) as unknown, where });
      else if (isSection(current)) walk(target ?? null, full);
      else problems.push(problem(where, `There is no such setting.${didYouMean(full, NAMES)}`));
    }
  };
  walk(document.contents, '');
  return { isUnread, given, problems };
}

/** Former names of sections; files and variables that use them are still accepted. */
const FORMER_SECTIONS: Readonly<Record<string, string>> = { rails: 'guardrails' };

function currentName(path: string): string {
  const [first = '', ...rest] = path.split('.');
  return [FORMER_SECTIONS[first] ?? first, ...rest].join('.');
}

const SECTIONS = new Set(KEYS.flatMap(sectionsOf));
const NAMES = [...KEYS, ...SECTIONS];

function sectionsOf(key: SettingKey): string[] {
  const parts = key.split('.');
  return parts.slice(1).map((_, i) => parts.slice(0, i + 1).join('.'));
}

function isSection(path: string): boolean {
  return SECTIONS.has(path);
}

const KEY_OF_VARIABLE = new Map(
  KEYS.flatMap((key) => [key, ...formerNames(key)].map((name) => [variableOf(name), key] as const)),
);

function formerNames(key: SettingKey): readonly string[] {
  const [first, ...rest] = key.split('.');
  return Object.entries(FORMER_SECTIONS).flatMap(([former, current]) =>
    current === first ? [[former, ...rest].join('.')] : [],
  );
}

/** Variables that Kubernetes sets in every pod for a service named bigfleet-shard or bigfleet-shard-…. */
const OF_A_SERVICE = /_SERVICE_(HOST|PORT)(_[A-Z0-9_]+)?$|_PORT(_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?)?$/;

/** An empty variable counts as not set. */
export function fromEnvironment(env: Readonly<Record<string, string | undefined>>): Source {
  const given: Given[] = [];
  const problems: Problem[] = [];
  for (const [name, raw] of Object.entries(env)) {
    if (!name.startsWith(VARIABLE_PREFIX) || raw === undefined || raw === '') continue;
    const key = KEY_OF_VARIABLE.get(name);
    if (key !== undefined) given.push({ key, raw, where: name });
    else if (!OF_A_SERVICE.test(name)) {
      const hint = didYouMean(name, KEY_OF_VARIABLE.keys());
      problems.push(problem(printable(name), `There is no such setting.${hint}`));
    }
  }
  return { given, problems };
}

/** Texts as typed; `true` for a switch without a value; a list for a flag that may be repeated. */
export type Flags = Readonly<Partial<Record<SettingKey, string | true | readonly string[]>>>;

export function fromFlags(flags: Flags): Source {
  const given = KEYS.filter((key) => flags[key] !== undefined).map((key) => {
    return { key, raw: flags[key], where: `--${settingOf(key).flag}` };
  });
  return { given, problems: [] };
}
