import { describe, expect, it } from 'vitest';
import { BigFleetError } from './errors.ts';
import { formatQuantity, MAX_UNITS, parseQuantity } from './quantity.ts';

// text, resource, units as demand (rounded up), units as supply (rounded down)
type Row = readonly [text: string, resource: string, demand: number, supply: number];

const whole = (text: string, resource: string, units: number): Row => [text, resource, units, units];
const memory = (text: string, units: number): Row => whole(text, 'memory', units);
const cpu = (text: string, units: number): Row => whole(text, 'cpu', units);

const SUFFIXES: readonly Row[] = [
  memory('3000000000n', 3),
  memory('3000000u', 3),
  memory('3000m', 3),
  memory('3', 3),
  memory('3k', 3000),
  memory('3M', 3_000_000),
  memory('3G', 3_000_000_000),
  memory('3T', 3_000_000_000_000),
  memory('3P', 3_000_000_000_000_000),
  memory('0.003E', 3_000_000_000_000_000),
  memory('3Ki', 3072),
  memory('3Mi', 3 * 2 ** 20),
  memory('3Gi', 3 * 2 ** 30),
  memory('3Ti', 3 * 2 ** 40),
  memory('3Pi', 3 * 2 ** 50),
  memory('0.00390625Ei', 2 ** 52),
];

const EXPONENTS: readonly Row[] = [
  memory('1e3', 1000),
  memory('1E3', 1000),
  memory('1e+3', 1000),
  memory('1E+3', 1000),
  memory('5000e-3', 5),
  memory('5000E-3', 5),
  memory('1.5e3', 1500),
  memory('1e0', 1),
  memory('1e03', 1000),
  memory('1e-0', 1),
  memory('0e999999999', 0),
  memory('0e-999999999', 0),
  cpu('2e0', 2000),
  cpu('2e-3', 2),
  ['1e-999999999', 'memory', 1, 0],
  [`1e-${'9'.repeat(100)}`, 'cpu', 1, 0],
];

const NUMBERS: readonly Row[] = [
  memory('0', 0),
  memory('00', 0),
  memory('007', 7),
  memory('+5', 5),
  memory('-0', 0),
  memory('-0.0Gi', 0),
  memory('5.', 5),
  memory('5.Ki', 5120),
  memory('0.', 0),
  memory('.0', 0),
  memory('+.5Ki', 512),
  cpu('.5', 500),
  cpu('5.', 5000),
  memory('1.5Gi', 1.5 * 2 ** 30),
  memory('1.000000000000000000000000000', 1),
  whole('8', 'nvidia.com/gpu', 8),
  whole('1k', 'nvidia.com/gpu', 1000),
  whole('1', 'CPU', 1),
];

const ROUNDED: readonly Row[] = [
  ['1n', 'memory', 1, 0],
  ['1u', 'memory', 1, 0],
  ['1m', 'memory', 1, 0],
  ['.5', 'memory', 1, 0],
  ['0.1Ki', 'memory', 103, 102],
  ['9007199254740990.5', 'memory', MAX_UNITS, MAX_UNITS - 1],
  ['1.0000001Gi', 'memory', 1_073_741_932, 1_073_741_931],
  ['1n', 'cpu', 1, 0],
  ['100u', 'cpu', 1, 0],
  ['999999n', 'cpu', 1, 0],
  ['0.0001', 'cpu', 1, 0],
  ['1.0005', 'cpu', 1001, 1000],
  ['1500u', 'cpu', 2, 1],
  ['500m', 'nvidia.com/gpu', 1, 0],
  ['0.0000000000000000000000000000001', 'pods', 1, 0],
];

// Texts whose product with 1000 is inexact in double arithmetic.
const EXACT: readonly Row[] = [
  cpu('0.1', 100),
  cpu('0.3', 300),
  cpu('0.57', 570),
  cpu('1.005', 1005),
  cpu('1.1', 1100),
  cpu('2.3', 2300),
  cpu('4.35', 4350),
  cpu('8.2', 8200),
  cpu('1.001', 1001),
  cpu('9007199254740.991', MAX_UNITS),
  cpu('9007199254740991m', MAX_UNITS),
  cpu('9007199254740', 9_007_199_254_740_000),
  memory('9007199254740991', MAX_UNITS),
  memory('9007199254740991000m', MAX_UNITS),
  memory('8388607.99999999906867742538452148437500Gi', MAX_UNITS),
];

const MALFORMED: readonly string[] = [
  ...['', ' ', '.', '+', '-', '+.', '-.', 'm', 'Ki', '.Ki', 'e3', '.e3', '+m'],
  ...[' 1', '1 ', '1 Gi', '1\n', '\n1', '1\t', '1\0', '1\r\n', '\ufeff1', '1\u00a0'],
  ...['1.5.2', '1..5', '1,5', '1_000', '1,000', "1'000", '--1', '+-1', '++1', '1-', '1+1'],
  ...[
    '1K',
    '1ki',
    '1KI',
    '1kI',
    '1mi',
    '1gi',
    '1g',
    '1t',
    '1p',
    '1GI',
    '1Kib',
    '1KB',
    '1B',
    '1Zi',
    '1N',
    '1U',
  ],
  ...[
    '1e',
    '1e+',
    '1e-',
    '1Ee',
    '1EE',
    '1e3e3',
    '1E3Ki',
    '1e3m',
    '1e1.5',
    '1e 3',
    '1Eim',
    '1mm',
    '1Kik',
    'E',
    'Ei',
  ],
  ...['0x10', '0b1', '0o7', '1f', '10n n', '½', '１', '١', '١٢', '²', '1²', '1\u0660'],
  ...[
    'NaN',
    'Infinity',
    '-Infinity',
    '+Inf',
    'inf',
    'nan',
    'null',
    'undefined',
    'true',
    'one',
    '∞',
    '5%',
    '$5',
  ],
  ...['1constructor', '1__proto__', 'toString', '1e３'],
  ...['1'.repeat(129), '0'.repeat(10_000), `1.${'0'.repeat(200)}`],
];

