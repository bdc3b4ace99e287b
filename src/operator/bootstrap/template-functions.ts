// Functions of bootstrap templates: quoting for the languages that user data is written in, and access to labels. None
// reads anything but its arguments and the values of the request. Listed in docs/operate/operator.md.

import { gzipSync } from 'node:zlib';
import type { TemplateRecord, TemplateType, TemplateValue } from './template.ts';

export interface TemplateFunction {
  readonly takes: readonly (TemplateType | 'anything')[];
  readonly gives: TemplateType;
  /** Throws if it refuses a value. `values`: those of the request. */
  readonly run: (args: readonly TemplateValue[], values: TemplateRecord) => TemplateValue;
  /** For the list of functions on the page. */
  readonly about: string;
}

export const FUNCTIONS: Readonly<Record<string, TemplateFunction>> = {
  label: {
    takes: ['text'],
    gives: 'text',
    run: ([key], values) => (values['labels'] as ReadonlyMap<string, string>).get(key as string) ?? '',
    about: 'the label of the machine with this key, or an empty text',
  },
  shell: {
    takes: ['text'],
    gives: 'text',
    run: ([text]) => shellWord(text as string),
    about: 'one word of a POSIX shell, in single quotes',
  },
  json: {
    takes: ['anything'],
    gives: 'text',
    run: ([value]) => jsonText(value!),
    about: 'JSON, which is also YAML',
  },
  base64: {
    takes: ['text'],
    gives: 'text',
    run: ([text]) => Buffer.from(text as string).toString('base64'),
    about: 'base64 without line breaks',
  },
  gzip64: {
    takes: ['text'],
    gives: 'text',
    run: ([text]) => gzipSync(text as string).toString('base64'),
    about: 'compressed by gzip, then base64; cloud-init reads it as `encoding: gz+b64`',
  },
  indent: {
    takes: ['number', 'text'],
    gives: 'text',
    run: ([columns, text]) =>
      (text as string).replaceAll(/\n(?=[^\n])/g, `\n${' '.repeat(Math.min(columns as number, 100))}`),
    about: 'blanks before every line but the first, for blocks in YAML',
  },
  join: {
    takes: ['text', 'texts'],
    gives: 'text',
    run: ([separator, texts]) => (texts as readonly string[]).join(separator as string),
    about: 'the texts of a list, with a separator',
  },
  equals: {
    takes: ['text', 'text'],
    gives: 'truth',
    run: ([a, b]) => a === b,
    about: 'whether two texts are equal, for #if',
  },
  not: {
    takes: ['anything'],
    gives: 'truth',
    run: ([value]) =>
      value === '' ||
      value === 0 ||
      value === false ||
      (value instanceof Map && value.size === 0) ||
      (Array.isArray(value) && value.length === 0),
    about: 'whether a value is empty, for #if',
  },
};

function shellWord(text: string): string {
  if (text.includes('\0')) throw new Error('a shell word cannot have a zero byte');
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

function jsonText(value: TemplateValue): string {
  return JSON.stringify(value instanceof Map ? Object.fromEntries(value) : value, (_, each: unknown) =>
    each instanceof Map ? Object.fromEntries(each) : each,
  );
}
