// The text that Prometheus reads (format 0.0.4): families of samples, each with a line of help and its type. Used by
// registry.ts and engine-metrics.ts.

export interface Sample {
  /** Suffix of the family's name, for samples of a histogram. */
  readonly suffix: '' | '_bucket' | '_sum' | '_count';
  readonly labels: readonly Label[];
  readonly value: number;
}

export type Label = readonly [name: string, value: string];

export interface Family {
  readonly name: string;
  readonly help: string;
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly samples: Iterable<Sample>;
}

export const EXPOSITION_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

export function expositionText(families: Iterable<Family>): string {
  const lines: string[] = [];
  for (const { name, help, type, samples } of families) {
    lines.push(`# HELP ${name} ${help.replace(/[\\\n]/g, escaped)}`, `# TYPE ${name} ${type}`);
    for (const { suffix, labels, value } of samples) {
      lines.push(`${name}${suffix}${labelText(labels)} ${numberText(value)}`);
    }
  }
  return lines.map((line) => `${line}\n`).join('');
}

/**
 * The samples of a histogram. `counts` has one entry for each bound, with the values up to it and above the one before,
 * and a last one for larger values; Prometheus expects cumulative counts.
 */
export function* histogramSamples(
  labels: readonly Label[],
  bounds: readonly number[],
  counts: readonly number[],
  sum: number,
): Generator<Sample> {
  let below = 0;
  for (const [i, count] of counts.entries()) {
    below += count;
    const le = numberText(bounds[i] ?? Number.POSITIVE_INFINITY);
    yield { suffix: '_bucket', labels: [...labels, ['le', le]], value: below };
  }
  yield { suffix: '_sum', labels, value: sum };
  yield { suffix: '_count', labels, value: below };
}

function labelText(labels: readonly Label[]): string {
  if (labels.length === 0) return '';
  const parts = labels.map(([name, value]) => `${name}="${value.replace(/[\\\n"]/g, escaped)}"`);
  return `{${parts.join(',')}}`;
}

function escaped(character: string): string {
  return character === '\n' ? '\\n' : `\\${character}`;
}

function numberText(value: number): string {
  if (value === Number.POSITIVE_INFINITY) return '+Inf';
  return value === Number.NEGATIVE_INFINITY ? '-Inf' : String(value);
}