const NEGATIVE = ['-1', '-0.5', '-1n', '-1Gi', '-.5', '-5.', '-1e3', '-1e-999999999', '-1e999999999'];

const TOO_LARGE: readonly (readonly [string, string])[] = [
  ['9007199254740992', 'memory'],
  ['9007199254740991.1', 'memory'],
  ['8Pi', 'memory'],
  ['1E', 'memory'],
  ['1Ei', 'memory'],
  ['10P', 'memory'],
  ['1e16', 'memory'],
  ['1e20', 'memory'],
  ['1e21', 'memory'],
  ['1e999999999', 'memory'],
  [`1e${'9'.repeat(100)}`, 'memory'],
  ['9'.repeat(128), 'memory'],
  ['9007199254740.992', 'cpu'],
  ['9007199254741', 'cpu'],
  ['999999999999999', 'cpu'],
  ['9007199254740991', 'cpu'],
  ['9007199254740992m', 'cpu'],
];

function codeOf(text: string, resource: string): string {
  try {
    return String(parseQuantity(text, resource, 'up'));
  } catch (error) {
    if (error instanceof BigFleetError) return error.code;
    throw error;
  }
}

describe('parseQuantity', () => {
  it.each([...SUFFIXES, ...EXPONENTS, ...NUMBERS, ...ROUNDED, ...EXACT])(
    'given %j of %s, then it is %d as demand and %d as supply',
    (text, resource, demand, supply) => {
      expect(parseQuantity(text, resource, 'up')).toBe(demand);
      expect(parseQuantity(text, resource, 'down')).toBe(supply);
    },
  );

  it.each(MALFORMED.map((text) => [text]))('given %j, then it is refused as malformed', (text) => {
    expect(codeOf(text, 'memory')).toBe('BF_QUANTITY_SYNTAX');
    expect(codeOf(text, 'cpu')).toBe('BF_QUANTITY_SYNTAX');
  });

  it.each(NEGATIVE)('given %j, then it is refused as negative', (text) => {
    expect(codeOf(text, 'memory')).toBe('BF_QUANTITY_NEGATIVE');
    expect(codeOf(text, 'cpu')).toBe('BF_QUANTITY_NEGATIVE');
  });

  it.each(TOO_LARGE)('given %j of %s, then it is refused as too large', (text, resource) => {
    expect(codeOf(text, resource)).toBe('BF_QUANTITY_OVERFLOW');
  });

  it('given an E, then it is the suffix exa, an exponent or malformed, depending on what follows', () => {
    expect(codeOf('1E', 'pods')).toBe('BF_QUANTITY_OVERFLOW');
    expect(codeOf('1E3', 'pods')).toBe('1000');
    expect(codeOf('1Ee', 'pods')).toBe('BF_QUANTITY_SYNTAX');
    expect(codeOf('1E1', 'pods')).toBe('10');
  });

  it('given half a unit above the largest amount, then it is rounded down as supply and refused as demand', () => {
    expect(parseQuantity('9007199254740991.5', 'memory', 'down')).toBe(MAX_UNITS);
    expect(codeOf('9007199254740991.5', 'memory')).toBe('BF_QUANTITY_OVERFLOW');
  });

  it('given zero in any notation, then it is 0 and not -0', () => {
    for (const text of ['0', '-0', '-0m', '-.0', '0e-5', '-0Ki']) {
      expect(Object.is(parseQuantity(text, 'cpu', 'up'), 0)).toBe(true);
    }
  });

  it('given hostile text, then the message has a short, escaped excerpt of it', () => {
    const hostile = `\x1b[2J${'x'.repeat(1000)}`;
    expect(() => parseQuantity(hostile, 'cpu', 'up')).toThrow(
      /^BF_QUANTITY_SYNTAX: "\\u001b\[2Jx+…" is not a quantity\./,
    );
    expect(codeOf(hostile, 'cpu')).toBe('BF_QUANTITY_SYNTAX');
  });
});

describe('formatQuantity', () => {
  it.each([
    [0, 'cpu', '0'],
    [1, 'cpu', '1m'],
    [500, 'cpu', '500m'],
    [1000, 'cpu', '1'],
    [1500, 'cpu', '1500m'],
    [16_000, 'cpu', '16'],
    [MAX_UNITS, 'cpu', '9007199254740991m'],
    [0, 'memory', '0'],
    [1, 'memory', '1'],
    [1000, 'memory', '1000'],
    [1024, 'memory', '1Ki'],
    [1536, 'memory', '1536'],
    [1.5 * 2 ** 30, 'memory', '1536Mi'],
    [2 ** 34, 'memory', '16Gi'],
    [2 ** 40, 'ephemeral-storage', '1Ti'],
    [2 ** 50, 'storage', '1Pi'],
    [2 ** 21, 'hugepages-2Mi', '2Mi'],
    [MAX_UNITS, 'memory', '9007199254740991'],
    [1024, 'nvidia.com/gpu', '1024'],
    [8, 'nvidia.com/gpu', '8'],
  ])('given %d of %s, then it is formatted as %s', (units, resource, text) => {
    expect(formatQuantity(units, resource)).toBe(text);
  });
});
