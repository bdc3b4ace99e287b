import { describe, expect, it } from 'vitest';
import { Registry } from './metrics-registry.ts';

/** Lines of samples, without help and types. */
function samplesOf(registry: Registry): string[] {
  return registry
    .text()
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'));
}

describe('Registry.text', () => {
  it('given metrics, then it has help, type and value of each', () => {
    const registry = new Registry();
    registry.counter('made_total', 'What was made.').add(3);
    registry.gauge('depth', 'How deep.').set(-0.5);

    expect(registry.text()).toBe(
      [
        '# HELP made_total What was made.',
        '# TYPE made_total counter',
        'made_total 3',
        '# HELP depth How deep.',
        '# TYPE depth gauge',
        'depth -0.5',
        '',
      ].join('\n'),
    );
  });

  it('given a histogram, then it has cumulative counts per bound, sum and count', () => {
    const registry = new Registry();
    const took = registry.histograms('took_seconds', 'How long.', [0.1, 1], { of: ['a'] });
    for (const value of [0.05, 0.1, 0.7, 30]) took.of({ of: 'a' }).observe(value);

    expect(registry.text()).toBe(
      [
        '# HELP took_seconds How long.',
        '# TYPE took_seconds histogram',
        'took_seconds_bucket{of="a",le="0.1"} 2',
        'took_seconds_bucket{of="a",le="1"} 3',
        'took_seconds_bucket{of="a",le="+Inf"} 4',
        'took_seconds_sum{of="a"} 30.85',
        'took_seconds_count{of="a"} 4',
        '',
      ].join('\n'),
    );
  });

  it('given names with quotes and line breaks, then they are escaped', () => {
    const registry = new Registry();
    registry
      .gauges('held', 'Back\\slash\nand line.', { cluster: { atMost: 9 } })
      .of({ cluster: 'a"\\\nb' })
      .set(1);

    expect(registry.text()).toBe(
      '# HELP held Back\\\\slash\\nand line.\n# TYPE held gauge\nheld{cluster="a\\"\\\\\\\\u000ab"} 1\n',
    );
  });

  it('given infinite values, then they are written as +Inf and -Inf', () => {
    const registry = new Registry();
    registry.gauge('up', 'x').set(Number.POSITIVE_INFINITY);
    registry.gauge('down', 'x').set(Number.NEGATIVE_INFINITY);

    expect(samplesOf(registry)).toEqual(['up +Inf', 'down -Inf']);
  });

  it('given a collector, then it is called at each scrape', () => {
    const registry = new Registry();
    let value = 1;
    registry.collect(() => [
      { name: 'now', help: 'x', type: 'gauge', samples: [{ suffix: '', labels: [], value }] },
    ]);
    value = 2;

    expect(samplesOf(registry)).toEqual(['now 2']);
  });
});

describe('labels', () => {
  it('given few combinations of closed labels, then all series exist from the start', () => {
    const registry = new Registry();
    registry
      .counters('n_total', 'x', { a: ['1', '2'], b: ['x', 'y'] })
      .of({ a: '2', b: 'x' })
      .add(5);

    expect(samplesOf(registry)).toEqual([
      'n_total{a="1",b="x"} 0',
      'n_total{a="1",b="y"} 0',
      'n_total{a="2",b="x"} 5',
      'n_total{a="2",b="y"} 0',
    ]);
  });

  it('given many combinations of closed labels, then a series exists once it is used', () => {
    const registry = new Registry();
    const many = Array.from({ length: 65 }, (_, i) => String(i));
    registry.gauges('g', 'x', { a: many }).of({ a: '7' }).set(1);

    expect(samplesOf(registry)).toEqual(['g{a="7"} 1']);
  });

  it('given a closed set of values, then another value is refused', () => {
    const counters = new Registry().counters('n_total', 'x', { a: ['1'] as readonly string[] });

    expect(() => counters.of({ a: '2' })).toThrow('label a cannot be 2');
  });

  it('given more names than an open label allows, then the rest is counted as "other"', () => {
    const registry = new Registry();
    const held = registry.counters('held_total', 'x', { cluster: { atMost: 2 } });
    for (const cluster of ['a', 'b', 'c', 'd', 'a']) held.of({ cluster }).add();

    expect(samplesOf(registry)).toEqual([
      'held_total{cluster="a"} 2',
      'held_total{cluster="b"} 1',
      'held_total{cluster="other"} 2',
    ]);
  });

  it.each([
    ['letters', 'x'],
    ['control characters', '\u0001'],
  ])(
    'given long names of %s, then they are cut, and a thousand of them take less than half a megabyte',
    (_, letter) => {
      const registry = new Registry();
      const held = registry.gauges('held', 'x', { cluster: { atMost: 1000 } });
      const nameOf = (i: number): string => `${i}${letter.repeat(1 << 16)}`;
      for (let i = 0; i < 1000; i++) held.of({ cluster: nameOf(i) }).set(1);

      expect(samplesOf(registry)).toHaveLength(1000);
      expect(Buffer.byteLength(registry.text())).toBeLessThan(500_000);
      for (let i = 0; i < 1000; i++) held.delete({ cluster: nameOf(i) });
      expect(samplesOf(registry)).toEqual([]);
    },
  );

  it('given a series that is deleted, then another name can use its place', () => {
    const registry = new Registry();
    const held = registry.gauges('held', 'x', { cluster: { atMost: 1 } });
    held.of({ cluster: 'a' }).set(1);
    held.delete({ cluster: 'b' });
    held.delete({ cluster: 'a' });
    held.of({ cluster: 'b' }).set(1);

    expect(samplesOf(registry)).toEqual(['held{cluster="b"} 1']);
  });

  it('given labels that are equal when concatenated, then they are two series', () => {
    const registry = new Registry();
    const pairs = registry.gauges('pairs', 'x', { a: { atMost: 9 }, b: { atMost: 9 } });
    pairs.of({ a: 'x', b: '1:y' }).set(1);
    pairs.of({ a: 'x1', b: ':y' }).set(2);

    expect(samplesOf(registry)).toHaveLength(2);
  });
});

describe('Registry', () => {
  it('given a name that exists, then it is refused', () => {
    const registry = new Registry();
    registry.gauge('g', 'x');

    expect(() => registry.counter('g', 'x')).toThrow('there is a metric g already');
  });

  it('given a counter, then a negative or NaN increment is refused', () => {
    const counter = new Registry().counter('n_total', 'x');

    expect(() => counter.add(-1)).toThrow(RangeError);
    expect(() => counter.add(Number.NaN)).toThrow(RangeError);
  });
});
