// Test support: reads the commands for this program out of the pages of the documentation. Used by commands.test.ts.

import { globSync, readFileSync } from 'node:fs';

/** A line of a page that a reader types into a terminal. */
export interface DocCommand {
  readonly page: string;
  /** As the page has it, on one line, without prompt and comment; `bigfleet` in place of the call through npm. */
  readonly text: string;
  /** `export NAME=VALUE` is not run by itself: it is part of the environment of the commands after it. */
  readonly kind: 'bigfleet' | 'npm' | 'export';
  /** 0, unless the page shows another one by `$ echo $?`. */
  readonly exitCode: number;
}

export interface DocPage {
  readonly path: string;
  readonly commands: readonly DocCommand[];
  /** Contents by name, of YAML blocks that begin with a comment of a file name without a folder. */
  readonly files: ReadonlyMap<string, string>;
}

const PAGES = ['README.md', ...globSync('docs/**/*.md').sort()];

const BLOCK = /^([ \t]*)```(\w*)\n(.*?)^\1```/gms;
const FILE_NAME = /^# ([\w-]+\.yaml)\n/;

/** Languages in which each line is a command; in other blocks a prompt, `$ `, marks them. */
const SCRIPTS = ['sh', 'bash'];

export function docPages(): readonly DocPage[] {
  return PAGES.map((path) => docPage(path, readFileSync(path, 'utf8')));
}

export function docPage(path: string, markdown: string): DocPage {
  const commands: DocCommand[] = [];
  const files = new Map<string, string>();
  for (const [, indent = '', language = '', block = ''] of markdown.matchAll(BLOCK)) {
    const text = block.replaceAll(new RegExp(`^${indent}`, 'gm'), '');
    const [, name] = FILE_NAME.exec(text) ?? [];
    if (language === 'yaml' && name !== undefined) files.set(name, text);
    else commands.push(...commandsIn(path, language, text));
  }
  return { path, commands, files };
}

function commandsIn(page: string, language: string, block: string): DocCommand[] {
  const lines = block.replaceAll(/\s*\\\n\s*/g, ' ').split('\n');
  const hasPrompts = lines.some((line) => line.startsWith('$ '));
  const isScript = SCRIPTS.includes(language) || (language === '' && !hasPrompts);
  const found: DocCommand[] = [];
  for (const [n, line] of lines.entries()) {
    if (!line.startsWith('$ ') && (hasPrompts || !isScript)) continue;
    const text = withoutComment(line.replace(/^\$ /, ''))
      .replace(/^(?:npm run --silent|npx) bigfleet(?: --)?(?= |$)/, 'bigfleet')
      .trim();
    const kind = kindOf(text);
    if (kind !== null) found.push({ page, text, kind, exitCode: exitCodeAfter(lines.slice(n + 1)) });
  }
  return found;
}

function kindOf(text: string): DocCommand['kind'] | null {
  if (/^export [A-Z_]+=/.test(text)) return 'export';
  const [, kind] = /^(bigfleet|npm)(?: |$)/.exec(text) ?? [];
  return (kind as DocCommand['kind'] | undefined) ?? null;
}

/** What `$ echo $?` shows before the next command. */
function exitCodeAfter(lines: readonly string[]): number {
  const next = lines.findIndex((line) => line.startsWith('$ '));
  if (next === -1 || lines[next] !== '$ echo $?') return 0;
  return Number(lines[next + 1]);
}

function withoutComment(line: string): string {
  const quoted = /'[^']*'|"[^"]*"/g;
  const masked = line.replaceAll(quoted, (text) => 'x'.repeat(text.length));
  const start = masked.search(/\s#/);
  return start === -1 ? line : line.slice(0, start);
}

/** Words of a command as a shell reads them, up to a redirection or pipe; quotes and no variables. */
export function wordsOf(text: string): string[] {
  const words: string[] = [];
  for (const [, single, double, bare, operator] of text.matchAll(
    /'([^']*)'|"([^"]*)"|([^\s'"<>|&;]+)|([<>|&;])/g,
  )) {
    if (operator !== undefined) break;
    words.push(single ?? double ?? bare!);
  }
  return words;
}
