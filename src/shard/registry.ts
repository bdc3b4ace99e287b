// Counters, gauges and histograms by name. Labels take their values from closed sets, so that no series is made by a
// name from outside; where clusters or providers must be told apart, the number of names has an end.

import { excerpt } from '../model/index.ts';
import { expositionText, type Family, histogramSamples, type Label, type Sample } from './exposition.ts';

/** The values a label may have; or how many different ones it may have before the rest share one series, `other`. */
export type LabelValues = readonly string[] | { readonly atMost: number };
export type LabelSets = Readonly<Record<string, LabelValues>>;
export type Labels<S extends LabelSets> = {
  readonly [K in keyof S]: S[K] extends readonly string[] ? S[K][number] : string;
};

const OTHER = 'other';
/** Combinations of closed sets that are shown as 0 from the start, so that a first event is a step and not a new series. */
const MAX_SHOWN_AT_START = 64;

export class Counter {
  value = 0;

  add(by = 1): void {
    if (!(by >= 0)) throw new RangeError(`a counter cannot go back by ${by}`);
    this.value += by;
  }

  /** What somebody else has counted; never goes back. */
  raiseTo(value: number): void {
    if (value > this.value) this.value = value;
  }

  samples(labels: readonly Label[]): Iterable<Sample> {
    return [{ suffix: '', labels, value: this.value }];
  }
}

export class Gauge {
  value = 0;

  set(value: number): void {
    this.value = value;
  }

  add(by: number): void {
    this.value += by;
  }

  samples(labels: readonly Label[]): Iterable<Sample> {
    return [{ suffix: '', labels, value: this.value }];
  }
}

export class Distribution {
  readonly #bounds: readonly number[];
  readonly #counts: number[];
  #sum = 0;

  /** Upper bounds of the buckets, ascending; one more takes what is larger. */
  constructor(bounds: readonly number[]) {
    this.#bounds = bounds;
    this.#counts = new Array<number>(bounds.length + 1).fill(0);
  }

