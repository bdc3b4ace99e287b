import { describe, expect, it } from 'vitest';
import { aCost } from '../../../testing/support/costs.ts';
import {
  actionOf,
  clusterOf,
  PLACE,
  plannedOf,
  pointOf,
  STATUS,
  shortfallOf,
} from '../../../testing/support/live-view.ts';
import { headline, type Live, NOTHING_YET, timeOfDay } from '../../web/index.ts';
import { noPaint, type Paint } from '../table.ts';
import { renderScreen, type ScreenModel } from './screen.ts';

const NUMBERS = Array.from({ length: 60 }, (_, i) => i);
const FREEZE = { id: 'fleet', who: 'ada', why: 'a look', sinceMs: 0, untilMs: null };

const BUSY: Live = {
  ...NOTHING_YET,
  status: STATUS,
  actions: NUMBERS.map((i) => actionOf(i, { startedMs: (60 - i) * 1000 })),
  series: NUMBERS.map((i) => pointOf(i, { costPerHour: i })),
  shortfalls: [1, 2, 3, 4].map(shortfallOf),
  clusters: [1, 2, 3].map((number) => clusterOf(number, number)),
};

function screen(
  live: Live,
  {
    width = 80,
    height = 24,
    ...rest
  }: Partial<ScreenModel & { width: number; height: number; paint: Paint }> = {},
): readonly string[] {
  const model = { live, ...PLACE, steps: [], notice: '', ...rest };
  return renderScreen(model, { width, height, paint: rest.paint ?? noPaint });
}

const lineWith = (lines: readonly string[], text: string) => lines.find((line) => line.includes(text)) ?? '';
const placeOf = (lines: readonly string[], text: string) => lines.findIndex((line) => line.includes(text));

