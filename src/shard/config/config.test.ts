// Settings from four places, everything that is wrong in one go, and a print that reads back as the same.

import { availableParallelism } from 'node:os';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CapacityType, MachineState } from '../../model/index.ts';
import { didYouMean } from '../../runtime/nearest.ts';
import { DEFAULT_CONTROLLER } from '../planning/options.ts';
import { sessionLimits } from '../sessions/limits.ts';
import {
  type ConfigSources,
  controllerOptionsOf,
  defaultConfig,
  type LoadedConfig,
  loadConfig,
} from './config.ts';
import { printConfig } from './print.ts';
import { KEYS, settingOf, variableOf } from './settings.ts';

interface SomeSources extends Partial<Omit<ConfigSources, 'file'>> {
  readonly yaml?: string;
}

function load({ yaml, env = {}, flags = {} }: SomeSources, toStart = false) {
  const file = yaml === undefined ? {} : { file: { path: 'shard.yaml', text: yaml } };
  return loadConfig({ ...file, env, flags }, toStart);
}

function loaded(sources: SomeSources): LoadedConfig {
  const result = load(sources);
  if (!result.ok) throw new Error(JSON.stringify(result.problems));
  return result.value;
}

function problemsOf(sources: SomeSources, toStart = false): string[] {
  const result = load(sources, toStart);
  if (result.ok) return [];
  expect(new Set(result.problems.map(({ code }) => code))).toEqual(new Set(['BF_CONFIG_INVALID']));
  return result.problems.map(({ path, message }) => `${path}: ${message}`);
}

