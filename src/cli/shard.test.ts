// `bigfleet shard` with a fake shard: flags, configuration, first line, ends and exit codes.

import { spawn } from 'node:child_process';
import { on, once } from 'node:events';
import { text } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { BigFleetError } from '../model/index.ts';
import {
  type EndReason,
  makeLog,
  type ShardConfig,
  type ShardPort,
  type StartShard,
} from '../shard/index.ts';
import { shardCommand } from './shard.ts';

const PROVIDER = ['--provider', 'fake=127.0.0.1:9000'];

interface Bench {
  readonly env?: Record<string, string>;
  readonly files?: Record<string, string>;
  readonly start?: StartShard;
  /** The reason that the shard reports when it has stopped. */
  readonly end?: EndReason;
  /** Whether a process reads the log. */
  readonly isRead?: boolean;
}

function bench({ env = {}, files = {}, start, end = { kind: 'stopped' }, isRead = true }: Bench = {}) {
  const seen = {
    out: '',
    err: '',
    log: '',
    code: 0,
    stops: 0,
    flushes: 0,
    exits: 0,
    config: null as ShardConfig | null,
  };
  const asked = Promise.withResolvers<void>();
  const ended = Promise.withResolvers<EndReason>();
  const started = Promise.withResolvers<void>();
  const io = {
    env,
    read: (file: string) =>
      file in files ? Promise.resolve(files[file]!) : Promise.reject(new Error(`ENOENT: ${file}`)),
    out: (text: string) => {
      seen.out += text;
      started.resolve();
    },
    err: (text: string) => {
      seen.err += text;
    },
    openLog: ({ id, log }: ShardConfig) => ({
      log: makeLog(
        { source: { shard: id }, level: log.level, format: 'json' },
        { write: (line) => (seen.log += line) },
      ),
      flush: () => {
        seen.flushes++;
        return Promise.resolve(isRead);
      },
    }),
    asked: () => asked.promise,
    exitCode: (code: number) => {
      seen.code = code;
    },
    exit: () => {
      seen.exits++;
    },
  };
  const quiet: StartShard = (config, { log }) => {
    seen.config = config;
    log('info', 'started', {});
    return Promise.resolve({
      port: {} as ShardPort,
      epoch: 3n,
      addresses: { sessions: '127.0.0.1:7001', api: '127.0.0.1:8001' },
      stop: () => {
        seen.stops++;
        ended.resolve(end);
        return Promise.resolve();
      },
      ended: ended.promise,
    });
  };
  const run = (...args: readonly string[]): Promise<unknown> =>
    shardCommand(start ?? quiet, io)
      .exitOverride()
      .configureOutput({ writeErr: () => {}, writeOut: (text) => (seen.out += text) })
      .parseAsync(args, { from: 'user' });
  return { seen, run, ask: asked.resolve, end: ended.resolve, started: started.promise };
}

