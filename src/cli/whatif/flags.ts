// Flags of `bigfleet whatif` as the document that a file of changes holds, so that one validator checks both.

import { BigFleetError } from '../../model/index.ts';
import { noShardText } from '../../whatif/request.ts';

export interface ChangeFlags {
  readonly without?: readonly string[];
  readonly price?: readonly string[];
  readonly probability?: readonly string[];
  readonly add?: readonly string[];
  readonly demand?: readonly string[];
  readonly priority?: readonly string[];
  readonly set?: readonly string[];
}

type Json = Readonly<Record<string, unknown>>;

/** The changes of a file, and after them those of the flags. */
export function changeDocument(file: Json, flags: ChangeFlags): Json {
  const lists: Readonly<Record<string, readonly unknown[]>> = {
    without: (flags.without ?? []).map(matchOf),
    prices: (flags.price ?? []).map((text) => amountOf('--price', text)),
    probabilities: (flags.probability ?? []).map((text) => amountOf('--probability', text)),
    stock: (flags.add ?? []).map(stockOf),
    demand: (flags.demand ?? []).map((text) => {
      const [needs, times] = splitLast('--demand', text, 'web*=1.5');
      return { ...needsOf(needs), times: numberOf('--demand', text, times) };
    }),
    priorities: (flags.priority ?? []).map((text) => {
      const [needs, set] = splitLast('--priority', text, 'web*=1000');
      return { ...needsOf(needs), set: numberOf('--priority', text, set) };
    }),
  };
  const document: Record<string, unknown> = { ...file };
  for (const [name, items] of Object.entries(lists)) {
    if (items.length === 0) continue;
    const known = document[name];
    document[name] = [...(Array.isArray(known) ? known : []), ...items];
  }
  if (flags.set !== undefined)
    document['options'] = { ...(file['options'] as Json), ...optionsOf(flags.set) };
  return document;
}

/** Selector keys; any other key is a label, except for `shard`, of which a file can name a label. */
const FIELDS: Readonly<Record<string, string>> = {
  provider: 'provider',
  zone: 'zone',
  'capacity-type': 'capacityType',
  'instance-type': 'instanceType',
  state: 'state',
  cluster: 'cluster',
};

/** `spot*`, or `capacity-type=spot,zone=a*`. */
function matchOf(text: string): Json {
  if (!text.includes('=')) return { name: text };
  const fields: Record<string, string> = {};
  const labels: Record<string, string> = {};
  for (const part of text.split(',')) {
    const at = part.indexOf('=');
    if (at < 1) throw wrong(`"${text}" is not a selector such as capacity-type=spot,zone=a*.`);
    const [key, pattern] = [part.slice(0, at), part.slice(at + 1)];
    const field = FIELDS[key];
    if (key === 'shard') throw wrong(`${text}: ${noShardText([...Object.keys(FIELDS), 'labels'])}`);
    if (field === undefined) labels[key] = pattern;
    else fields[field] = pattern;
  }
  return Object.keys(labels).length === 0 ? fields : { ...fields, labels };
}

/** `spot*=2` multiplies; `spot*=$0.5` and `spot*=10%` set. */
function amountOf(flag: string, text: string): Json {
  const isPrice = flag === '--price';
  const [selector, amount] = splitLast(
    flag,
    text,
    isPrice ? 'spot*=2 or spot*=$0.5' : 'spot*=2 or spot*=10%',
  );
  const match = matchOf(selector);
  if (isPrice && amount.startsWith('$')) return { match, set: numberOf(flag, text, amount.slice(1)) };
  if (!isPrice && amount.endsWith('%'))
    return { match, set: numberOf(flag, text, amount.slice(0, -1)) / 100 };
  return { match, times: numberOf(flag, text, amount) };
}

/** `20:m6i.4xlarge@zone-a`; the zone may be left out. */
function stockOf(text: string): Json {
  const [, count = '', instanceType = '', zone] = /^(\d+):([^@]+)(?:@(.+))?$/.exec(text) ?? [];
  if (instanceType === '') throw wrong(`"${text}" is not stock such as 20:m6i.4xlarge@zone-a.`);
  return { count: Number(count), instanceType, ...(zone === undefined ? {} : { zone }) };
}

/** The short id of a Need has a slash, a cluster has none. */
function needsOf(text: string): Json {
  return text.includes('/') ? { need: text } : { cluster: text };
}

function optionsOf(flags: readonly string[]): Json {
  return Object.fromEntries(
    flags.map((text) => {
      const [name, value] = splitLast('--set', text, 'sharing=off');
      const isNumber = name === 'maxPurchasedPerHour' && value !== 'none';
      return [
        name,
        isNumber || (name === 'reclaimHold' && value === '0') ? numberOf('--set', text, value) : value,
      ];
    }),
  );
}

function splitLast(flag: string, text: string, example: string): readonly [string, string] {
  const at = text.lastIndexOf('=');
  if (at < 1) throw wrong(`${flag} ${text} has no value; write it such as ${flag} ${example}.`);
  return [text.slice(0, at), text.slice(at + 1)];
}

function numberOf(flag: string, text: string, value: string): number {
  const number = value.trim() === '' ? Number.NaN : Number(value);
  if (Number.isFinite(number)) return number;
  throw wrong(`${flag} ${text}: "${value}" is not a number.`);
}

function wrong(message: string): BigFleetError {
  return new BigFleetError('BF_USAGE', message);
}
