// The ConfigMap of verdicts in the operator's namespace: which pods wait for which row, and what the shard says about the
// rows. `bigfleet explain pod` reads it with the rights of its user. Written only when it changed, at most every 10 s, and
// cut to `MAX_BYTES`: rows that pods wait for first, then other unmet ones.

import * as z from 'zod';
import type { Clock } from '../../runtime/clock.ts';
import type { PodsView, RowKey } from '../demand/contract.ts';
import { type KubeClient, KubeError } from '../kube/client.ts';
import type { KubeObject } from '../kube/objects.ts';
import { FIELD_MANAGER } from '../kube/writes.ts';
import type { OperatorLog, OperatorMetrics } from '../nodes/contract.ts';
import { configMapPath } from '../nodes/paths.ts';
import type { EpisodeView } from './contract.ts';
import type { RollupProblemText } from './rollup-remarks.ts';
import type { TrackedVerdict, VerdictTable } from './verdict-table.ts';

export const VERDICTS_CONFIG_MAP = 'bigfleet-verdicts';
const KEY = 'verdicts.json';
/** An API server takes 1 MiB for a whole ConfigMap. */
const MAX_BYTES = 700_000;
/** Share of the bytes that pods may have. */
const MAX_POD_BYTES = 300_000;
const MIN_INTERVAL_MS = 10_000;
/** After a failed write, such as without rights. */
const FAILED_INTERVAL_MS = 60_000;

const rowSchema = z.object({
  fingerprint: z.string(),
  group: z.string(),
  satisfied: z.boolean(),
  unmetReason: z.string(),
  cause: z.string(),
  sentence: z.string(),
  rowsAhead: z.number(),
  machines: z.array(z.string()),
  sharedMachines: z.array(z.string()),
  machineTotal: z.number(),
  notConfigured: z.number(),
});

const schema = z.object({
  version: z.literal(1),
  cluster: z.string(),
  at: z.string(),
  /** Whether the verdicts were those of an open session when this was written. */
  isLive: z.boolean(),
  rows: z.array(rowSchema),
  /** By `namespace/name`. */
  pods: z.record(
    z.string(),
    z.object({ fingerprint: z.string(), group: z.string(), since: z.string(), remarks: z.array(z.string()) }),
  ),
  problems: z.array(
    z.object({
      code: z.string(),
      path: z.string(),
      message: z.string(),
      effect: z.string(),
      row: z.unknown(),
    }),
  ),
  episodes: z.array(
    z.object({ fingerprint: z.string(), group: z.string(), since: z.string(), pods: z.number() }),
  ),
  /** What did not fit. */
  cut: z.object({ rows: z.number(), pods: z.number() }),
});

export type VerdictMap = z.infer<typeof schema>;
export type VerdictRow = z.infer<typeof rowSchema>;

interface ConfigMap extends KubeObject {
  readonly data?: Readonly<Record<string, string>>;
}

export interface VerdictMapDeps {
  readonly kube: KubeClient;
  readonly clock: Clock;
  readonly log: OperatorLog;
  readonly metrics: OperatorMetrics;
  readonly cluster: string;
  /** The operator's own. */
  readonly namespace: string;
  readonly verdicts: VerdictTable;
  readonly pods: Pick<PodsView, 'pendingPods'>;
  readonly problems: () => readonly RollupProblemText[];
  readonly episodes: () => Iterable<EpisodeView>;
}

export class VerdictMapWriter {
  readonly #deps: VerdictMapDeps;
  #written = '';
  #nextMs = 0;
  #isWriting = false;

  constructor(deps: VerdictMapDeps) {
    this.#deps = deps;
  }