describe('the live screen', () => {
  it.each([
    [80, 24],
    [120, 40],
    [200, 60],
    [40, 10],
    [20, 3],
    [10, 1],
  ])('given %i × %i, then it fills that size', (width, height) => {
    const lines = screen(BUSY, { width, height });
    expect(lines).toHaveLength(height);
    expect(lines.filter((line) => line.length > width)).toEqual([]);
    expect(lines.at(-1)).toMatch(/^b deploy/);
  });

  it('given a status, then the top has the address, the cycle and a headline', () => {
    const [title, headline, intro] = screen(BUSY);
    expect(title).toBe('BigFleet  http://127.0.0.1:7777  cycle 1,234: 12 ms  shard shard-0  up 2 min');
    expect(headline).toBe('5 of 2,328 Needs are not met yet; 8 machines are joining, 12 are starting.');
    expect(intro).toContain('gives clusters the machines their work needs');
  });

  it('given 80 × 24, then it shows machines by state, demand and supply, cost, providers and clusters', () => {
    const lines = screen(BUSY);
    expect(lineWith(lines, 'serving ')).toMatch(/█{10,} +1,080/);
    expect(lineWith(lines, 'can buy')).toMatch(/1,500/);
    expect(lineWith(lines, 'serving ')).toMatch(/ 1,080 +\$1,200\.00 /);
    expect(lineWith(lines, 'General')).toContain('General 1 of 2,320 unmet, 88 % used');
    expect(lineWith(lines, 'cpu  ')).toMatch(/█▒░ 11,000 of 12,000 cores$/);
    expect(lineWith(lines, 'memory  ')).toMatch(/█ 48 of 48 TiB$/);
    expect(lineWith(lines, 'With gpu')).toContain('With gpu 4 of 8 Needs unmet, 80 % used');
    expect(lineWith(lines, 'gpu  ')).toMatch(/█░+ 32 of 64$/);
    expect(lineWith(lines, '$1,234.50/h')).toMatch(/[▁-█]{10,} 59 s$/);
    expect(lineWith(lines, 'metal')).toContain('fine, 1,325 machines');
    expect(lineWith(lines, 'unmet: ')).toContain('cluster-3 (3)');
  });

  it('given owned machines, then their cost is separate, and the parts of the cost add up', () => {
    const lines = screen({ ...BUSY, status: { ...STATUS, ownedCost: aCost({ serving: 400, idle: 32.1 }) } });
    expect(lineWith(lines, 'owned ')).toContain('owned     $432.10/h amortised');
    const parts = lines.slice(3, 12).map((line) => / \$([\d,.]+) /.exec(`${line.slice(0, 40)} `)?.[1] ?? '0');
    expect(parts.reduce((sum, part) => sum + Number(part.replace(',', '')), 0)).toBe(1234.5);
  });

  it('given a headline longer than a line, then it has two lines', () => {
    const live = { ...BUSY, freezes: [FREEZE] };
    const [, first, second] = screen(live);
    expect(`${first} ${second}`).toBe(headline(STATUS, BUSY.shortfalls, true));
    expect(first!.length).toBeLessThanOrEqual(80);
  });

  it('given an unmet Need, then no bar of its kind is green', () => {
    const hardware = STATUS.hardware.map((each) => ({
      ...each,
      unmetNeeds: each.kind === 'general' ? 65 : 0,
      // The missing amount is unknown, as of Needs beyond a limit.
      resources: { cpu: { wanted: 9, served: 9, coming: 0, unmet: 0, offered: 9, used: 9 } },
    }));
    const styles: string[] = [];
    const paint: Paint = (style, text) => {
      if (/^█+$/.test(text)) styles.push(String(style));
      return text;
    };
    screen({ ...BUSY, status: { ...STATUS, hardware, machinesByState: {} } }, { paint });
    expect(styles).toEqual(['yellow', 'green']);
  });

  it('given actions and shortfalls, then actions are newest first with their reasons, below the most urgent shortfalls', () => {
    const lines = screen(BUSY);
    const first = placeOf(lines, 'ordered m-0 (spot, zone-a) for cluster-3: nothing idle fits');
    expect(lines[first - 1]).toBe('What is done, and why');
    expect(lines[first + 1]).toContain('ordered m-1 ');
    expect(lineWith(lines, 'What is missing')).toContain('5 shortfalls');
    expect(lineWith(lines, '12 cores, 48 GiB memory')).toMatch(
      /^cluster-1\/0123456789 lacks .*: no machine that matches/,
    );
  });

  it('given shortfalls at 80 columns, then the command for details is not cut', () => {
    const lines = screen(BUSY, { call: 'npm run --silent bigfleet --' });
    const wanted = 'npm run --silent bigfleet -- explain NEED --shard http://127.0.0.1:7777';
    expect(lines[placeOf(lines, 'What is missing') + 1]).toBe(wanted);
  });

  it('given clusters whose machines are still joining, then it only says that no Need is unmet', () => {
    const clusters = BUSY.clusters.map((cluster) => ({ ...cluster, unmet: 0 }));
    expect(lineWith(screen({ ...BUSY, clusters }), 'clusters  ')).toMatch(/clusters {2}6, no Need is unmet$/);
  });

  it('given a cost that changes by a hundredth, then all bars of the sparkline have one height', () => {
    const series = NUMBERS.map((i) => pointOf(i, { costPerHour: 100 + (i % 2) }));
    expect(lineWith(screen({ ...BUSY, series }), '$1,234.50/h')).toMatch(/ █{10,} 59 s$/);
  });

  it('given an outage that began earlier, then it shows since when, with a sparkline', () => {
    const series = NUMBERS.map((i) => pointOf(i, { unmet: i < 20 ? 0 : 5 }));
    const status = { ...STATUS, nowMs: 80_000 };
    const line = lineWith(screen({ ...BUSY, series, status }, { width: 120 }), 'unmet  ');
    expect(line).toContain(`unmet     5 since ${timeOfDay(20_000)} (1 min)  ▁`);
    expect(lineWith(screen({ ...BUSY, series: [] }), 'unmet  ')).toBe('');
    expect(screen({ ...BUSY, series, status })).toHaveLength(24);
  });

  it('given lists that are cut, then each shows how much is left out', () => {
    const failed = NUMBERS.slice(0, 10).map((i) => {
      return { id: `f-${i}`, provider: 'cloud', zone: 'z', capacityType: 'SPOT', lastError: 'disk died' };
    });
    const cloud = STATUS.providers[0]!;
    const status = { ...STATUS, shortfalls: 340, providers: [cloud, cloud, cloud] };
    const clusters = NUMBERS.map((i) => clusterOf(i));
    const live = { ...BUSY, status, clusters, clustersTotal: 500, failed, failedTotal: 12 };
    const text = screen(live, { width: 120, height: 60 }).join('\n');
    expect(text).toContain('What is missing: 4 of 340 shortfalls shown, most urgent first');
    expect(text).toContain('2 of 3 providers shown, trouble first');
    expect(text).toContain('8 of 500 clusters shown, those in trouble first');
    expect(text).toContain('f-0 (spot, z) of cloud: disk died');
    expect(text).toContain('3 of 12 Failed machines shown, by name');
  });

  it('given more lines, then it shows more actions, all shortfalls and the clusters', () => {
    const shown = (lines: readonly string[], text: string) =>
      lines.filter((line) => line.includes(text)).length;
    const small = screen(BUSY);
    const large = screen(BUSY, { width: 120, height: 40 });
    expect(shown(large, 'ordered')).toBeGreaterThan(shown(small, 'ordered'));
    expect(shown(large, '48 GiB')).toBe(4);
    expect(shown(large, '388 Needs')).toBe(3);
  });

  it('given no shortfalls, then their section is left out', () => {
    expect(screen({ ...BUSY, shortfalls: [] }).join('\n')).not.toContain('What is missing');
  });

  it('given no status yet, then it shows the steps of the start-up', () => {
    const lines = screen(NOTHING_YET, { url: '', steps: ['two clouds listen', 'the shard starts'] });
    expect(lines.slice(3, 5)).toEqual(['two clouds listen', 'the shard starts']);
  });

  it('given a frozen fleet, then it shows that, and the key to unfreeze', () => {
    const lines = screen({ ...BUSY, freezes: [FREEZE] });
    expect(lines[1]).toMatch(/^Frozen/);
    expect(lines.at(-1)).toContain('f unfreeze');
  });

  it('given a freeze, then it shows held-back actions, who froze the fleet, and how many more there are', () => {
    const held = {
      ...{ why: 'frozen', total: 40, needs: 3, kinds: { Provision: 40 } },
      ...{ buysPerHour: 20, releasesPerHour: 0 },
    };
    const status = { ...STATUS, cycle: { ...STATUS.cycle!, heldBack: [held] } };
    const plan = { frozenClusters: [], actions: { items: NUMBERS.slice(0, 20).map(plannedOf), total: 40 } };
    for (const height of [24, 40]) {
      const lines = screen({ ...BUSY, status, freezes: [FREEZE], plan }, { height, width: 120 });
      expect(lines[1]).toMatch(
        /^Frozen: would buy 40 \(\+\$20\.00\/h\) for 3 Needs\. 5 of 2,328 Needs would not be met even then; 8 /,
      );
      const first = placeOf(lines, 'What would be done: ');
      expect(lines[first]).toMatch(
        /^What would be done: \d+ of 40 actions shown, most urgent first {2}\(frozen by ann, because: a look\)$/,
      );
      expect(lines[first + 1]).toBe('bigfleet get plan --shard http://127.0.0.1:7777');
      expect(lines[first + 2]).toBe('would buy m-0 (spot, zone-a) for cluster-3: nothing idle fits');
    }
    expect(screen(BUSY).join('\n')).not.toContain('What would be done');
  });

  it('given a provider that does not answer, then it comes before the others', () => {
    const [metal, cloud] = STATUS.providers;
    const providers = [metal!, cloud!, { ...cloud!, name: 'third', breaker: 'open' as const }];
    const lines = screen({ ...BUSY, status: { ...STATUS, providers } });
    expect(lineWith(lines, '  third  ')).toContain('does not answer, 1,325');
    expect(lines[1]).toMatch(/^third does not answer/);
  });

  it('given an answer to a key, then it replaces the last warning above the keys', () => {
    const remark = { atMs: 61_000, level: 'warn', text: 'list-held provider=cloud' } as const;
    expect(screen({ ...BUSY, remark }).at(-2)).toBe(`${timeOfDay(61_000)} list-held provider=cloud`);
    expect(screen({ ...BUSY, remark }, { notice: 'burst begun' }).at(-2)).toBe('burst begun');
  });

  it('given long names with control characters, then they are cut and escaped', () => {
    const cluster = `${'very-long-'.repeat(30)}\x1b[2J`;
    const hostile: Live = {
      ...BUSY,
      actions: [actionOf(1, { cluster, machine: '\x1b[2J\u202e\n' })],
      shortfalls: [{ ...shortfallOf(1), cluster, id: `${cluster}/0123456789` }],
      clusters: [{ ...clusterOf(1, 3), cluster }],
    };
    for (const [width, height] of [
      [80, 24],
      [120, 40],
    ] as const) {
      const lines = screen(hostile, { width, height });
      expect(lines.filter((line) => line.length > width)).toEqual([]);
      expect(lines.join('')).not.toMatch(/\p{Cc}|\u202e/u);
      expect(lineWith(lines, 'ordered')).toMatch(/…$/);
    }
  });

  it('given no paint, then there are no escape codes; given paint, then the text is the same', () => {
    const marked: Paint = (_style, text) => `\x1b[1m${text}\x1b[0m`;
    const plain = screen(BUSY);
    expect(plain.join('')).not.toContain('\x1b');
    const painted = screen(BUSY, { paint: marked });
    expect(painted.join('')).toContain('\x1b[1m');
    expect(painted.map((line) => line.replaceAll('\x1b[1m', '').replaceAll('\x1b[0m', '').trimEnd())).toEqual(
      plain,
    );
  });
});
