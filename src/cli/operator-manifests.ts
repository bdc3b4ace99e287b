// `bigfleet operator manifests`: prints all objects that install the operator in a cluster. The settings in them are
// checked as the operator checks them, so that an install does not fail on a typing mistake.

import { Command, InvalidArgumentError, Option } from 'commander';
import { BigFleetError } from '../model/index.ts';
import {
  bootstrapTemplateOf,
  loadSettings,
  type ManifestOptions,
  manifestText,
  operatorManifests,
  settingsText,
} from '../operator/index.ts';

export interface ManifestsIo {
  readonly read: (file: string) => Promise<string>;
  readonly out: (text: string) => void;
}

interface Flags {
  readonly cluster: string;
  readonly shard: string;
  readonly image: string;
  readonly namespace: string;
  readonly mode: ManifestOptions['mode'];
  readonly replicas: number;
  readonly tlsSecret?: string;
  readonly insecure?: true;
  readonly endpoint?: string;
  readonly optIn?: true;
  readonly template?: string;
  readonly output: 'yaml' | 'json';
}

const HELP = `
Review the output, or keep it in version control; the same flags print the same text. A real
cluster checks it without a change by: kubectl apply --server-side --dry-run=server -f FILE

Exit code 0: printed. 2: flags or template cannot be used.

Examples:
  bigfleet operator manifests --cluster web --shard shard.example:7780 | kubectl apply -f -
  bigfleet operator manifests --cluster web --shard shard.example:7780 --mode tokens \\
      --endpoint api.web.example:6443 --opt-in > operator.yaml
  bigfleet operator manifests --cluster dev --shard 10.0.0.5:7780 --insecure -o json`;

export function manifestsCommand(io: ManifestsIo): Command {
  const command = new Command('manifests')
    .description('print the objects that install the operator in a cluster')
    .requiredOption('--cluster <name>', 'name of the cluster, unique in the fleet')
    .requiredOption('--shard <addresses>', 'HOST:PORT of the shard, several separated by commas')
    .option('--image <image>', 'container image whose PATH has bigfleet', 'bigfleet:latest')
    .option('--namespace <name>', 'namespace of the operator', 'bigfleet-system')
    .addOption(
      new Option('--mode <mode>', 'how machines join: with tokens made for each, or by a template only')
        .choices(['tokens', 'template'])
        .default('template'),
    )
    .option('--template <file>', 'what a new machine starts with (default: one of the mode, to be edited)')
    .option('--endpoint <host:port>', 'API server for new nodes (default: that of kube-public/cluster-info)')
    .option('--replicas <n>', 'replicas, of which one leads', replicas, 2)
    .option('--tls-secret <name>', 'Secret with tls.crt, tls.key, ca.crt (default: bigfleet-operator-tls)')
    .option('--insecure', 'plaintext to the shard instead of TLS')
    .option('--opt-in', 'only pods with the label bigfleet.lucy.sh/opt-in=true count')
    .addOption(new Option('-o, --output <format>', 'yaml or json').choices(['yaml', 'json']).default('yaml'))
    .addHelpText('after', HELP)
    .action(async () => {
      const flags = command.opts<Flags>();
      const options = await optionsOf(flags, io);
      check(options);
      io.out(manifestText(operatorManifests(options), flags.output));
    });
  return command;
}

function replicas(text: string): number {
  if (!/^[1-5]$/.test(text)) throw new InvalidArgumentError('It must be a number from 1 to 5.');
  return Number(text);
}

const DEFAULT_TLS_SECRET = 'bigfleet-operator-tls';

async function optionsOf(flags: Flags, io: ManifestsIo): Promise<ManifestOptions> {
  const { cluster, shard, image, namespace, mode } = flags;
  const insecure = flags.insecure === true;
  return {
    ...{ cluster, shard, image, namespace, mode, insecure },
    replicas: flags.replicas,
    tlsSecret: insecure ? null : (flags.tlsSecret ?? DEFAULT_TLS_SECRET),
    endpoint: flags.endpoint ?? null,
    demandMode: flags.optIn === true ? 'opt-in' : 'all',
    template: flags.template === undefined ? null : await textOf(flags.template, io),
  };
}

async function textOf(path: string, io: ManifestsIo): Promise<string> {
  return await io.read(path).catch((cause: unknown) => {
    throw new BigFleetError('BF_INPUT_UNREADABLE', `${(cause as Error).message}.`, { path, cause });
  });
}

/** Throws if the operator would refuse these settings or this template. */
function check(options: ManifestOptions): void {
  const text = settingsText(options);
  const result = loadSettings({ file: { path: 'operator.yaml', text }, flags: {} });
  if (!result.ok) {
    const lines = result.problems.map(({ path, message }) => `\n  ${path}: ${message}`);
    throw new BigFleetError('BF_CONFIG_INVALID', `${lines.join('')}\n`, { problems: result.problems });
  }
  if (options.template !== null) bootstrapTemplateOf(result.value, () => options.template!);
}
