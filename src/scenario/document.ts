// Parses JSON or YAML text into a plain value, for scenario.ts and offerings-file.ts. JSON is tried first because it is
// fast; anything else is parsed as YAML, which also accepts comments and trailing commas. A syntax error becomes a
// problem with line and column.

import { parseAllDocuments, parseDocument } from 'yaml';
import { ok, type Problem, printable, type Result, refused } from '../model/index.ts';
import { repeatedKey } from './json-keys.ts';

/** Bound on reuses of an anchor: enough for hand-written fleets, and a stop for entity bombs. */
const MAX_ALIAS_COUNT = 10_000;

/** Reads JSON or YAML; `<<` merge keys work. Duplicate keys and additional documents are refused. */
export function parseDocumentText(text: string): Result<unknown> {
  const body = text.startsWith('\uFEFF') ? text.slice(1) : text;
  if (/^\s*[{[]/.test(body)) {
    let value: unknown;
    try {
      value = JSON.parse(body);
    } catch (error) {
      // Not strict JSON. The YAML reader accepts the lenient forms: comments, trailing commas, names without quotes.
      const lenient = parseYaml(body);
      return lenient.ok || !IS_MEANT_AS_JSON.test(body)
        ? lenient
        : refused([notJson(body, error as SyntaxError)]);
    }
    const repeated = repeatedKey(body);
    if (repeated === null) return ok(value);
    return refused([
      unreadable(body, repeated.offset, `The key "${repeated.key}" appears twice in one object.`),
    ]);
  }
  return parseYaml(body);
}

function parseYaml(text: string): Result<unknown> {
  const documents = parseAllDocuments(text, { merge: true, prettyErrors: false, logLevel: 'silent' });
  const second = documents[1];
  if (second !== undefined) {
    return refused([unreadable(text, second.range[0], 'A second document begins here; a file holds one.')]);
  }
  const document = documents[0] ?? parseDocument(text);
  if (document.errors.length > 0) {
    return refused(document.errors.map((error) => unreadable(text, error.pos[0], error.message)));
  }
  try {
    return ok<unknown>(document.toJS({ maxAliasCount: MAX_ALIAS_COUNT }));
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return refused([{ code: 'BF_INPUT_UNREADABLE', path: '', message: printable(message) }]);
  }
}

/** An object whose first name is in quotes, or an array of values as JSON has them. */
const IS_MEANT_AS_JSON = /^\s*(\{\s*["}]|\[\s*(["[{\]\d-]|true|false|null))/;

/** Reports a syntax error in JSON terms, with its position, which V8 mostly includes in the message. */
function notJson(text: string, { message }: SyntaxError): Problem {
  const [, what = message, position] = /^(.*?) in JSON at position (\d+)/s.exec(message) ?? [];
  if (position !== undefined) return unreadable(text, Number(position), `This is not JSON: ${what}.`);
  const [token] = /^Unexpected token '.+?'(?=, )/su.exec(message) ?? [];
  if (token !== undefined) return unreadable(text, offsetOfToken(text), `This is not JSON: ${token}.`);
  return unreadable(text, text.length, 'This is not JSON: it ends too early.');
}

/** Binary search: the shortest prefix with the token is one longer than the longest prefix that merely ends too early. */
function offsetOfToken(text: string): number {
  let sound = 0;
  let wrong = text.length;
  while (wrong - sound > 1) {
    const middle = (sound + wrong) >>> 1;
    if (hasWrongToken(text.slice(0, middle))) wrong = middle;
    else sound = middle;
  }
  return sound;
}

function hasWrongToken(text: string): boolean {
  try {
    JSON.parse(text);
    return false;
  } catch (error) {
    return (error as SyntaxError).message.startsWith('Unexpected token');
  }
}

function unreadable(text: string, offset: number, message: string): Problem {
  const before = text.slice(0, offset).split('\n');
  const column = (before.at(-1)?.length ?? 0) + 1;
  return {
    code: 'BF_INPUT_UNREADABLE',
    path: '',
    message: `Line ${before.length}, column ${column}: ${printable(message)}`,
  };
}
