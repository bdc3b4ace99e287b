// The ConfigMap of verdicts in the operator's namespace: which pods wait for which row, and what the shard says about the
// rows. `bigfleet explain pod` reads it with the rights of its user. Written only when it changed, at most every 10 s, and
// cut to `MAX_BYTES`: rows that pods wait for first, then other unmet ones.

import * as z from 'zod';
import type { Clock } from '../../runtime/clock.ts';
import type { PendingPod, PodsView, RowKey } from '../demand/contract.ts';
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
/** Share of the bytes that pods may have: about 8,000 with names of 30 characters. */
const MAX_POD_BYTES = 400_000;
const MAX_REMARKS = 5;
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

const problemSchema = z.object({
  code: z.string(),
  path: z.string(),
  message: z.string(),
  effect: z.string(),
  row: z.unknown(),
});

const episodeSchema = z.object({
  fingerprint: z.string(),
  group: z.string(),
  since: z.string(),
  pods: z.number(),
});

/** As it is stored. A pod has indexes instead of texts, so that thousands of them fit. */
const schema = z.object({
  version: z.literal(2),
  cluster: z.string(),
  at: z.string(),
  /** Whether the verdicts were those of an open session when this was written. */
  isLive: z.boolean(),
  rows: z.array(rowSchema),
  /** Fingerprint and group of the rows that pods wait for. */
  keys: z.array(z.tuple([z.string(), z.string()])),
  remarks: z.array(z.string()),
  /** By namespace and name: index in `keys`, seconds since the epoch, indexes in `remarks`. */
  pods: z.record(z.string(), z.record(z.string(), z.tuple([z.number(), z.number()], z.number()))),
  problems: z.array(problemSchema),
  episodes: z.array(episodeSchema),
  /** Numbers of what did not fit. */
  cut: z.object({ rows: z.number(), pods: z.number() }),
});

type StoredMap = z.infer<typeof schema>;
export type VerdictRow = z.infer<typeof rowSchema>;

interface WaitingPod extends RowKey {
  readonly since: string;
  readonly remarks: readonly string[];
}

export interface VerdictMap
  extends Pick<StoredMap, 'cluster' | 'at' | 'isLive' | 'rows' | 'problems' | 'episodes' | 'cut'> {
  /** By `namespace/name`. */
  readonly pods: ReadonlyMap<string, WaitingPod>;
}

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

  #content(): StoredMap {
    const { verdicts, pods, problems, episodes, cluster } = this.#deps;
    const waiting = new WaitingPods();
    for (const pod of pods.pendingPods()) waiting.add(pod);
    let { bytes } = waiting;
    const rows: VerdictRow[] = [];
    let cutRows = 0;
    for (const tracked of inOrder(verdicts.all(), waiting.wanted)) {
      const row = rowOf(tracked);
      bytes += Buffer.byteLength(JSON.stringify(row)) + 1;
      if (bytes > MAX_BYTES) cutRows++;
      else rows.push(row);
    }
    return {
      version: 2,
      cluster,
      at: '',
      isLive: verdicts.isLive,
      rows,
      ...waiting.stored(),
      problems: [...problems()],
      episodes: [...episodes()].map(({ row, group, since, pods }) => ({
        fingerprint: row.fingerprint,
        group,
        since,
        pods,
      })),
      cut: { rows: cutRows, pods: waiting.cut },
    };
  }
}

/** The pods of a map as they are stored, up to `MAX_POD_BYTES`. */
class WaitingPods {
  /** Keys of all rows that pods wait for, also of pods that did not fit. */
  readonly wanted = new Set<string>();
  readonly #keys = new Map<string, readonly [index: number, key: [string, string]]>();
  readonly #remarks = new Map<string, number>();
  readonly #pods = new Map<string, Map<string, [number, number, ...number[]]>>();
  bytes = 0;
  cut = 0;

  add({ namespace, name, row, unschedulableSinceMs, remarks }: PendingPod): void {
    const key = rowKey(row);
    this.wanted.add(key);
    const known = this.#keys.get(key);
    const said = remarks.slice(0, MAX_REMARKS);
    const fresh = said.filter((remark) => !this.#remarks.has(remark));
    const names = this.#pods.get(namespace);
    const size =
      name.length +
      POD_BYTES +
      said.length * INDEX_BYTES +
      (known === undefined ? textBytes(row.fingerprint) + textBytes(row.group) : 0) +
      fresh.reduce((sum, remark) => sum + textBytes(remark), 0) +
      (names === undefined ? textBytes(namespace) : 0);
    if (this.bytes + size > MAX_POD_BYTES) {
      this.cut++;
      return;
    }
    this.bytes += size;
    const index = known?.[0] ?? this.#keys.size;
    if (known === undefined) this.#keys.set(key, [index, [row.fingerprint, row.group]]);
    for (const remark of fresh) this.#remarks.set(remark, this.#remarks.get(remark) ?? this.#remarks.size);
    const entry: [number, number, ...number[]] = [index, Math.floor(unschedulableSinceMs / 1000)];
    for (const remark of said) entry.push(this.#remarks.get(remark)!);
    if (names === undefined) this.#pods.set(namespace, new Map([[name, entry]]));
    else names.set(name, entry);
  }

  stored(): Pick<StoredMap, 'keys' | 'remarks' | 'pods'> {
    return {
      keys: Array.from(this.#keys.values(), ([, key]) => key),
      remarks: [...this.#remarks.keys()],
      pods: Object.fromEntries(
        Array.from(this.#pods, ([namespace, names]) => [namespace, Object.fromEntries(names)]),
      ),
    };
  }
}

/** Quotes, brackets and two numbers of an entry. */
const POD_BYTES = 24;
/** A further number with its comma. */
const INDEX_BYTES = 6;

/** With quotes and what separates it from its neighbours. */
function textBytes(text: string): number {
  return Buffer.byteLength(JSON.stringify(text)) + 4;
}

/** Null if there is no ConfigMap, or it was written by another version. */
export async function readVerdictMap(kube: KubeClient, namespace: string): Promise<VerdictMap | null> {
  try {
    const map = await kube.get<ConfigMap>(configMapPath(namespace, VERDICTS_CONFIG_MAP));
    const stored = schema.safeParse(JSON.parse(map.data?.[KEY] ?? 'null')).data;
    return stored === undefined ? null : readMap(stored);
  } catch (error) {
    if ((error instanceof KubeError && error.isNotFound) || error instanceof SyntaxError) return null;
    throw error;
  }
}

function readMap({ keys, remarks, pods: stored, ...rest }: StoredMap): VerdictMap {
  const pods = new Map<string, WaitingPod>();
  for (const [namespace, names] of Object.entries(stored)) {
    for (const [name, [index, seconds, ...said]] of Object.entries(names)) {
      const [fingerprint = '', group = ''] = keys[index] ?? [];
      const since = new Date(seconds * 1000).toISOString();
      const texts = said.map((remark) => remarks[remark] ?? '').filter((remark) => remark !== '');
      pods.set(`${namespace}/${name}`, { fingerprint, group, since, remarks: texts });
    }
  }
  return { ...rest, pods };
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
