import { describe, expect, it } from 'vitest';
import { parseDocumentText } from './document.ts';

/** The messages of what was refused; empty if nothing was. */
function refusals(text: string): string[] {
  const result = parseDocumentText(text);
  return result.ok ? [] : result.problems.map(({ message }) => message);
}

describe('reading JSON or YAML', () => {
  it('given a key twice in one JSON object, then it is refused with line and column', () => {
    expect(refusals('{"a": 1,\n "b": {"c": 1}, "a": 2}')).toEqual([
      'Line 2, column 17: The key "a" appears twice in one object.',
    ]);
    expect(refusals('{"a": {"x": 1, "\\u0078": 2}}')).toHaveLength(1);
  });

  it('given equal keys in different objects or as values, then they are accepted', () => {
    const text = '{"a": {"a": "a", "b": ["a", "a", {"a": "{\\"a\\": 1, \\"a\\": 2}"}]}, "b": "a"}';
    expect(parseDocumentText(text)).toEqual({ ok: true, value: JSON.parse(text) as unknown });
  });

  it('given a key twice in YAML, then it is refused', () => {
    expect(refusals('a: 1\na: 2\n')).toHaveLength(1);
  });

  it('given a second YAML document, then it is refused instead of ignored', () => {
    expect(refusals('a: 1\n---\nb: 2\n')).toEqual([
      'Line 2, column 1: A second document begins here; a file holds one.',
    ]);
    expect(parseDocumentText('---\na: 1\n')).toEqual({ ok: true, value: { a: 1 } });
  });

  it.each([
    ['{"a": 1 "b": 2}', "Line 1, column 9: This is not JSON: Expected ',' or '}' after property value."],
    ['{\n "a": [1,\n 2}', "Line 3, column 3: This is not JSON: Expected ',' or ']' after array element."],
    ['{"a":\n [1, }]}', "Line 2, column 6: This is not JSON: Unexpected token '}'."],
    ['{"a": {', "Line 1, column 8: This is not JSON: Expected property name or '}'."],
    ['["a', 'Line 1, column 4: This is not JSON: Unterminated string.'],
    ['{"a": [', 'Line 1, column 8: This is not JSON: it ends too early.'],
  ])(
    'given the syntax error in %j, then it is reported in JSON terms with line and column',
    (text, expected) => {
      expect(refusals(text)).toEqual([expected]);
    },
  );

  it('given a syntax error in YAML that begins like an object, then it is reported in YAML terms', () => {
    const [first] = refusals('{a: 1, b: [2}');
    expect(first).toMatch(/Flow sequence/);
  });

  it('given JSON with comments and trailing commas, then it is accepted', () => {
    expect(parseDocumentText('{"a": [1,], # one\n}')).toEqual({ ok: true, value: { a: [1] } });
  });
});
