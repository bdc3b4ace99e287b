// Questions of the what-if box: the kinds of change with their fields, and the body of `POST /v1/whatif` for each. Runs in
// a browser; test/web compares the bodies with what the route accepts.

export interface WhatIfField {
  readonly name: string;
  readonly label: string;
  readonly hint?: string;
  /** The field is a list of these, the first one chosen. */
  readonly choices?: readonly string[];
  /** A text of several lines, which may be read from a file. */
  readonly isDocument?: true;
}

/** What the fields have, by name. */
export type WhatIfValues = Readonly<Record<string, string>>;

interface Change {
  readonly name: string;
  /** After "Suppose that". */
  readonly label: string;
  readonly fields: readonly WhatIfField[];
  /** `changes` of the question; a text if the fields cannot be read. `needs` says which Needs are meant. */
  readonly changesOf: (values: WhatIfValues, needs: object) => object | string;
}

/** What a question is about: nothing is the whole fleet. */
export interface WhatIfAbout {
  readonly need?: string;
  readonly cluster?: string;
}

const SPOT = { capacityType: 'spot' };
const MACHINES: WhatIfField = { name: 'machines', label: 'Machines', hint: 'spot, or m6i.*' };
const FACTOR: WhatIfField = { name: 'factor', label: 'Factor', hint: '1.5' };

/** Everything that the route accepts; a document holds several changes. */
export const CHANGES: readonly Change[] = [
  {
    ...{ name: 'without-spot', label: 'spot machines disappear', fields: [] },
    changesOf: () => ({ without: [SPOT] }),
  },
  without('zone', 'a zone disappears', 'Zone'),
  without('provider', 'a provider disappears', 'Provider'),
  without('instanceType', 'an instance type disappears', 'Instance type'),
  {
    ...{ name: 'price', label: 'prices change' },
    fields: [MACHINES, { name: 'amount', label: 'Factor, or dollars', hint: '2 or $0.50' }],
    changesOf: ({ machines = '', amount = '' }) => {
      const change = amount.startsWith('$') ? amountOf('set', amount.slice(1)) : amountOf('times', amount);
      if (machines === '' || change === null)
        return 'Name machines, and a factor such as 2 or a price such as $0.50.';
      return { prices: [{ match: { name: machines }, ...change }] };
    },
  },
  {
    ...{ name: 'probability', label: 'interruptions become more or less probable' },
    fields: [MACHINES, { name: 'chance', label: 'Factor, or percent an hour', hint: '3 or 10%' }],
    changesOf: ({ machines = '', chance = '' }) => {
      const percent = numberOf(chance.replace(/%$/, ''));
      if (machines === '' || percent === null)
        return 'Name machines, and a factor such as 3 or a probability such as 10%.';
      const change = chance.endsWith('%') ? { set: percent / 100 } : { times: percent };
      return { probabilities: [{ match: { name: machines }, ...change }] };
    },
  },
  {
    ...{ name: 'stock', label: 'more machines can be bought' },
    fields: [
      { name: 'count', label: 'Machines', hint: '20' },
      { name: 'type', label: 'Instance type', hint: 'm6i.4xlarge' },
      { name: 'stockZone', label: 'Zone', hint: 'any that has it' },
    ],
    changesOf: ({ count = '', type = '', stockZone = '' }) => {
      const number = numberOf(count);
      if (number === null || type === '') return 'Give a number of machines and their instance type.';
      const zone = stockZone === '' ? {} : { zone: stockZone };
      return { stock: [{ count: number, instanceType: type, ...zone }] };
    },
  },
  {
    ...{ name: 'demand', label: 'demand is multiplied', fields: [FACTOR] },
    changesOf: ({ factor = '' }, needs) => {
      const change = amountOf('times', factor);
      return change === null ? 'Give a factor, such as 1.5.' : { demand: [{ ...needs, ...change }] };
    },
  },
  {
    ...{ name: 'priority', label: 'the priority is another one' },
    fields: [{ name: 'priority', label: 'Priority', hint: '1000' }],
    changesOf: ({ priority = '' }, needs) => {
      const number = Number(priority);
      if (priority === '' || !Number.isInteger(number)) return 'Give a priority, such as 1000.';
      return { priorities: [{ ...needs, set: number }] };
    },
  },
  option('sharing', 'machines are shared, or not', { label: 'Sharing', choices: ['off', 'on'] }),
  option('poolOrder', 'free machines are acquired in another order', {
    ...{ label: 'First', choices: ['price', 'coverage'] },
  }),
  option('accelerators', 'machines with accelerators serve others', {
    ...{ label: 'Order', choices: ['by-price', 'last'] },
  }),
  option('reclaimHold', 'machines are held for another time', { label: 'Hold', hint: '10m' }),
  option('maxPurchasedPerHour', 'purchases have another limit', {
    ...{ label: 'Dollars an hour', hint: '500, or none' },
  }),
  {
    ...{ name: 'document', label: 'the changes of a file hold' },
    fields: [{ name: 'document', label: 'Changes, as JSON', hint: '{ "without": […] }', isDocument: true }],
    changesOf: ({ document = '' }) => documentOf(document),
  },
];

function without(field: string, label: string, title: string): Change {
  return {
    ...{ name: `without-${field}`, label, fields: [{ name: field, label: title }] },
    changesOf: ({ [field]: value = '' }) =>
      value === '' ? `Name a ${title.toLowerCase()}.` : { without: [{ [field]: value }] },
  };
}

/** Policies of the decision by their name in scenario files. */
function option(name: string, label: string, field: Omit<WhatIfField, 'name'>): Change {
  return {
    ...{ name, label, fields: [{ ...field, name }] },
    changesOf: ({ [name]: value = field.choices?.[0] ?? '' }) => {
      if (value === '') return `Give a value, such as ${field.hint}.`;
      const number = numberOf(value);
      return { options: { [name]: number ?? value } };
    },
  };
}

function numberOf(text: string): number | null {
  const number = Number(text);
  return text.trim() !== '' && Number.isFinite(number) && number >= 0 ? number : null;
}

function amountOf(field: 'set' | 'times', text: string): object | null {
  const number = numberOf(text);
  return number === null ? null : { [field]: number };
}

/** The same object that `bigfleet whatif -f` reads. Browsers do not parse YAML. */
function documentOf(text: string): object | string {
  if (text === '') return 'Paste the changes, or choose a file that has them.';
  try {
    const changes: unknown = JSON.parse(text);
    if (typeof changes === 'object' && changes !== null && !Array.isArray(changes)) return changes;
  } catch (error) {
    return `The text cannot be read as JSON: ${(error as Error).message}. "bigfleet whatif -f" reads YAML, too.`;
  }
  return 'The changes are an object, such as { "without": [{ "capacityType": "spot" }] }.';
}

/** The body of the question; a text if the fields of the change cannot be read. */
export function questionOf(
  name: string,
  values: WhatIfValues,
  { need, cluster }: WhatIfAbout,
): object | string {
  const { changesOf } = CHANGES.find((each) => each.name === name)!;
  const trimmed = Object.fromEntries(Object.entries(values).map(([field, text]) => [field, text.trim()]));
  // The API asks for the pattern of all clusters where the whole fleet is meant.
  const changes = changesOf(trimmed, need === undefined ? { cluster: cluster ?? '*' } : { need });
  return typeof changes === 'string' ? changes : { changes };
}
