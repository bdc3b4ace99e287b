// Test support: reads the commands for this program out of the pages of the documentation. Used by commands.test.ts.

import { globSync, readFileSync } from 'node:fs';

/** A line of a page that a reader types into a terminal. */
export interface DocCommand {
  readonly page: string;
  /** As the page has it, on one line, without prompt and comment; `bigfleet` in place of the call through npm. */
  readonly text: string;
  /** `export NAME=VALUE` is not run by itself: it is part of the environment of the commands after it. */
  readonly kind: 'bigfleet' | 'curl' | 'npm' | 'kubectl' | 'export';
  /** 0, unless the page shows another one by `$ echo $?`. */
  readonly exitCode: number;
  /** Lines that the page shows as its output; none where it shows no output. */
  readonly shown: readonly string[];
}

export interface DocPage {
  readonly path: string;
  readonly commands: readonly DocCommand[];
  /** Calls of this program in running text, with capital letters for what the reader fills in. */
  readonly inline: readonly string[];
  /** Contents by name, of YAML blocks that begin with a comment of a file name without a folder. */
  readonly files: ReadonlyMap<string, string>;
}

const PAGES = ['README.md', ...globSync('docs/**/*.md').sort()];

const BLOCK = /^([ \t]*)```(\w*)\n(.*?)^\1```/gms;
/** Not `bigfleet ARGS`, which means any command. */
const INLINE = /`((?:npx )?bigfleet\s(?![A-Z])[^`]+)`/g;
const FILE_NAME = /^# ([\w-]+\.yaml)\n/;

/** Languages in which each line is a command; in other blocks a prompt, `$ `, marks them. */
const SCRIPTS = ['sh', 'bash'];
/** Help of commands in docs/reference/cli.md, whose examples are commands. */
const HELP = 'text';

/** The page with the help of each command in a section; the examples of a section belong together. */
export const REFERENCE = 'docs/reference/cli.md';

/** All pages; the reference in its sections, such as `docs/reference/cli.md: bigfleet get needs`. */
export function docPages(): readonly DocPage[] {
  return PAGES.flatMap((path) => {
    const markdown = readFileSync(path, 'utf8');
    if (path !== REFERENCE) return docPage(path, markdown);
    const [head = '', ...sections] = markdown.split(/^## /m);
    return [
      docPage(path, head),
      ...sections.map((section) => docPage(`${path}: ${section.split('\n')[0]}`, section)),
    ];
  });
}

export function docPage(path: string, markdown: string): DocPage {
  const commands: DocCommand[] = [];
  const files = new Map<string, string>();
  let endOfScript = -1;
  for (const { 0: whole, 1: indent = '', 2: language = '', 3: block = '', index } of markdown.matchAll(
    BLOCK,
  )) {
    const text = block.replaceAll(new RegExp(`^${indent}`, 'gm'), '');
    const [, name] = FILE_NAME.exec(text) ?? [];
    const found = language === HELP ? examplesIn(path, text) : commandsIn(path, language, text);
    const isAnswer = language === 'json' && commands.at(-1)?.kind === 'curl';
    const isOutput =
      endOfScript >= 0 && (language === '' || isAnswer) && markdown.slice(endOfScript, index).trim() === '';
    if (language === 'yaml' && name !== undefined) files.set(name, text);
    else if (isOutput && commands.length > 0)
      commands.push({ ...commands.pop()!, shown: text.trimEnd().split('\n') });
    else commands.push(...found);
    endOfScript = SCRIPTS.includes(language) && found.length === 1 ? index + whole.length : -1;
  }
  const inline = [...markdown.replaceAll(BLOCK, '').matchAll(INLINE)].map(([, text]) =>
    text!.replaceAll(/\s+/g, ' ').replace(/^npx /, ''),
  );
  return { path, commands, inline, files };
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
    const rest = lines.slice(n + 1);
    if (kind !== null)
      found.push({ page, text, kind, exitCode: exitCodeAfter(rest), shown: hasPrompts ? shownIn(rest) : [] });
  }
  return found;
}

/** Examples at the end of a help text, each on a line of its own, some with a remark after two spaces. */
function examplesIn(page: string, help: string): DocCommand[] {
  const [, examples = ''] = help.split(/^Examples:\n/m);
  const lines = examples.replaceAll(/\s*\\\n\s*/g, ' ').split('\n');
  return lines
    .map((line) => line.trim().replace(/ {2,}.*$/, ''))
    .flatMap((text): DocCommand[] => {
      const kind = kindOf(text);
      return kind === null ? [] : [{ page, text, kind, exitCode: 0, shown: [] }];
    });
}

/** Lines up to the next command, without empty ones. */
function shownIn(lines: readonly string[]): readonly string[] {
  const next = lines.findIndex((line) => line.startsWith('$ '));
  return (next === -1 ? lines : lines.slice(0, next)).filter((line) => line.trim() !== '');
}

function kindOf(text: string): DocCommand['kind'] | null {
  if (/^export [A-Z_]+=/.test(text)) return 'export';
  const [, kind] = /^(bigfleet|curl|npm|kubectl)(?: |$)/.exec(text) ?? [];
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