describe('the configuration of a shard', () => {
  it('given no setting, then the controller has its defaults and uses all cores but one', () => {
    const config = defaultConfig();
    expect(loaded({}).config).toEqual(config);
    const { releaseHoldSeconds, engine, ...controller } = controllerOptionsOf(config, 7n, 42);
    const { releaseHoldSeconds: holds, engine: standard, ...rest } = DEFAULT_CONTROLLER;
    expect(controller).toEqual({ shard: 'shard-0', epoch: 7n, seed: 42, providers: [], ...rest });
    expect(engine).toEqual({ ...standard, workers: Math.max(1, availableParallelism() - 1) });
    expect(new Map([...releaseHoldSeconds].filter(([, seconds]) => seconds > 0))).toEqual(holds);
  });

  it('given a setting in several sources, then flags override the environment, which overrides the file', () => {
    const yaml = 'id: from-file\nlisten: 127.0.0.1:1\ncycle: { interval: 1m, spacing: 1m }\n';
    const env = { BIGFLEET_SHARD_LISTEN: '127.0.0.1:2', BIGFLEET_SHARD_CYCLE_INTERVAL: '2m', OTHER: 'x' };
    const { config, origins } = loaded({ yaml, env, flags: { 'cycle.interval': '3m' } });
    expect(config).toMatchObject({
      id: 'from-file',
      listen: '127.0.0.1:2',
      cycle: { intervalMs: 180_000, spacingMs: 60_000 },
    });
    expect(Object.fromEntries(origins)).toEqual({
      id: 'shard.yaml:1 id',
      listen: 'BIGFLEET_SHARD_LISTEN',
      'cycle.interval': '--cycle-interval',
      'cycle.spacing': 'shard.yaml:3 cycle.spacing',
    });
  });

  it('given values of every kind, then the controller gets them in its units', () => {
    const yaml = `
epochAtLeast: 12
providers: [{ name: metal, address: "[::1]:9000" }, { name: cloud, address: localhost:9001 }]
phase1: { workers: 3, lanes: fixed:2, incremental: false }
guardrails: { reclaimCapFraction: 0.5, renewalFraction: 0.25, dryRun: true }
renewal: off
sharing: on
poolOrder: coverage
victimWeights: { priority: 2.5 }
releaseHold: { reserved: 2d, spot: never }
actuation: { deadlines: { draining: 1h }, machineBackoff: { base: 1.5s } }
breaker: { failures: 9, max: 1h }
`;
    const { config } = loaded({ yaml });
    const options = controllerOptionsOf(config, 12n, 1);
    expect(config.epochAtLeast).toBe(12n);
    expect(options).toMatchObject({
      providers: ['metal', 'cloud'],
      engine: { workers: 3, lanes: 2, incremental: false },
      guardrails: { reclaimFraction: 0.5, dryRun: true },
      weights: { priority: 2.5 },
      renewal: { isOn: false, fraction: 0.25 },
      economy: { sharing: 'on', poolOrder: 'coverage' },
      actuation: { deadlineMs: { [MachineState.Draining]: 3_600_000 }, machine: { baseMs: 1500 } },
      scheduler: { breakerFailures: 9, breaker: { baseMs: 10_000, maxMs: 3_600_000 } },
    });
    expect(options.releaseHoldSeconds.get(CapacityType.Reserved)).toBe(172_800);
    expect(options.releaseHoldSeconds.get(CapacityType.Spot)).toBe(0);
  });

  it('given providers as text, then a variable with a list and repeated flags are read alike', () => {
    const providers = [
      { name: 'a', address: '127.0.0.1:1' },
      { name: 'b', address: 'localhost:2' },
    ];
    const env = { BIGFLEET_SHARD_PROVIDERS: 'a=127.0.0.1:1,b=localhost:2' };
    expect(loaded({ env }).config.providers).toEqual(providers);
    const flags = { providers: ['a=127.0.0.1:1', 'b=localhost:2'] };
    expect(loaded({ env: { BIGFLEET_SHARD_PROVIDERS: 'c=localhost:3' }, flags }).config.providers).toEqual(
      providers,
    );
  });

  it('given a section by its former name, in a file or a variable, then it is read as the section it is now', () => {
    expect(loaded({ yaml: 'rails: { reclaimCapFraction: 0.5 }' }).config.guardrails.reclaimFraction).toBe(
      0.5,
    );
    const env = { BIGFLEET_SHARD_RAILS_DRY_RUN: 'true' };
    expect(loaded({ env }).config.guardrails.dryRun).toBe(true);
  });

  it('given the order of accelerators and resources to ignore, in a file, a variable or a flag, then they are read alike', () => {
    const economy = {
      accelerators: 'last',
      ignoredAccelerators: new Set(['example.com/fuse', 'example.com/tun']),
    };
    const text = 'last,example.com/fuse,example.com/tun';
    const yaml = 'accelerators: { order: last, ignore: [example.com/fuse, example.com/tun] }';
    for (const sources of [
      { yaml },
      { env: { BIGFLEET_SHARD_ACCELERATORS: text } },
      { flags: { accelerators: text } },
    ])
      expect(loaded(sources).config.economy).toMatchObject(economy);
    const printed = printConfig(loaded({ flags: { accelerators: text } }));
    expect(loaded({ yaml: printed }).config.economy).toMatchObject(economy);
    expect(loaded({ yaml: 'accelerators: last' }).config.economy.ignoredAccelerators.size).toBe(0);
    expect(problemsOf({ flags: { accelerators: 'first' } })).toEqual([
      expect.stringContaining('--accelerators: Expected last or by-price, or in a file { order, ignore'),
    ]);
  });

  it('given a ceiling on spending, for the shard and by cluster, then it is read and printed; without one there is none', () => {
    const yaml = 'guardrails: { maxPurchasedPerHour: 0, maxPurchasedPerHourOf: { prod: 300, "*": 12.5 } }';
    const limits = {
      maxPurchasedPerHour: 0,
      maxPurchasedPerHourOf: new Map([
        ['prod', 300],
        ['*', 12.5],
      ]),
    };
    expect(loaded({ yaml }).config.spending).toEqual(limits);
    expect(loaded({ yaml: printConfig(loaded({ yaml })) }).config.spending).toEqual(limits);
    const flags = { 'guardrails.maxPurchasedPerHourOf': ['prod=300', '*=12.5'] };
    expect(loaded({ flags }).config.spending).toEqual({
      ...limits,
      maxPurchasedPerHour: Number.POSITIVE_INFINITY,
    });
    expect(problemsOf({ yaml: 'guardrails: { maxPurchasedPerHour: -1 }' })).toEqual([
      'shard.yaml:1 guardrails.maxPurchasedPerHour: Expected dollars per hour from 0 to 1000000000, or "none", found -1.',
    ]);
  });

  it.each([
    ['0', 0],
    ['0s', 0],
    ['90s', 90],
    ['10m', 600],
  ])('given %s as the reclaim hold, then it is %i seconds', (text, seconds) => {
    expect(loaded({ yaml: `reclaimHold: ${text}` }).config.economy.reclaimHoldSeconds).toBe(seconds);
    expect(loaded({ flags: { reclaimHold: text } }).config.economy.reclaimHoldSeconds).toBe(seconds);
  });

  it.each(['never', '5', '-1s', '366d'])('given %s as the reclaim hold, then it is refused', (text) => {
    expect(problemsOf({ yaml: `reclaimHold: ${text}` })).toEqual([
      expect.stringContaining('Expected a duration from 0 to 365d, such as 10m, found'),
    ]);
  });

  it('given prices of owned machines in a file, a variable or flags, then they are read alike', () => {
    const prices = new Map([
      ['bare-metal', 1.2],
      ['a3-highgpu-8g', 42],
    ]);
    const key = 'ownedPrices';
    expect(loaded({ yaml: `${key}: { bare-metal: 1.20, a3-highgpu-8g: 42 }` }).config[key]).toEqual(prices);
    const text = 'bare-metal=1.20,a3-highgpu-8g=42';
    expect(loaded({ env: { BIGFLEET_SHARD_OWNED_PRICES: text } }).config[key]).toEqual(prices);
    expect(loaded({ flags: { [key]: text.split(',') } }).config[key]).toEqual(prices);
    const printed = printConfig(loaded({ flags: { [key]: [text] } }));
    expect(loaded({ yaml: printed }).config[key]).toEqual(prices);
  });

  it.each(['bare-metal', 'bare-metal=', '=1', 'bare-metal=-1', 'a=1,a=2', 'a=much'])(
    'given %j as prices of owned machines, then it is refused with what is expected',
    (text) => {
      expect(problemsOf({ flags: { ownedPrices: [text] } })).toEqual([
        `--owned-price: Expected dollars per hour as NAME=PRICE, or in a file as a mapping of names to prices, found ["${text}"].`,
      ]);
    },
  );

  it('given many mistakes in all sources, then all are reported, each with its position', () => {
    const yaml = `
id: 5
lisen: 127.0.0.1:1
cycle:
  intervall: 5s
  spacing: 200
guardrails: 0.05
providers: [{ name: a, address: nowhere }]
`;
    const env = { BIGFLEET_SHARD_PHASE1_WORKERS: '0', BIGFLEET_SHARD_DATADIR: '/x' };
    const flags = { 'guardrails.dryRun': 'perhaps', 'releaseHold.spot': '5' };
    expect(problemsOf({ yaml, env, flags }, true)).toEqual([
      'shard.yaml:3 lisen: There is no such setting. Did you mean listen?',
      'shard.yaml:5 cycle.intervall: There is no such setting. Did you mean cycle.interval?',
      'shard.yaml:7 guardrails: Expected settings by name, as in "listen: 127.0.0.1:7780".',
      'BIGFLEET_SHARD_DATADIR: There is no such setting. Did you mean BIGFLEET_SHARD_DATA_DIR?',
      'shard.yaml:2 id: Expected a name of letters, digits, dots, dashes and underscores, at most 253, found 5.',
      'shard.yaml:6 cycle.spacing: Expected a duration from 0s to 24d, such as 500ms, 10s or 5m, found 200.',
      expect.stringContaining('shard.yaml:8 providers: Expected providers as NAME=HOST:PORT'),
      'BIGFLEET_SHARD_PHASE1_WORKERS: Expected auto, or a whole number from 1 to 1024, found "0".',
      '--dry-run: Expected true or false, found "perhaps".',
      expect.stringContaining('--release-hold-spot: Expected a duration'),
    ]);
  });

  it('given the variables that Kubernetes sets for a service, then they are ignored', () => {
    const env = {
      BIGFLEET_SHARD_SERVICE_HOST: '10.0.0.1',
      BIGFLEET_SHARD_SERVICE_PORT: '7780',
      BIGFLEET_SHARD_SERVICE_PORT_GRPC: '7780',
      BIGFLEET_SHARD_PORT: 'tcp://10.0.0.1:7780',
      BIGFLEET_SHARD_PORT_7780_TCP: 'tcp://10.0.0.1:7780',
      BIGFLEET_SHARD_PORT_7780_TCP_ADDR: '10.0.0.1',
      BIGFLEET_SHARD_API_SERVICE_HOST: '10.0.0.2',
      BIGFLEET_SHARD_ID: '',
    };
    expect(loaded({ env }).config).toEqual(defaultConfig());
    const named = KEYS.map(variableOf).filter((name) => /_PORT$|_SERVICE_/.test(name));
    expect(named).toEqual([]);
  });

  it.each(['providers: [1', '- providers'])(
    'given a file that cannot be read, %j, then problems that it could resolve are not reported',
    (yaml) => {
      const sources = { yaml, flags: { listen: '10.0.0.1:1', 'cycle.interval': 'soon' } } as const;
      expect(problemsOf(sources, true)).toEqual([
        expect.stringMatching(/^shard\.yaml/),
        expect.stringMatching(/^--cycle-interval: Expected a duration/),
      ]);
    },
  );

  it.each([
    ['a: [1', /shard\.yaml:1: /],
    ['id: a\nid: b', /shard\.yaml:2: /],
    ['- id', /shard\.yaml: Expected settings by name/],
    ['id:', /shard\.yaml:1 id: Expected a name.* found nothing/],
    ['interval: 5s', /Did you mean cycle\.interval\?/],
    ['__proto__: { x: 1 }', /There is no such setting\./],
    ['tls: { cert: a }', /missing: tls\.key, tls\.ca/],
    ['listen: :7780', /0\.0\.0\.0:7780 is not on loopback/],
    ['api: 10.0.0.1:8780', /10\.0\.0\.1:8780 is not on loopback/],
    ['api: :8780\ntls: { cert: c, key: k, ca: a, api: false }', /leave tls\.api true/],
    ['providers: [{ name: a, address: far.example:1 }]', /far\.example:1 is not on loopback/],
    ['providers: [{ name: a, address: localhost:1 }, { name: a, address: localhost:2 }]', /Two .* named a/],
    ['providers: [{ name: a, address: localhost:1, zone: b }]', /Expected providers/],
    ['api: 127.0.0.1:7780', /same as listen/],
    ['breaker: { base: 1h }', /breaker\.base is more than breaker\.max/],
    ['reconcile: { interval: 2m }', /reconcile\.interval is more than reconcile\.fullInterval/],
    ['cycle: { interval: 25d }', /Expected a duration/],
    ['guardrails: { reclaimCapFraction: 1.5 }', /Expected a number from 0 to 1/],
    ['guardrails: { renewalFraction: -0.1 }', /Expected a number from 0 to 1/],
    ['renewal: sometimes', /Expected/],
    ['epochAtLeast: 9223372036854775807', /Expected a whole number/],
    ['listen: 127.0.0.1:70000', /Expected HOST:PORT/],
  ])('given %j, then it is refused', (yaml, why) => {
    expect(problemsOf({ yaml }).join('\n')).toMatch(why);
  });

  it('given --insecure or all TLS files, then addresses other than loopback are accepted', () => {
    const yaml = 'listen: :7780\nproviders: [{ name: a, address: far.example:1 }]\n';
    const { tls } = loaded({ yaml: `${yaml}tls: { cert: c, key: k, ca: a }` }).config;
    expect(tls).toEqual({ cert: 'c', key: 'k', ca: 'a' });
    const { apiTls } = loaded({ yaml: `${yaml}api: :8780\ntls: { cert: c, key: k, ca: a }` }).config;
    expect(apiTls).toEqual(tls);
    const plain = loaded({ yaml: `${yaml}tls: { cert: c, key: k, ca: a, api: false }` }).config;
    expect(plain).toMatchObject({ tls, apiTls: null });
    const insecure = loaded({ yaml, flags: { insecure: true } }).config;
    expect(insecure).toMatchObject({ listen: '0.0.0.0:7780', insecure: true, tls: null });
  });

  it('given an API off loopback without TLS, then --insecure is not enough: callers must have tokens', () => {
    const yaml = 'api: :8780\n';
    const flags = { insecure: true } as const;
    expect(problemsOf({ yaml, flags })).toEqual([expect.stringContaining('callers would be unknown')]);
    const withTls = `${yaml}tls: { cert: c, key: k, ca: a, api: false }`;
    expect(problemsOf({ yaml: withTls, flags })).toEqual([expect.stringContaining('set apiTokensFile')]);
    expect(problemsOf({ yaml: `${yaml}apiTokensFile: tokens.yaml` })).toEqual([
      expect.stringContaining('would be plaintext'),
    ]);
    const { config } = loaded({ yaml: `${yaml}apiTokensFile: tokens.yaml`, flags });
    expect(config).toMatchObject({ api: '0.0.0.0:8780', apiTokensFile: 'tokens.yaml', apiTls: null });
  });

  it('given no provider, then only a shard that is about to start refuses', () => {
    expect(problemsOf({ yaml: '' })).toEqual([]);
    expect(problemsOf({ yaml: '' }, true)).toEqual([expect.stringContaining('At least one is needed')]);
    expect(problemsOf({ yaml: 'providers: []' }, true)).toHaveLength(1);
  });

  it('given anchors and empty sections, then they have their meaning in YAML', () => {
    const yaml = 'cycle:\nactuation:\n  retry: &r { base: 2s, max: 3s }\n  machineBackoff: *r\n';
    expect(loaded({ yaml }).config.actuation.machine).toEqual({ baseMs: 2000, maxMs: 3000 });
  });
});

