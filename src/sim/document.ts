// A text in JSON or YAML becomes a plain value. JSON is tried first because it is fast; anything else is YAML,
// which also forgives comments and trailing commas. What cannot be read is a problem with its line and column.

import { parseDocument } from 'yaml';
import { ok, type Problem, printable, type Result, refused } from '../model/index.ts';

/** How often an anchor may be reused: plenty for hand-written fleets, a stop for entity bombs. */
const MAX_ALIAS_COUNT = 10_000;

/** Reads JSON or YAML; `<<` merge keys work. Duplicate keys in YAML are refused. */
export function parseDocumentText(text: string): Result<unknown> {
  const body = text.startsWith('\uFEFF') ? text.slice(1) : text;
  if (/^\s*[{[]/.test(body)) {
    try {
      return ok<unknown>(JSON.parse(body));
    } catch {
      // Not strict JSON. The YAML reader accepts the lenient forms and says where the others go wrong.
    }
  }
  return parseYaml(body);
}

function parseYaml(text: string): Result<unknown> {
  const document = parseDocument(text, { merge: true, prettyErrors: false, logLevel: 'silent' });
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

function unreadable(text: string, offset: number, message: string): Problem {
  const before = text.slice(0, offset).split('\n');
  const column = (before.at(-1)?.length ?? 0) + 1;
  return {
    code: 'BF_INPUT_UNREADABLE',
    path: '',
    message: `Line ${before.length}, column ${column}: ${printable(message)}`,
  };
}
