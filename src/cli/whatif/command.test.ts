import { describe, expect, it } from 'vitest';
import { noPaint } from '../table.ts';
import { ANSWERER } from './answerer.ts';
import { whatIfCommand } from './command.ts';

const SCENARIO = `
now: 2026-01-01T12:00:00Z
options: { reclaimHold: 0 }
machines:
  - { id: spot-1, state: Speculative, instanceType: m6i.large, zone: a, capacityType: spot, pricePerHour: 0.1, resources: { cpu: 4 } }
  - { id: od-1, state: Speculative, instanceType: m6i.large, zone: a, capacityType: on-demand, pricePerHour: 0.3, resources: { cpu: 4 } }
needs:
  - { cluster: web, priority: 10, aggregateResources: { cpu: 4 } }
`;

async function run(args: readonly string[], files: Readonly<Record<string, string>> = {}): Promise<string> {
  let out = '';
  const command = whatIfCommand(async () => ANSWERER, {
    read: async (file) => ({ 'fleet.yaml': SCENARIO, ...files })[file]!,
    out: (text) => {
      out += text;
    },
    wait: async () => {},
    paint: noPaint,
  });
  await command.parseAsync(['fleet.yaml', ...args], { from: 'user' });
  return out;
}

async function answerTo(...args: readonly string[]) {
  return JSON.parse(await run(['-o', 'json', ...args]));
}

describe('bigfleet whatif FILE', () => {
  it('compares with the fleet without some of its machines', async () => {
    // When
    const text = await run(['--without', 'capacity-type=spot']);
    // Then
    expect(text).toContain('What if: 1 machine gone.');
    expect(text).toMatch(/once actions are done +\$0.10 +\$0.30 +\+\$0.20/);
    expect(text).toMatch(/buy +od-1 +web +web\//);
  });

  it('names Needs that are no longer met, with the reason', async () => {
    // When
    const { verdicts } = await answerTo('--without', '*');
    // Then
    expect(verdicts.unmet.items).toMatchObject([
      { need: { cluster: 'web', priority: 10 }, reason: 'no-matching-supply', missing: { cpu: '4' } },
    ]);
  });

  it.each([
    [['--price', 'spot*=4'], { after: 0.3 }],
    [['--price', 'zone=a,capacity-type=spot=$0.2'], { after: 0.2 }],
    [['--probability', 'spot=50%'], { after: 0.1 }],
    [['--demand', 'w*=2'], { after: 0.4 }],
    [['--demand', 'w*=2', '--add', '1:m6i.large@b'], { after: 0.2 }],
    [['--set', 'maxPurchasedPerHour=0'], { after: 0 }],
  ])('costs with %j what the engine buys', async (args, { after }) => {
    // When
    const { cost } = await answerTo(...args);
    // Then
    expect(cost.after.afterActions).toBeCloseTo(after);
  });

  it('reads changes from a file, and adds those of flags', async () => {
    // Given
    const files = { 'changes.yaml': 'without:\n  - { capacityType: spot }\n' };
    // When
    const text = await run(['-f', 'changes.yaml', '--demand', 'web=3', '-o', 'json'], files);
    // Then
    expect(JSON.parse(text).touched).toEqual({ removed: 1, repriced: 0, added: 0, needs: 1 });
  });

  it('follows the fleet until it is quiet', async () => {
    // When
    const { settled } = await answerTo('--settle', '--priority', '*=5');
    // Then
    expect(settled).toMatchObject({ isQuiet: true, bought: 1, bound: 1, needs: { met: 1, unmet: 0 } });
  });

  it('says which changes match nothing', async () => {
    // When
    const text = await run(['--without', 'zone=nowhere']);
    // Then
    expect(text).toContain('without[0] matches nothing.');
  });

  it('refuses a file with all its problems and their paths', async () => {
    // Given
    const changes =
      'without: [{ capacityType: sport }]\nprices: [{ match: { zone: a } }]\ndemands: []\noptions: { sharing: of }\n';
    // When
    const failure = run(['-f', 'changes.yaml'], { 'changes.yaml': changes });
    // Then
    await expect(failure).rejects.toThrow(
      /changes\.without\[0\]\.capacityType.*changes\.prices\[0\].*Give either.*changes\.options\.sharing.*changes\.demands.*Did you mean demand\?/s,
    );
  });

  it.each(['--without', '--price', '--probability'])('refuses %s of a shard', async (flag) => {
    const failure = run([flag, flag === '--without' ? 'shard=shard-1' : 'shard=shard-1=2']);
    await expect(failure).rejects.toMatchObject({ code: 'BF_USAGE' });
    await expect(failure).rejects.toThrow(
      /one shard is all there is until a coordinator exists.*by provider, zone, capacity-type, .*labels/,
    );
  });

  it('refuses a file that removes a shard, beside its other problems', async () => {
    const changes = 'without: [{ shard: shard-1, zones: a }]\nprices: [{ match: { shard: x }, times: 2 }]\n';
    const failure = run(['-f', 'changes.yaml'], { 'changes.yaml': changes });
    await expect(failure).rejects.toThrow(
      /changes\.without\[0\]\.shard: .*until a coordinator exists.*capacityType.*changes\.without\[0\]\.zones: .*Did you mean zone\?.*changes\.prices\[0\]\.match\.shard: .*coordinator/s,
    );
  });

  it('takes a label named shard from a file', async () => {
    const changes = 'without: [{ labels: { shard: x } }]\n';
    expect(await run(['-f', 'changes.yaml'], { 'changes.yaml': changes })).toContain('matches nothing');
  });

  it('names a near type where stock is of an unknown one', async () => {
    await expect(run(['--add', '3:m6i.larg'])).rejects.toThrow('Did you mean m6i.large?');
  });

  it.each([
    ['--price', 'spot'],
    ['--add', 'many:m6i.large'],
    ['--demand', 'web=much'],
  ])('refuses %s %s', async (flag, value) => {
    await expect(run([flag, value])).rejects.toMatchObject({ code: 'BF_USAGE' });
  });
});
