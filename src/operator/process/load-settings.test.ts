// Settings of the operator: what is accepted, what is refused, and where the message points.

import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { type FlagValues, loadSettings, SETTING_FLAGS } from './load-settings.ts';
import type { OperatorSettings } from './settings.ts';
import { documentedSettings, operatorConfigurationPage } from './settings-page.ts';

const MINIMAL: FlagValues = {
  cluster: 'web',
  'shard.addresses': '127.0.0.1:7780',
  'bootstrap.mode': 'tokens',
};

function loaded(text: string, flags: FlagValues = MINIMAL): OperatorSettings {
  const result = loadSettings({ file: { path: 'operator.yaml', text }, flags });
  if (result.ok) return result.value;
  throw new Error(result.problems.map(({ path, message }) => `${path}: ${message}`).join('\n'));
}

function problems(text: string, flags: FlagValues = MINIMAL): string[] {
  const result = loadSettings({ file: { path: 'operator.yaml', text }, flags });
  return result.ok ? [] : result.problems.map(({ path, message }) => `${path}: ${message}`);
}

describe('settings of the operator', () => {
  it('given the least that is needed, then everything else has its default', () => {
    const settings = loaded('');
    expect(settings).toMatchObject({
      cluster: 'web',
      listen: ':8770',
      shard: { addresses: ['127.0.0.1:7780'], insecure: false, tls: {} },
      session: { rollupInterval: 10_000 },
      demand: {
        mode: 'all',
        defaultRequirements: [{ key: 'kubernetes.io/arch', operator: 'In', values: ['amd64'] }],
      },
      leaderElection: { enabled: true, leaseDuration: 15_000 },
    });
  });

  it('given a file and flags, then flags beat the file', () => {
    const settings = loaded(
      'cluster: other\nshard: { addresses: [a.example:1, b.example:2], insecure: true }\n',
      {
        cluster: 'web',
        'bootstrap.mode': 'tokens',
      },
    );
    expect(settings.cluster).toBe('web');
    expect(settings.shard.addresses).toEqual(['a.example:1', 'b.example:2']);
  });

  it('given several mistakes, then all are reported, each with its line or flag', () => {
    const text = [
      'shard:',
      '  adresses: x',
      'session:',
      '  rollupInterval: soon',
      'demand:',
      '  mode: some',
      '  taints:',
      '    - selector: {}',
      '      taints: [{ key: a, effect: Never }]',
      'leaderElection: { renewDeadline: 20 }',
      'listen: nowhere',
    ].join('\n');
    const found = problems(text, { ...MINIMAL, 'log.level': 'loud' });
    expect(found.map((line) => line.split(': ')[0])).toEqual([
      'operator.yaml:2 shard.adresses',
      'operator.yaml:11 listen',
      'operator.yaml:4 session.rollupInterval',
      'operator.yaml:6 demand.mode',
      'operator.yaml:8 demand.taints[0].selector',
      'operator.yaml:9 demand.taints[0].taints[0].effect',
      'operator.yaml:10 leaderElection.renewDeadline',
      '--log-level',
    ]);
    expect(found[0]).toContain('known here: addresses, tls, insecure. Did you mean addresses?');
    expect(found[2]).toContain('Expected a duration from 1s to 5m, such as 500ms, 10s or 5m, found "soon".');
  });

  it('given no cluster and no shard, then both are asked for', () => {
    expect(problems('', {})).toEqual([
      'operator.yaml cluster: It must be given.',
      'operator.yaml shard.addresses: It must be given.',
    ]);
  });

  it.each([
    ['shard: { tls: { cert: a } }', MINIMAL, 'All three TLS files are needed'],
    ['', { ...MINIMAL, 'shard.addresses': 'shard.example:1' }, 'would be plaintext'],
    ['', { cluster: 'web', 'shard.addresses': '127.0.0.1:1' }, 'Mode template needs a template'],
    ['leaderElection: { renewDeadline: 15s }', MINIMAL, 'less than leaseDuration'],
    ['leaderElection: { retryPeriod: 9s }', MINIMAL, 'five sixths of renewDeadline'],
    ['bootstrap: { tokenGroups: [system:masters] }', MINIMAL, 'operator.yaml:1 bootstrap.tokenGroups'],
    ['- a', MINIMAL, 'Expected settings by name'],
    ['a: [', MINIMAL, 'operator.yaml:1'],
    [`a: ${'x'.repeat(2_000_000)}`, MINIMAL, 'more than 1048576 bytes'],
  ])('given %j with flags, then it is refused', (text, flags, expected) => {
    expect(problems(text.slice(0, 2_000_100), flags as FlagValues).join('\n')).toContain(expected);
  });

  it('given an example of the reference page, then it is accepted', () => {
    const [, yaml = ''] = /```yaml\n([\s\S]*?)```/.exec(operatorConfigurationPage()) ?? [];
    expect(loaded(yaml, {}).demand.mode).toBe('opt-in');
  });

  it('given a default of the reference page, then it is what an absent setting has', () => {
    const settings = loaded('') as unknown as Record<string, unknown>;
    const documented = documentedSettings().filter(({ defaultText }) =>
      /^(true|false|\d+)$/.test(defaultText),
    );
    expect(documented.length).toBeGreaterThan(4);
    for (const { key, defaultText } of documented) {
      const value = key
        .split('.')
        .reduce<unknown>((at, name) => (at as Record<string, unknown>)[name], settings);
      expect(`${key} ${String(value)}`).toBe(`${key} ${defaultText}`);
    }
  });

  it('given the flags, then each names a setting', () => {
    const keys = new Set(documentedSettings().map(({ key }) => key));
    expect(Object.keys(SETTING_FLAGS).filter((key) => !keys.has(key))).toEqual([]);
  });

  it('given the page in docs/reference, then it is the one of the settings', () => {
    const page = readFileSync(
      new URL('../../../docs/reference/operator-configuration.md', import.meta.url),
      'utf8',
    );
    expect(page).toBe(operatorConfigurationPage());
  });
});
