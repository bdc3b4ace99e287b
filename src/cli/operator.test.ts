// `bigfleet operator`, its check and its manifests, with a start of the test.

import { describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import type { OperatorSettings } from '../operator/index.ts';
import { makeLog } from '../runtime/logger.ts';
import { operatorCommand } from './operator.ts';
import { bigfleetProgram } from './program.ts';

interface Seen {
  out: string;
  log: string;
  started: OperatorSettings[];
  stops: number;
}

async function run(words: readonly string[], files: Readonly<Record<string, string>> = {}): Promise<Seen> {
  const seen: Seen = { out: '', log: '', started: [], stops: 0 };
  const read = (file: string): string => {
    const text = files[file];
    if (text === undefined) throw new Error(`${file} does not exist`);
    return text;
  };
  const command = operatorCommand(
    async (settings, log) => {
      seen.started.push(settings);
      log('info', 'operator-started');
      return {
        address: '127.0.0.1:8770',
        isLeader: true,
        stop: async () => void seen.stops++,
      };
    },
    {
      read: async (file) => read(file),
      readSync: read,
      out: (text) => (seen.out += text),
      openLog: ({ cluster, log }) => ({
        log: makeLog(
          { source: { cluster }, level: log.level, format: 'json' },
          { write: (line) => (seen.log += line) },
        ),
        flush: () => Promise.resolve(true),
      }),
      asked: () => Promise.resolve(),
      exit: () => {},
    },
  );
  const program = await bigfleetProgram(() => false);
  const commands = program.commands as unknown[];
  commands.splice(0, commands.length);
  program.addCommand(command.exitOverride());
  for (const each of command.commands) each.exitOverride().configureOutput({ outputError: () => {} });
  await program.parseAsync(['node', 'bigfleet', 'operator', ...words]);
  return seen;
}

const FLAGS = ['--cluster', 'web', '--shard', '127.0.0.1:7780', '--bootstrap-mode', 'tokens'];

describe('bigfleet operator', () => {
  it('given settings, then it starts, says where it listens, and stops on a signal', async () => {
    const { out, log, started, stops } = await run(FLAGS);
    expect(out).toBe(
      'Operator of cluster web: shard 127.0.0.1:7780, probes and metrics at http://127.0.0.1:8770\n',
    );
    expect(JSON.parse(log)).toMatchObject({ cluster: 'web', event: 'operator-started' });
    expect(started[0]).toMatchObject({ cluster: 'web', bootstrap: { mode: 'tokens' } });
    expect(stops).toBe(1);
  });

  it('given a file with mistakes, then all are named and nothing starts', async () => {
    await expect(run(['--config', 'x.yaml'], { 'x.yaml': 'cluster: a b\nbad: 1\n' })).rejects.toThrow(
      /BF_CONFIG_INVALID[\s\S]*x\.yaml:1 cluster[\s\S]*shard\.addresses[\s\S]*x\.yaml:2 bad/,
    );
    await expect(run(['--config', 'gone.yaml'])).rejects.toThrow('BF_INPUT_UNREADABLE');
  });
});

describe('bigfleet operator check', () => {
  it('given a template, then it renders an example; given a wrong one, then line and column', async () => {
    const words = ['check', '--cluster', 'web', '--shard', '127.0.0.1:1', '--bootstrap-template', 't'];
    const { out, started } = await run(words, { t: 'join {{ shell cluster }} as {{ machine }}\n' });
    expect(out).toContain("join 'web' as machine-1\n");
    expect(started).toEqual([]);
    await expect(run(words, { t: 'a\n{{ token }}\n' })).rejects.toThrow(
      't: line 2, column 4: there is no token here',
    );
  });
});

describe('bigfleet operator manifests', () => {
  const words = ['manifests', '--cluster', 'web', '--shard', 'shard.example:7780'];

  it('given the least that is needed, then all objects in YAML; given -o json, then a List', async () => {
    const { out } = await run(words);
    const kinds = parseAllDocuments(out).map((each) => (each.toJS() as { kind: string }).kind);
    expect(kinds).toHaveLength(14);
    const { out: json } = await run([...words, '-o', 'json', '--mode', 'tokens', '--namespace', 'ops']);
    expect((JSON.parse(json) as { items: unknown[] }).items).toHaveLength(16);
  });

  it.each([
    [['--endpoint', 'https://x'], 'bootstrap.endpoint'],
    [['--namespace', 'Not_A_Name'], 'kubernetes.namespace'],
    [['--template', 'bad'], 'line 1, column 4: there is no nothing here'],
    [['--replicas', '9'], 'It must be a number from 1 to 5'],
    [['--template', 'gone'], 'BF_INPUT_UNREADABLE'],
  ])('given %j, then it is refused before anything is printed', async (more, expected) => {
    await expect(run([...words, ...more], { bad: '{{ nothing }}' })).rejects.toThrow(expected);
  });
});