  async tick(): Promise<void> {
    const { clock, kube, log, metrics, namespace } = this.#deps;
    if (this.#isWriting || clock.now() < this.#nextMs) return;
    this.#isWriting = true;
    try {
      const content = this.#content();
      const text = JSON.stringify(content);
      if (text === this.#written) return;
      this.#nextMs = clock.now() + MIN_INTERVAL_MS;
      const at = new Date(clock.now()).toISOString();
      await kube.patch(
        configMapPath(namespace, VERDICTS_CONFIG_MAP),
        'apply',
        {
          apiVersion: 'v1',
          kind: 'ConfigMap',
          metadata: { name: VERDICTS_CONFIG_MAP, namespace },
          data: { [KEY]: JSON.stringify({ ...content, at }) },
        },
        { fieldManager: FIELD_MANAGER, force: true },
      );
      this.#written = text;
    } catch (error) {
      this.#nextMs = clock.now() + FAILED_INTERVAL_MS;
      metrics.count('bigfleet_operator_verdict_map_failures_total');
      log('warn', 'verdicts.config-map-failed', { error });
    } finally {
      this.#isWriting = false;
    }
  }

  #content(): VerdictMap {
    const { verdicts, pods, problems, episodes, cluster } = this.#deps;
    const named: VerdictMap['pods'] = {};
    const wanted = new Set<string>();
    const cut = { rows: 0, pods: 0 };
    let bytes = 0;
    for (const { namespace, name, row, unschedulableSinceMs, remarks } of pods.pendingPods()) {
      const entry = {
        ...row,
        since: new Date(unschedulableSinceMs).toISOString(),
        remarks: remarks.slice(0, 5),
      };
      bytes += JSON.stringify(entry).length + namespace.length + name.length + 6;
      wanted.add(rowKey(row));
      if (bytes > MAX_POD_BYTES) cut.pods++;
      else named[`${namespace}/${name}`] = entry;
    }
    bytes = Math.min(bytes, MAX_POD_BYTES);
    const rows: VerdictRow[] = [];
    for (const tracked of inOrder(verdicts.all(), wanted)) {
      const row = rowOf(tracked);
      bytes += Buffer.byteLength(JSON.stringify(row)) + 1;
      if (bytes > MAX_BYTES) cut.rows++;
      else rows.push(row);
    }
    return {
      version: 1,
      cluster,
      at: '',
      isLive: verdicts.isLive,
      rows,
      pods: named,
      problems: [...problems()],
      episodes: [...episodes()].map(({ row, group, since, pods }) => ({
        fingerprint: row.fingerprint,
        group,
        since,
        pods,
      })),
      cut,
    };
  }
}

/** Null if there is no ConfigMap, or it was written by another version. */
export async function readVerdictMap(kube: KubeClient, namespace: string): Promise<VerdictMap | null> {
  try {
    const map = await kube.get<ConfigMap>(configMapPath(namespace, VERDICTS_CONFIG_MAP));
    return schema.safeParse(JSON.parse(map.data?.[KEY] ?? 'null')).data ?? null;
  } catch (error) {
    if ((error instanceof KubeError && error.isNotFound) || error instanceof SyntaxError) return null;
    throw error;
  }
}

function inOrder(verdicts: Iterable<TrackedVerdict>, wanted: ReadonlySet<string>): readonly TrackedVerdict[] {
  const rank = ({ verdict }: TrackedVerdict) => {
    const isWanted = wanted.has(rowKey({ fingerprint: verdict.profileFingerprint, group: verdict.group }));
    return isWanted ? 0 : verdict.satisfied ? 2 : 1;
  };
  return [...verdicts].sort((a, b) => rank(a) - rank(b));
}

function rowOf({ verdict }: TrackedVerdict): VerdictRow {
  const { profileFingerprint: fingerprint, machines, sharedMachines, removed: _removed, ...rest } = verdict;
  return {
    fingerprint,
    ...rest,
    machines: machines.slice(0, 10),
    sharedMachines: sharedMachines.slice(0, 10),
  };
}

function rowKey({ fingerprint, group }: RowKey): string {
  return `${fingerprint}\n${group}`;
}