describe('the limits of sessions', () => {
  it('given a frame size, then the limit of waiting bytes is derived from it unless it is set', () => {
    const of = (yaml: string) => sessionLimits(loaded({ yaml }).config.limits);
    expect(of('')).toMatchObject({ frameBytes: 2 ** 26, waitingBytes: 2 ** 28, rollupRows: 50_000 });
    expect(of('limits: { frameBytes: 268435456 }').waitingBytes).toBe(2 ** 29);
    expect(of('limits: { waitingBytes: 100000000, greetingPerPeer: 3 }')).toMatchObject({
      waitingBytes: 100_000_000,
      greetingPerPeer: 3,
    });
  });

  it.each([
    ['limits: { frameBytes: 1048575 }', 'a whole number from 1048576 to 268435456'],
    ['limits: { frameBytes: 268435457 }', 'a whole number from 1048576 to 268435456'],
    ['limits: { waitingBytes: 2000000 }', 'limits.frameBytes is more than limits.waitingBytes.'],
  ])('given %j, then it is refused', (yaml, problem) => {
    expect(problemsOf({ yaml })).toEqual([expect.stringContaining(problem)]);
  });
});

describe('the printed configuration', () => {
  it('given values that are not the default, then only these have a comment with their source', () => {
    const env = { BIGFLEET_SHARD_CYCLE_INTERVAL: '5s', BIGFLEET_SHARD_ID: 'shard-0' };
    const text = printConfig(
      loaded({ env, yaml: 'dataDir: "a # b"\n', flags: { providers: ['m=localhost:1'] } }),
    );
    expect(text).toContain('  interval: 5s  # BIGFLEET_SHARD_CYCLE_INTERVAL\n');
    expect(text).toContain('dataDir: "a # b"  # shard.yaml:1 dataDir\n');
    expect(text).toContain('providers:  # --provider\n  - {"name":"m","address":"localhost:1"}\n');
    expect(text).toContain('\nid: shard-0\n');
    expect(text).toContain('\n  # cert:\n');
    expect(text.match(/ {2}# /g)).toHaveLength(3 + 3);
  });

  it('given any configuration, then its printed form has every setting and reads as the same configuration', () => {
    const ms = fc.integer({ min: 10, max: 20 * 86_400_000 });
    const given = fc.record(
      {
        id: fc.stringMatching(/^[a-z0-9][a-z0-9.]{0,5}$/),
        dataDir: fc.string({ minLength: 1 }).filter((text) => !text.includes('\0')),
        epochAtLeast: fc.bigInt({ min: 0n, max: 2n ** 63n - 2n }).map(String),
        'tls.cert': fc.constant('c'),
        'tls.key': fc.constant('null'),
        'tls.ca': fc.constant('~'),
        'cycle.spacing': ms.map((value) => `${value}ms`),
        'guardrails.reclaimCapFraction': fc
          .double({ min: 0, max: 1, noNaN: true })
          .map((value) => value.toFixed(6)),
        'phase1.lanes': fc.constantFrom('auto', 'fixed:3'),
        'releaseHold.spot': fc.constantFrom('never', '1500ms', '2h'),
        providers: fc.constantFrom(['a=localhost:1'], ['a=127.0.0.1:1', 'true=[::1]:2']),
      },
      { requiredKeys: ['tls.cert', 'tls.key', 'tls.ca'] },
    );
    fc.assert(
      fc.property(given, (flags) => {
        const first = loaded({ flags });
        const text = printConfig(first);
        expect(loaded({ yaml: text }).config).toEqual(first.config);
        for (const key of KEYS) expect(text).toContain(`${key.split('.').at(-1)}:`);
      }),
    );
  });
});

describe('the table of settings', () => {
  it('given any default, then its written form reads as the same value', () => {
    for (const key of KEYS) {
      const { kind, defaultValue } = settingOf(key);
      if (defaultValue !== undefined)
        expect([key, kind.type.parse(kind.write(defaultValue))]).toEqual([key, defaultValue]);
    }
  });

  it('given all settings, then every flag appears once', () => {
    const flags = KEYS.map((key) => settingOf(key).flag).filter((flag) => flag !== undefined);
    expect(new Set(flags).size).toBe(flags.length);
  });

  it.each([
    ['lisen', ' Did you mean listen?'],
    ['DATADIR', ' Did you mean dataDir?'],
    ['cpu', ''],
    ['', ''],
  ])('given %j, then the suggestion is %j', (word, question) => {
    expect(didYouMean(word, ['listen', 'dataDir', 'cycle.interval'])).toBe(question);
  });
});