describe('bigfleet shard', () => {
  it('given flags, then the shard runs with them, and the first line has its addresses', async () => {
    const { seen, run, ask, started } = bench();
    const running = run(
      ...PROVIDER,
      '--id',
      'west',
      '--provider',
      'b=localhost:1',
      '--dry-run',
      '--data-dir=d',
    );
    await started;
    expect(seen.config).toMatchObject({
      id: 'west',
      dataDir: 'd',
      providers: [
        { name: 'fake', address: '127.0.0.1:9000' },
        { name: 'b', address: 'localhost:1' },
      ],
      guardrails: { dryRun: true },
    });
    expect(seen.out.split('\n')).toEqual([
      'Shard west takes sessions at 127.0.0.1:7001, API and metrics at http://127.0.0.1:8001',
      'State is in d, epoch 3.',
      'Providers: fake (127.0.0.1:9000), b (localhost:1).',
      'Dry run: it decides and shows, and carries out nothing.',
      '',
    ]);
    ask();
    await running;
    expect(seen).toMatchObject({ code: 0, stops: 1, err: '', flushes: 1 });
    expect(JSON.parse(seen.log)).toMatchObject({ event: 'started', shard: 'west' });
  });

  it('given a file, the environment and flags, then the environment overrides the file, and flags both', async () => {
    const files = {
      'shard.yaml': 'id: a\nrails: { dryRun: true }\nproviders: [{ name: p, address: localhost:1 }]',
    };
    const { seen, run, ask, started } = bench({ files, env: { BIGFLEET_SHARD_ID: 'b' } });
    const running = run('--config', 'shard.yaml', '--dry-run=false');
    await started;
    expect(seen.config).toMatchObject({ id: 'b', guardrails: { dryRun: false } });
    ask();
    await running;
  });

  it('given --print-config, then it prints YAML and starts nothing', async () => {
    const { seen, run } = bench({ env: { BIGFLEET_SHARD_CYCLE_INTERVAL: '5s' } });
    await run('--print-config', '--id', 'x');
    expect(seen.config).toBeNull();
    expect(parse(seen.out)).toMatchObject({ id: 'x', cycle: { interval: '5s', spacing: '200ms' } });
    expect(seen.out).toContain('# --id');
    expect(seen.out).toContain('# BIGFLEET_SHARD_CYCLE_INTERVAL');
  });

  it('given several mistakes, then all are listed at once, and nothing is started', async () => {
    const { seen, run } = bench({ files: { f: 'lisen: x' }, env: { BIGFLEET_SHARD_IDD: 'x' } });
    const error = await run('--config', 'f', '--provder', 'a=b:1', '--lanes=3', 'word', '--api', 'x').catch(
      (each: unknown) => each as BigFleetError,
    );
    expect(error).toMatchObject({ code: 'BF_CONFIG_INVALID' });
    expect((error as Error).message.split('\n').slice(1, -1)).toEqual([
      '  --provder: There is no such flag. Did you mean --provider?',
      expect.stringContaining('  --lanes: There is no such flag.'),
      '  word: It belongs to no flag.',
      '  f:1 lisen: There is no such setting. Did you mean listen?',
      '  BIGFLEET_SHARD_IDD: There is no such setting. Did you mean BIGFLEET_SHARD_ID?',
      expect.stringContaining('  --api: Expected HOST:PORT'),
      expect.stringContaining('  providers: At least one is needed'),
    ]);
    expect(seen.config).toBeNull();
  });

  it('given an argument without a flag, then it is refused', async () => {
    await expect(bench().run('start', ...PROVIDER)).rejects.toThrow('start: It belongs to no flag.');
  });

  it('given a file that cannot be read, then the error names it', async () => {
    await expect(bench().run('--config', 'none')).rejects.toThrow('BF_INPUT_UNREADABLE: none: ENOENT');
  });

  it.each([
    { kind: 'fenced', message: 'A newer process acts for shard-0.' },
    { kind: 'failed', message: 'The disk is full.' },
  ] as const)(
    'given a shard that ends as $kind, then it prints the reason, and the exit code is 1',
    async (reason) => {
      const { seen, run, end, started } = bench();
      const running = run(...PROVIDER);
      await started;
      end(reason);
      await running;
      expect(seen).toMatchObject({ code: 1, err: `${reason.message}\n`, flushes: 1 });
    },
  );

  it('given a stop that fails, then the exit code is 1', async () => {
    const { seen, run, ask } = bench({ end: { kind: 'failed', message: 'Could not be written.' } });
    ask();
    await run(...PROVIDER);
    expect(seen).toMatchObject({ code: 1, stops: 1 });
  });

  it.each([
    { isRead: true, exits: 0 },
    { isRead: false, exits: 1 },
  ])(
    'given a log that is read: $isRead, then the process does not wait for it',
    async ({ isRead, exits }) => {
      const { seen, run, ask } = bench({ isRead });
      ask();
      await run(...PROVIDER);
      expect(seen).toMatchObject({ code: 0, stops: 1, flushes: 1, exits });
    },
  );

  it.each(['BF_STORE_LOCKED', 'BF_EPOCH_LOST', 'BF_LISTEN_FAILED'] as const)(
    'given a start that is refused with %s, then the command has that error, and the log is written',
    async (code) => {
      const { seen, run } = bench({ start: () => Promise.reject(new BigFleetError(code, 'x.')) });
      await expect(run(...PROVIDER)).rejects.toThrow(code);
      expect(seen).toMatchObject({ flushes: 1 });
    },
  );

  it('given --help, then it has flags, defaults, exit codes and examples', async () => {
    const { seen, run } = bench();
    await expect(run('--help')).rejects.toThrow();
    const text = seen.out.replace(/\s+/g, ' ');
    for (const part of ['--listen <host:port>', '(default: 127.0.0.1:7780)', '--dry-run [true|false]']) {
      expect(text).toContain(part);
    }
    expect(text).toContain('Exit code 0: ended by a signal.');
    expect(text).toContain('bigfleet shard --provider fake=127.0.0.1:9000');
  });
});

describe('the process of bigfleet shard', () => {
  /** Its shard stops after `stopMs`. */
  function startProcess(stopMs: number) {
    const url = new URL('./shard.ts', import.meta.url).href;
    const script = `import { shardCommand } from ${JSON.stringify(url)};
      const ended = Promise.withResolvers();
      const start = async (config, { log }) => {
        const alive = setInterval(() => {}, 1000);
        log('info', 'shard-started', { epoch: 3n });
        return {
          epoch: 3n,
          addresses: { sessions: 'here', api: 'there' },
          ended: ended.promise,
          stop: async () => {
            log('info', 'shard-stopping');
            console.log('stopping');
            await new Promise((resolve) => setTimeout(resolve, ${stopMs}));
            clearInterval(alive);
            ended.resolve({ kind: 'stopped' });
          },
        };
      };
      await shardCommand(start).parseAsync(${JSON.stringify(PROVIDER)}, { from: 'user' });`;
    const child = spawn(process.execPath, ['--input-type=module', '-e', script]);
    const said = async (word: string): Promise<void> => {
      for await (const [chunk] of on(child.stdout, 'data')) if (String(chunk).includes(word)) return;
    };
    return { child, said, errors: text(child.stderr), exited: once(child, 'exit') };
  }

  it.each(['SIGINT', 'SIGTERM'] as const)(
    'given %s, then it stops the shard, and the log is written',
    async (signal) => {
      const { child, said, errors, exited } = startProcess(1);
      await said('takes sessions at here');
      child.kill(signal);
      expect(await exited).toEqual([0, null]);
      const events = (await errors)
        .trim()
        .split('\n')
        .map((line) => (JSON.parse(line) as { event: string }).event);
      expect(events).toEqual(['shard-started', 'shard-stopping']);
    },
  );

  it('given two signals, then it ends at once', async () => {
    const { child, said, exited } = startProcess(60_000);
    await said('takes sessions at here');
    child.kill('SIGTERM');
    await said('stopping');
    child.kill('SIGINT');
    expect(await exited).toEqual([130, null]);
  });
});
