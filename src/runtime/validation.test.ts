import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import type { Problem } from '../model/index.ts';
import {
  given,
  mandatoryText,
  mapOf,
  numberIn,
  parsed,
  requireValid,
  resources,
  TIME,
  validate,
  validateRecord,
} from './validation.ts';

const PORT = numberIn({ min: 1, max: 65_535, integer: true });
const HOST = z.strictObject({
  name: mandatoryText('The host has no name.', 'BF_MACHINE_ID_EMPTY'),
  port: given(PORT, 80),
  labels: given(mapOf(z.string()), new Map<string, string>()),
  zones: given(z.array(z.string()), []),
});
const HOSTS = z.strictObject({ hosts: z.array(HOST) });

function problemsOf<T>(schema: z.ZodType<T>, value: unknown): readonly string[] {
  const result = validate(schema, value);
  return result.ok ? [] : result.problems.map(({ path, code, message }) => `${path} ${code} ${message}`);
}

describe('validate', () => {
  it('given a valid value, then absent and null fields have their defaults', () => {
    expect(validate(HOST, { name: 'a', port: null, labels: { zone: 'b' } })).toEqual({
      ok: true,
      value: { name: 'a', port: 80, labels: new Map([['zone', 'b']]), zones: [] },
    });
  });

  it('given many mistakes, then every problem has its path, in the order of the fields, unknown ones last', () => {
    const hosts = [
      { prot: 1, zones: ['a', 2], labels: { 'example.com/rack': 7, zone: 'b' }, port: 65_536 },
      { name: 5, port: '80' },
      'web',
    ];
    expect(problemsOf(HOSTS, { hosts })).toEqual([
      'hosts[0].name BF_MACHINE_ID_EMPTY The host has no name.',
      'hosts[0].port BF_INPUT_INVALID Expected a whole number from 1 to 65535, found 65536.',
      'hosts[0].labels["example.com/rack"] BF_INPUT_INVALID Expected text, found the number 7. Write "7" in quotes.',
      'hosts[0].zones[1] BF_INPUT_INVALID Expected text, found the number 2. Write "2" in quotes.',
      'hosts[0].prot BF_INPUT_INVALID Unknown field; known here: name, port, labels, zones. Did you mean port?',
      'hosts[1].name BF_INPUT_INVALID Expected text, found the number 5. Write "5" in quotes.',
      'hosts[1].port BF_INPUT_INVALID Expected a number, found "80".',
      'hosts[2] BF_INPUT_INVALID Expected an object, found "web".',
    ]);
  });

  it.each([[null], [[]], ['text'], [7]])(
    'given %j instead of an object, then that is the only problem',
    (value) => {
      expect(problemsOf(HOST, value)).toEqual([
        expect.stringMatching(/^ BF_INPUT_INVALID Expected an object, found /),
      ]);
    },
  );

  it('given names that JavaScript objects have, then they are unknown as fields and allowed as labels', () => {
    const hostile: unknown = JSON.parse('{ "name": "a", "__proto__": {}, "constructor": {} }');
    expect(problemsOf(HOST, hostile)).toEqual([
      expect.stringContaining('__proto__ BF_INPUT_INVALID Unknown field'),
      expect.stringContaining('constructor BF_INPUT_INVALID Unknown field'),
    ]);
    const labels: unknown = JSON.parse('{ "__proto__": "x" }');
    expect(validate(mapOf(z.string()), labels)).toEqual({ ok: true, value: new Map([['__proto__', 'x']]) });
  });

  it('given an invalid value where a caller cannot go on, then the error has a line for each problem', () => {
    const read = (value: unknown) => requireValid(HOST, value, 'BF_USAGE', 'The host');
    expect(read({ name: 'a' })).toMatchObject({ name: 'a', port: 80 });
    expect(() => read({ name: 'a', port: 0, zones: 1 })).toThrow(
      /BF_USAGE: The host:\n {2}port: .*\n {2}zones: Expected a list/,
    );
    expect(() => read(7)).toThrow('The host:\n  Expected an object, found the number 7.\n');
  });

  it('given long and unprintable names and values, then problems show an excerpt', () => {
    const [problem] = problemsOf(HOST, { name: 'a', [`\u001b[31m${'x'.repeat(10_000)}`]: 1 });
    expect(problem).toContain('\\u001b[31m');
    expect(problem!.length).toBeLessThan(2000);
    const [value] = problemsOf(HOST, { name: 'a', port: `\u202e${'x'.repeat(10_000)}` });
    expect(value).toContain('\\u202e');
    expect(value!.length).toBeLessThan(200);
  });
});

