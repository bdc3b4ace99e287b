// The effective configuration as YAML that --config accepts. A comment names the source of every value that is not the
// default. Printed by `bigfleet shard --print-config`.

import { stringify } from 'yaml';
import { printable } from '../../model/index.ts';
import type { LoadedConfig } from './config.ts';
import { KEYS, type SettingKey, settingOf, type Values } from './settings.ts';

export function printConfig({ values, origins }: LoadedConfig): string {
  const lines = [
    '# Configuration of a shard, as it is in force. docs/reference/configuration.md describes each setting.',
  ];
  let path: readonly string[] = [];
  for (const key of KEYS) {
    const parts = key.split('.');
    const sections = parts.slice(0, -1);
    const shared = sharedLength(path, sections);
    for (let depth = shared; depth < sections.length; depth++) {
      lines.push(`${'  '.repeat(depth)}${sections[depth]}:`);
    }
    path = sections;
    lines.push(
      ...settingLines(key, values, origins.get(key)).map((line) => '  '.repeat(sections.length) + line),
    );
  }
  return `${lines.join('\n')}\n`;
}

function sharedLength(a: readonly string[], b: readonly string[]): number {
  const at = b.findIndex((section, i) => section !== a[i]);
  return at < 0 ? b.length : at;
}

function settingLines(key: SettingKey, values: Values, origin: string | undefined): readonly string[] {
  const name = key.slice(key.lastIndexOf('.') + 1);
  const value = values[key];
  if (value === undefined) return [`# ${name}:`];
  const { kind, defaultValue } = settingOf(key);
  const plain = kind.write(value);
  const isDefault =
    JSON.stringify(plain) === JSON.stringify(defaultValue === undefined ? null : kind.write(defaultValue));
  const remark = isDefault || origin === undefined ? '' : `  # ${printable(origin)}`;
  if (!Array.isArray(plain) || plain.length === 0) return [`${name}: ${scalarText(plain)}${remark}`];
  return [`${name}:${remark}`, ...plain.map((item) => `  - ${JSON.stringify(item)}`)];
}

function scalarText(value: unknown): string {
  const text = stringify(value, { lineWidth: 0 }).trimEnd();
  // A block of several lines would need its own indentation; JSON is valid YAML.
  return text.includes('\n') ? JSON.stringify(value) : text;
}
