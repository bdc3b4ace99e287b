// `bigfleet provider fake`: a capacity provider over a simulated cloud, for trials and tests. By default it has
// latencies, lost answers and stock-outs, like real clouds; the preset calm has none.

import { Command, Option } from 'commander';
import { PRESET_NAMES, type PresetName } from '../provider/fake/settings.ts';
import { durationOption, wholeNumber } from './flags.ts';

/** Output of the command, and when it ends; tests pass their own. */
export interface FakeIo {
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
  /** Resolves when the process is asked to end. */
  readonly ended: () => Promise<unknown>;
}

const PROCESS_IO: FakeIo = {
  out: (text) => process.stdout.write(text),
  err: (text) => process.stderr.write(text),
  ended: () =>
    new Promise((resolve) => {
      for (const signal of ['SIGINT', 'SIGTERM'] as const) {
        process.once(signal, () => {
          // A second signal exits at once; the state file is consistent at any moment.
          process.once(signal, () => process.exit(130));
          resolve(signal);
        });
      }
    }),
};

export interface FakeFlags {
  readonly addr: string;
  readonly provider: string;
  readonly seedCount: number;
  readonly state?: string;
  readonly useFakeBackend: boolean;
  readonly faults: boolean;
  readonly seed: number;
  readonly preset?: PresetName;
  readonly set: readonly string[];
  readonly offerings?: string;
  readonly transitionTimeout?: number;
  readonly control?: string;
  readonly verbose: boolean;
  readonly tlsCert?: string;
  readonly tlsKey?: string;
  readonly tlsCa?: string;
  readonly insecure: boolean;
  readonly actsForAnyShard?: string;
}

export function fakeCommand(io: FakeIo = PROCESS_IO): Command {
  return new Command('fake')
    .description('serve machines of a simulated cloud')
    .option('--addr <host:port>', 'where to listen; port 0 picks a free one', '127.0.0.1:9000')
    .option('--provider <name>', 'names hosts and machines', 'fake')
    .option('--seed-count <n>', 'machines on offer', wholeNumber, 256)
    .option(
      '--state <file>',
      'keep state in this file, which survives SIGKILL; without it nothing outlives the process',
    )
    .option('--seed <n>', 'the same seed and calls give the same results', wholeNumber, 1)
    .addOption(
      new Option('--preset <name>', 'how it behaves (default: realistic)').choices([...PRESET_NAMES]),
    )
    .option('--set <name=number>', 'one setting on top of the preset; may be repeated', collect, [])
    .option('--offerings <file>', 'offerings in JSON or YAML, instead of the built-in catalogue')
    .addOption(
      durationOption(
        '--transition-timeout <duration>',
        'time after which a machine in transition becomes Failed',
      ),
    )
    .option('--use-fake-backend', 'for certification tools: the preset is calm unless given', false)
    .option(
      '--faults',
      'fail on request, for the fault target of conformance suites; calm unless given',
      false,
    )
    .option('--control <host:port>', 'a port on loopback to change settings and inject faults')
    .option('-v, --verbose', 'print what happens to machines', false)
    .option('--tls-cert <file>', 'certificate of this provider, with --tls-key and --tls-ca')
    .option('--tls-key <file>', 'its key')
    .option('--tls-ca <file>', 'authority whose certificates may call')
    .option('--insecure', 'allow plaintext on addresses other than loopback', false)
    .option('--acts-for-any-shard <identity>', 'for certification over TLS: who may act for every shard')
    .addHelpText('after', HELP)
    .action(async (flags: FakeFlags) => {
      // Subscribe first: a caller that reads the first line may send a signal at once.
      const ended = io.ended();
      const { serveFake } = await import('./provider-fake-serve.ts');
      await serveFake(flags, io, ended);
    });
}

const HELP = `
Presets:
  calm       everything works within milliseconds; passes conformance
  realistic  latencies of minutes, moving spot prices, stock-outs, interruptions, some lost answers
  hostile    as realistic, with every fault far more frequent

Control port (JSON over HTTP):
  GET   /settings    all settings, which are also the names for --set
  PATCH /settings    {"transport": {"lostReply": 0.1}, "quotas": {"gpu/zone-a": 2}}
  GET   /status      machines, hosts, transitions, faults so far
  POST  /interrupt   {"offering": "general-spot", "zone": "zone-a", "count": 3}; all are optional,
                     as are machine and cluster
  POST  /kill        the same body; the hosts die
  POST  /stock-out   {"offering": "general", "seconds": 600}, or "general/zone-a"
  POST  /outage      {"zone": "zone-b", "seconds": 600}

A host that is interrupted or dies leaves its machine FAILED with the reason, from any state. After
losses.cleanupMs the machine is a quota slot again, or Idle on its repaired host if the host is
owned; so are failed transitions.

With --faults there are 8 more machines labelled conformance.fault/create=error, and the clusters
fault-error, fault-timeout, fault-slow-ok, fault-readiness-block and fault-drain-error behave as
their names say.

Ends with SIGINT or SIGTERM. Exit code 0: ended as asked. 2: invalid arguments, files or addresses.

Examples:
  bigfleet provider fake
  bigfleet provider fake --preset hostile --seed 42 --control 127.0.0.1:9001 -v
  curl -X PATCH -d '{"stock": {"outChance": 1}}' 127.0.0.1:9001/settings
  bigfleet provider fake --preset calm --seed-count 20000 --state fleet.db
  bigfleet provider fake --set operations.neverReady=0.5 --set quotas.gpu=1
  bigfleet provider conformance --profile core,cloud,spot,fault,durable,scale --scale-seed 4000 \\
      --start 'bigfleet provider fake --faults --addr 127.0.0.1:{port} --state {state} \\
               --seed-count {seed} --transition-timeout {timeout}'`;

function collect(word: string, words: readonly string[]): readonly string[] {
  return [...words, word];
}
