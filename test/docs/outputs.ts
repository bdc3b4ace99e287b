// Test support: what the output of a command of the documentation must be: not empty, of the format asked for, and what
// its page shows, as far as that does not differ from fleet to fleet. Used by commands.test.ts.

import { parse } from 'yaml';
import type { DocCommand } from './doc-commands.ts';

/** Commands whose output depends on their arguments and files alone; `…` means lines or the end of one. */
const STABLE =
  /^bigfleet (?:(?:decide|whatif) .*examples\/|decide fleet\.yaml$|explain [\w.-]+$|operator check )/;
/** Commands that write their output into a file. */
const INTO_FILE = /^bigfleet export -o /;
/** At least two words in capital letters, two spaces apart. */
const HEADERS = /^ *[A-Z][A-Z ]*(?: {2,}[A-Z][A-Z ]*)+$/;

/** What is wrong with the output of a command that has ended as it should; null if nothing is. */
export function outputProblem(
  { text, kind, shown, exitCode }: DocCommand,
  output: string,
  errors: string,
): string | null {
  if (/[|>]/.test(text) || INTO_FILE.test(text)) return null;
  if (exitCode !== 0) return shownProblem(text, shown, output + errors);
  if (output.trim() === '') return 'It prints nothing.';
  if (kind === 'curl') return answerProblem(shown, output);
  const [, format] = / (?:-o|--output) (\w+)/.exec(text) ?? [];
  return formatProblem(format ?? 'text', output) ?? shownProblem(text, shown, output);
}

function formatProblem(format: string, output: string): string | null {
  const lines = output.trimEnd().split('\n');
  switch (format) {
    case 'json':
      return doesParse(JSON.parse, output) ? null : 'It is not JSON.';
    case 'yaml':
      return doesParse(parse, output) ? null : 'It is not YAML.';
    case 'name':
      return lines.every((line) => /^\w+\/\S+$/.test(line)) ? null : 'It is not a list of KIND/NAME.';
    case 'csv':
      return lines.every((line) => line.includes(',')) ? null : 'It is not CSV.';
    default:
      return null;
  }
}

/** An answer of the API: JSON with the fields that the page shows, or a text, of which CSV has the same columns. */
function answerProblem(shown: readonly string[], output: string): string | null {
  const [first = ''] = shown;
  if (!/^[{[]/.test(first)) {
    const isSame = !/^\w+(?:,\w+)+$/.test(first) || output.startsWith(`${first}\r\n`);
    return isSame ? null : `It has no columns ${first}.`;
  }
  if (!doesParse(JSON.parse, output)) return 'It is not JSON.';
  const answer = JSON.parse(output) as object;
  const missing = fieldsIn(shown.join('\n')).find((name) => !Object.hasOwn(answer, name));
  return missing === undefined ? null : `It has no field "${missing}".`;
}

/** Names of the fields of an object that a page shows, with `…` for what it leaves out. */
function fieldsIn(json: string): readonly string[] {
  const fields: string[] = [];
  let depth = 0;
  for (const [token, name] of json.matchAll(/"((?:[^"\\]|\\.)*)"(?:\s*:)?|[{}[\]]/g)) {
    if (token === '{' || token === '[') depth++;
    else if (token === '}' || token === ']') depth--;
    else if (depth === 1 && token.endsWith(':')) fields.push(name!);
  }
  return fields;
}

function doesParse(read: (text: string) => unknown, text: string): boolean {
  try {
    const value = read(text);
    return typeof value === 'object' && value !== null;
  } catch {
    return false;
  }
}

function shownProblem(text: string, shown: readonly string[], output: string): string | null {
  const lines = output.split('\n').map((line) => line.trimEnd());
  if (STABLE.test(text)) {
    const wanted = shown.map((line) => line.trimEnd()).filter((line) => line !== '' && line !== '…');
    const isShown = (line: string): boolean =>
      line.endsWith('…') ? lines.some((each) => each.startsWith(line.slice(0, -1))) : lines.includes(line);
    const missing = wanted.find((line) => !isShown(line));
    return missing === undefined ? null : `It does not print "${missing}".`;
  }
  // Columns without a value are left out, the first one never is.
  const firstOf = (line: string): string => line.trim().split(/ {2,}/)[0]!;
  const header = shown.find((line) => HEADERS.test(line));
  if (header === undefined || !lines.some((line) => HEADERS.test(line))) return null;
  return lines.some((line) => HEADERS.test(line) && firstOf(line) === firstOf(header))
    ? null
    : `It has no table that begins with ${firstOf(header)}.`;
}
