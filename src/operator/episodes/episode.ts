// An episode of stuck pods: pods that the scheduler cannot place although the Need of their row is met with all machines
// Configured. What it is, and how it is kept in a ConfigMap so that it survives a restart: an episode that is forgotten
// would give its machine back, and its pods would be stuck once more.

import * as z from 'zod';
import type { ResourceVector } from '../../model/index.ts';
import type { RowKey } from '../demand/contract.ts';
import { type KubeClient, KubeError } from '../kube/client.ts';
import type { KubeObject } from '../kube/objects.ts';
import { FIELD_MANAGER } from '../kube/writes.ts';
import { configMapPath } from '../nodes/paths.ts';

export interface Episode {
  /** The row of the stuck pods. */
  readonly row: RowKey;
  /** Group of the Need of the episode: `stuck:<seconds since the epoch>`. */
  readonly group: string;
  readonly openedMs: number;
  /** Uids of the pods it was opened for. */
  readonly pods: readonly string[];
  readonly aggregate: ResourceVector;
  readonly minUnit: ResourceVector;
}

/** How many episodes a pod has had, and when the last one was opened. */
export interface Attempts {
  readonly count: number;
  readonly lastMs: number;
}

export interface EpisodeState {
  readonly episodes: readonly Episode[];
  readonly attempts: ReadonlyMap<string, Attempts>;
}

const EPISODES_CONFIG_MAP = 'bigfleet-episodes';
const KEY = 'episodes.json';
export const STUCK_GROUP_PREFIX = 'stuck:';

const amounts = z.record(z.string(), z.number().nonnegative());
const schema = z.object({
  version: z.literal(1),
  episodes: z.array(
    z.object({
      fingerprint: z.string(),
      rowGroup: z.string(),
      group: z.string().startsWith(STUCK_GROUP_PREFIX),
      openedMs: z.number(),
      pods: z.array(z.string()),
      aggregate: amounts,
      minUnit: amounts,
    }),
  ),
  attempts: z.record(z.string(), z.tuple([z.number(), z.number()])),
});

const NOTHING: EpisodeState = { episodes: [], attempts: new Map() };

/** Keeps episodes in the operator's namespace. */
export class EpisodeStore {
  readonly #kube: KubeClient;
  readonly #namespace: string;

  constructor(kube: KubeClient, namespace: string) {
    this.#kube = kube;
    this.#namespace = namespace;
  }

  /** Rejects if the API server does not answer: without the episodes no roll-up is complete. */
  async read(): Promise<EpisodeState> {
    let text: string;
    try {
      const path = configMapPath(this.#namespace, EPISODES_CONFIG_MAP);
      const map = await this.#kube.get<KubeObject & { readonly data?: Readonly<Record<string, string>> }>(
        path,
      );
      text = map.data?.[KEY] ?? '';
    } catch (error) {
      if (error instanceof KubeError && error.isNotFound) return NOTHING;
      throw error;
    }
    return parsedState(text);
  }

  async write({ episodes, attempts }: EpisodeState): Promise<void> {
    const content = {
      version: 1,
      episodes: episodes.map(({ row, group, openedMs, pods, aggregate, minUnit }) => ({
        fingerprint: row.fingerprint,
        rowGroup: row.group,
        group,
        openedMs,
        pods,
        aggregate: Object.fromEntries(aggregate),
        minUnit: Object.fromEntries(minUnit),
      })),
      attempts: Object.fromEntries([...attempts].map(([uid, { count, lastMs }]) => [uid, [count, lastMs]])),
    };
    const metadata = { name: EPISODES_CONFIG_MAP, namespace: this.#namespace };
    const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { [KEY]: JSON.stringify(content) } };
    await this.#kube.patch(configMapPath(this.#namespace, EPISODES_CONFIG_MAP), 'apply', body, {
      fieldManager: FIELD_MANAGER,
      force: true,
    });
  }
}

/** A text that cannot be read counts as no episodes: they open again if pods are still stuck. */
function parsedState(text: string): EpisodeState {
  let value: unknown = null;
  try {
    value = JSON.parse(text);
  } catch {
    return NOTHING;
  }
  const { data } = schema.safeParse(value);
  if (data === undefined) return NOTHING;
  return {
    episodes: data.episodes.map(({ fingerprint, rowGroup, aggregate, minUnit, ...rest }) => ({
      ...rest,
      row: { fingerprint, group: rowGroup },
      aggregate: new Map(Object.entries(aggregate)),
      minUnit: new Map(Object.entries(minUnit)),
    })),
    attempts: new Map(
      Object.entries(data.attempts).map(([uid, [count, lastMs]]) => [uid, { count, lastMs }]),
    ),
  };
}
