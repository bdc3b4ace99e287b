// `bigfleet assess`: what BigFleet would make of the user's own clusters. Reads them or files of kubectl, and prints a report;
// nothing is installed or written in a cluster. What computes it is loaded when it runs.

import { readFile, writeFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { Command, Option } from 'commander';
import type { AssessInput, Assessment, ClusterObjects } from '../assess/index.ts';
import { BigFleetError, printable } from '../model/index.ts';
import { type Paint, paintFor } from './table.ts';

/** Input and output of the command; tests pass their own. */
export interface AssessIo {
  readonly read: (file: string) => Promise<string>;
  readonly write: (file: string, text: string) => Promise<void>;
  readonly out: (text: string) => void;
  /** Progress, on standard error. */
  readonly err: (text: string) => void;
  readonly paint: Paint;
  readonly now: () => number;
}

const PROCESS_IO: AssessIo = {
  read: (file) => readFile(file, 'utf8'),
  write: (file, text) => writeFile(file, text),
  out: (text) => process.stdout.write(text),
  err: (text) => process.stderr.write(text),
  paint: paintFor(process.stdout),
  now: () => Date.now(),
};

interface AssessFlags {
  readonly kubeconfig?: string;
  readonly contexts?: readonly string[];
  readonly from: readonly string[];
  readonly catalogue: string;
  readonly html?: string;
  readonly output: 'text' | 'json';
}

/** Before the first line of progress, and between two. */
const PROGRESS_MS = 2_000;

export function assessCommand(io: AssessIo = PROCESS_IO): Command {
  return new Command('assess')
    .description('say what BigFleet would make of your own clusters; they are only read')
    .option('--kubeconfig <file>', 'as for kubectl; default: $KUBECONFIG, else ~/.kube/config')
    .option(
      '--contexts <a,b,c>',
      'contexts of the kubeconfig, one for each cluster (default: its current one)',
      names,
    )
    .option(
      '--from <file>',
      'instead of a cluster: the output of kubectl get pods,nodes -A -o json; may be repeated',
      (file: string, before: readonly string[]) => [...before, file],
      [],
    )
    .requiredOption('--catalogue <file>', 'machines that could be bought, with prices, in JSON or YAML')
    .option('--html <file>', 'also write one HTML page with plots')
    .addOption(new Option('-o, --output <format>', 'text or json').choices(['text', 'json']).default('text'))
    .addHelpText('after', HELP)
    .action(async (flags: AssessFlags) => await run(flags, io));
}

const HELP = `
Nothing is installed and nothing is written in a cluster. It needs the right to list pods and nodes;
without the right to list namespaces, PersistentVolumeClaims, PersistentVolumes, DaemonSets,
PriorityClasses or PodDisruptionBudgets it goes on and says what it lacks.

Files may have those kinds too: kubectl get pods,nodes,ns,pvc,pv,ds,pc,pdb -A -o json. A cluster has
the name of its file or context. Whether the catalogue names the source of its prices is said first.

Exit code 0: assessed. 1: an API server did not answer or refused. 2: flags, a file, the kubeconfig
or the catalogue cannot be used.

Examples:
  bigfleet assess --contexts prod-eu,prod-us --catalogue my-catalogue.yaml --html report.html
  bigfleet assess --kubeconfig ~/.kube/config --catalogue my-catalogue.yaml
  bigfleet assess --from prod.json --from batch.json --catalogue my-catalogue.yaml -o json`;

async function run(flags: AssessFlags, io: AssessIo): Promise<void> {
  const { catalogue, contexts, from, html, kubeconfig, output } = flags;
  if (from.length > 0 && (contexts !== undefined || kubeconfig !== undefined))
    throw new BigFleetError('BF_USAGE', 'Give either --from or --contexts with --kubeconfig, not both.');
  const progress = progressOn(io);
  const offerings = await readCatalogue(catalogue, io);
  const clusters = from.length > 0 ? await fromFiles(from, io) : await fromApi(flags, progress);
  requireDistinct(clusters);
  const { assess } = await import('../assess/index.ts');
  const assessment = assess({ clusters, catalogue: offerings, nowMs: io.now() }, progress);
  if (html !== undefined) await writePage(html, assessment, io);
  if (output === 'json') return io.out(`${JSON.stringify(assessment, null, 2)}\n`);
  const { reportText } = await import('./assess-report.ts');
  io.out(reportText(assessment, io.paint));
}

function names(text: string): readonly string[] {
  return text
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
}

/** Passes on a line if two seconds went by without one: short runs print nothing. */
function progressOn({ err, now }: AssessIo): (what: string) => void {
  let lastMs = now();
  return (what) => {
    if (now() - lastMs < PROGRESS_MS) return;
    lastMs = now();
    err(`${printable(what)} …\n`);
  };
}

async function readCatalogue(file: string, io: AssessIo): Promise<AssessInput['catalogue']> {
  const text = await readInput(file, io);
  const { parseCatalogueFile } = await import('../scenario/offerings-file.ts');
  const parsed = parseCatalogueFile(text);
  if (!parsed.ok) {
    const lines = parsed.problems.map(
      ({ message, path }) => `\n  ${path === '' ? '' : `${path}: `}${message}`,
    );
    throw new BigFleetError('BF_INPUT_INVALID', `${file}:${lines.join('')}`, {
      problems: parsed.problems,
    });
  }
  return { file, ...parsed.value };
}

async function readInput(file: string, io: AssessIo): Promise<string> {
  try {
    return await io.read(file);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new BigFleetError('BF_INPUT_UNREADABLE', `${file}: ${why}`, { cause: error });
  }
}

async function fromFiles(files: readonly string[], io: AssessIo): Promise<readonly ClusterObjects[]> {
  const { clusterFromText } = await import('../assess/index.ts');
  const clusters: ClusterObjects[] = [];
  for (const file of files) {
    const name = basename(file).replace(/\.json$/, '');
    clusters.push(clusterFromText(name, file, await readInput(file, io)));
  }
  return clusters;
}

async function fromApi(
  { contexts, kubeconfig }: AssessFlags,
  progress: (what: string) => void,
): Promise<readonly ClusterObjects[]> {
  if (contexts?.length === 0) throw new BigFleetError('BF_USAGE', '--contexts names no context.');
  const [{ HttpKubeClient, loadKubeconfig }, { clusterFromApi }] = await Promise.all([
    import('../operator/kube/index.ts'),
    import('../assess/index.ts'),
  ]);
  // All contexts are looked up first: a misspelt one must not be found after minutes of reading.
  const connections = (contexts ?? [undefined]).map((context) =>
    loadKubeconfig({ path: kubeconfig, context }),
  );
  const clusters: ClusterObjects[] = [];
  for (const connection of connections) {
    const client = new HttpKubeClient({ connection, userAgent: 'bigfleet-assess' });
    try {
      clusters.push(await clusterFromApi(connection.context, client, progress));
    } finally {
      client.close();
    }
  }
  return clusters;
}

function requireDistinct(clusters: readonly ClusterObjects[]): void {
  const seen = new Set<string>();
  for (const { name } of clusters) {
    if (seen.has(name))
      throw new BigFleetError(
        'BF_USAGE',
        `Two clusters have the name "${printable(name)}"; names must differ.`,
      );
    seen.add(name);
  }
}

async function writePage(file: string, assessment: Assessment, io: AssessIo): Promise<void> {
  const { htmlPage } = await import('../assess/index.ts');
  try {
    await io.write(file, htmlPage(assessment));
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new BigFleetError('BF_OUTPUT_UNWRITABLE', `${file}: ${why}`, { cause: error });
  }
}