describe('kinds of values', () => {
  it.each([
    ['2026-01-01T02:00:00.1239+02:00', Date.UTC(2026, 0, 1) + 123],
    ['2026-01-01 00:00:00z', Date.UTC(2026, 0, 1)],
    [5.5, 5.5],
  ])('given the time %j, then it is %d milliseconds', (text, ms) => {
    expect(validate(TIME, text)).toEqual({ ok: true, value: ms });
  });

  it.each([['2026-02-30T00:00:00Z'], ['today'], [Number.NaN], [{}]])(
    'given %j as a time, then it is refused',
    (value) => {
      expect(problemsOf(TIME, value)).toEqual([
        expect.stringContaining('Expected RFC 3339 time or milliseconds'),
      ]);
    },
  );

  it('given quantities, then they are exact integers of their unit, and every refusal has its code', () => {
    expect(validate(resources('up'), { cpu: '0.0015', memory: '1Gi', pods: 3 })).toEqual({
      ok: true,
      value: new Map([
        ['cpu', 2],
        ['memory', 2 ** 30],
        ['pods', 3],
      ]),
    });
    expect(problemsOf(resources('up'), { '': '1', cpu: '-1', memory: '9Ei', pods: null })).toEqual([
      ' BF_RESOURCE_NAME A resource has no name.',
      'cpu BF_QUANTITY_NEGATIVE Quantity "-1" is below zero.',
      'memory BF_QUANTITY_OVERFLOW Quantity "9Ei" is too large to count exactly.',
      'pods BF_QUANTITY_SYNTAX Expected a quantity, found nothing.',
    ]);
  });

  it('given a value that only a function can read, then its refusal has a text and a code', () => {
    const even = parsed(
      (value) => (typeof value === 'number' && value % 2 === 0 ? value : undefined),
      (value) => `${String(value)} is odd.`,
      'BF_BUCKET_RANGE',
    );
    expect(validate(given(even, 0), 4)).toEqual({ ok: true, value: 4 });
    expect(problemsOf(given(even, 0), 3)).toEqual([' BF_BUCKET_RANGE 3 is odd.']);
  });
});

describe('validateRecord', () => {
  const schema = z.strictObject({ low: PORT, high: given(PORT, 10) });
  const lenient = schema.extend({ low: given(PORT, 1) });

  function read(value: unknown): readonly string[] {
    const problems: Problem[] = [];
    validateRecord({ schema, lenient }, value, 'range', problems, ({ low, high }) => {
      if (low > high)
        problems.push({ code: 'BF_INPUT_INVALID', path: 'range', message: 'low is above high' });
    });
    return problems.map(({ path, message }) => `${path}: ${message}`);
  }

  it('given an invalid field, then rules run on the others, and unknown fields come last', () => {
    expect(read({ low: 20 })).toEqual(['range: low is above high']);
    expect(read({ low: 20, high: 'x', hihg: 3 })).toEqual([
      'range.high: Expected a number, found "x".',
      'range: low is above high',
      'range.hihg: Unknown field; known here: low, high. Did you mean high?',
    ]);
    expect(read({ high: 0 })).toEqual([
      'range.low: Expected a number, found nothing.',
      'range.high: Expected a whole number from 1 to 65535, found 0.',
    ]);
  });

  it('given something else than an object, then no rule runs', () => {
    expect(read([])).toEqual(['range: Expected an object, found a list.']);
  });
});