  observe(value: number): void {
    let bucket = 0;
    while (bucket < this.#bounds.length && value > this.#bounds[bucket]!) bucket++;
    this.#counts[bucket]!++;
    this.#sum += value;
  }

  samples(labels: readonly Label[]): Iterable<Sample> {
    return histogramSamples(labels, this.#bounds, this.#counts, this.#sum);
  }
}

/** A counter, gauge or distribution. */
interface Metric {
  samples(labels: readonly Label[]): Iterable<Sample>;
}

/** One metric for each combination of label values. */
export class Labelled<M extends Metric, S extends LabelSets> {
  readonly #sets: readonly (readonly [name: string, values: LabelValues])[];
  readonly #make: () => M;
  readonly #series = new Map<string, { readonly labels: readonly Label[]; readonly metric: M }>();
  /** By label: names seen, for those without a closed set. */
  readonly #names = new Map<string, Set<string>>();

  constructor(sets: S, make: () => M) {
    this.#sets = Object.entries(sets);
    this.#make = make;
    for (const labels of combinations(this.#sets)) this.#at(labels);
  }

  of(labels: Labels<S>): M {
    return this.#at(this.#labelsOf(labels));
  }

  /** Takes a series out, and makes room for another name. */
  delete(labels: Labels<S>): void {
    this.#series.delete(keyOf(this.#sets.map(([name]) => [name, shownValue(labels[name]!)])));
    for (const [name, names] of this.#names) names.delete(shownValue(labels[name]!));
  }

  /** Takes all of them out, before they are all written anew. */
  clear(): void {
    this.#series.clear();
    this.#names.clear();
  }

  *samples(): Generator<Sample> {
    for (const { labels, metric } of this.#series.values()) yield* metric.samples(labels);
  }

  #at(labels: readonly Label[]): M {
    const key = keyOf(labels);
    let series = this.#series.get(key);
    if (series === undefined) {
      series = { labels, metric: this.#make() };
      this.#series.set(key, series);
    }
    return series.metric;
  }

  #labelsOf(labels: Labels<S>): Label[] {
    return this.#sets.map(([name, values]) => [name, this.#valueOf(name, values, labels[name]!)]);
  }

  #valueOf(name: string, values: LabelValues, value: string): string {
    if (isClosed(values)) {
      if (!values.includes(value)) throw new RangeError(`label ${name} cannot be ${excerpt(value)}`);
      return value;
    }
    let names = this.#names.get(name);
    if (names === undefined) {
      names = new Set();
      this.#names.set(name, names);
    }
    const shown = shownValue(value);
    if (!names.has(shown) && names.size >= values.atMost) return OTHER;
    names.add(shown);
    return shown;
  }
}

/** Metrics that are exposed together. */
export class Registry {
  readonly #families: (() => Iterable<Family>)[] = [];
  readonly #names = new Set<string>();

  counter(name: string, help: string): Counter {
    return this.#single(name, help, 'counter', new Counter());
  }

  counters<const S extends LabelSets>(name: string, help: string, sets: S): Labelled<Counter, S> {
    return this.#labelled(name, help, 'counter', new Labelled(sets, () => new Counter()));
  }

  gauge(name: string, help: string): Gauge {
    return this.#single(name, help, 'gauge', new Gauge());
  }

  gauges<const S extends LabelSets>(name: string, help: string, sets: S): Labelled<Gauge, S> {
    return this.#labelled(name, help, 'gauge', new Labelled(sets, () => new Gauge()));
  }

  histogram(name: string, help: string, bounds: readonly number[]): Distribution {
    return this.#single(name, help, 'histogram', new Distribution(bounds));
  }

  histograms<const S extends LabelSets>(
    name: string,
    help: string,
    bounds: readonly number[],
    sets: S,
  ): Labelled<Distribution, S> {
    return this.#labelled(name, help, 'histogram', new Labelled(sets, () => new Distribution(bounds)));
  }

  /** Families that are worked out when somebody asks. Their names must be nobody else's. */
  collect(families: () => Iterable<Family>): void {
    this.#families.push(families);
  }

  text(): string {
    return this.#families.map((families) => expositionText(families())).join('');
  }

  #single<M extends Metric>(name: string, help: string, type: Family['type'], metric: M): M {
    this.#add(name, () => [{ name, help, type, samples: metric.samples([]) }]);
    return metric;
  }

  #labelled<L extends { samples(): Iterable<Sample> }>(
    name: string,
    help: string,
    type: Family['type'],
    metrics: L,
  ): L {
    this.#add(name, () => [{ name, help, type, samples: metrics.samples() }]);
    return metrics;
  }

  #add(name: string, families: () => Iterable<Family>): void {
    if (this.#names.has(name)) throw new RangeError(`there is a metric ${name} already`);
    this.#names.add(name);
    this.#families.push(families);
  }
}

/** Bytes of a label value; a scrape has thousands of them. */
const MAX_VALUE_BYTES = 250;

/** A name from outside as a label shows it. Escapes make a text up to seven times as long. */
function shownValue(value: string): string {
  const shown = excerpt(value);
  return shown.length <= MAX_VALUE_BYTES ? shown : excerpt(value, Math.floor(MAX_VALUE_BYTES / 7));
}

function isClosed(values: LabelValues): values is readonly string[] {
  return Array.isArray(values);
}

/** Lengths in front keep it collision-free whatever the names contain. */
function keyOf(labels: readonly Label[]): string {
  return labels.map(([, value]) => `${value.length}:${value}`).join('');
}

/** All combinations of closed sets, if they are few. */
function combinations(sets: readonly (readonly [string, LabelValues])[]): Label[][] {
  let all: Label[][] = [[]];
  for (const [name, values] of sets) {
    if (!isClosed(values) || all.length * values.length > MAX_SHOWN_AT_START) return [];
    all = all.flatMap((labels) => values.map((value): Label[] => [...labels, [name, value]]));
  }
  return all;
}
