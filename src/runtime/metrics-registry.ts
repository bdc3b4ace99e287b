// Counters, gauges and histograms by name. Cardinality is bounded: labels take their values from closed sets, and
// labels with names from outside (clusters, providers, zones) have a maximum number of values. Used by metrics.ts.

import { excerpt } from '../model/index.ts';
import { expositionText, type Family, histogramSamples, type Label, type Sample } from './exposition.ts';

/** The closed set of a label's values, or the maximum number of values; those beyond it share one series, `other`. */
export type LabelValues = readonly string[] | { readonly atMost: number };
export type LabelSets = Readonly<Record<string, LabelValues>>;
export type Labels<S extends LabelSets> = {
  readonly [K in keyof S]: S[K] extends readonly string[] ? S[K][number] : string;
};

const OTHER = 'other';
/** Most combinations that are exposed as 0 from the start, so that `rate` sees the first event as a step. */
const MAX_SHOWN_AT_START = 64;

export class Counter {
  value = 0;

  add(by = 1): void {
    if (!(by >= 0)) throw new RangeError(`a counter cannot go back by ${by}`);
    this.value += by;
  }

  /** For counts kept elsewhere; the counter never decreases. */
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

  /** Upper bounds of the buckets, ascending; one more bucket counts larger values. */
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
  /** By label without a closed set: the names seen. */
  readonly #names = new Map<string, Set<string>>();

  constructor(sets: S, make: () => M) {
    this.#sets = Object.entries(sets);
    this.#make = make;
    for (const labels of combinations(this.#sets)) this.#at(labels);
  }

  of(labels: Labels<S>): M {
    return this.#at(this.#labelsOf(labels));
  }

  /** Removes a series, which makes room for another name. */
  delete(labels: Labels<S>): void {
    this.#series.delete(keyOf(this.#sets.map(([name]) => [name, shownValue(labels[name]!)])));
    for (const [name, names] of this.#names) names.delete(shownValue(labels[name]!));
  }

  /** Removes all series, before the caller sets all current ones again. */
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

  /** Families that are computed on each scrape. Their names must be unique in the registry. */
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

/** Limit for a label value; a scrape has thousands of them. */
const MAX_VALUE_BYTES = 250;

/** The label value for a name from outside. Escaping makes a text up to seven times as long. */
function shownValue(value: string): string {
  const shown = excerpt(value);
  return shown.length <= MAX_VALUE_BYTES ? shown : excerpt(value, Math.floor(MAX_VALUE_BYTES / 7));
}

function isClosed(values: LabelValues): values is readonly string[] {
  return Array.isArray(values);
}

/** Length prefixes make the key collision-free whatever the values contain. */
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
