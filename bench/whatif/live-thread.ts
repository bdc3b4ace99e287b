// Measures live cycles on a thread like that of a controller. Used by main.ts.

import { WorkerChannel } from '../../src/runtime/worker-channel.ts';
import { YOUNG_GENERATION_MB } from '../../src/shard/process/heap-limits.ts';
import type { LiveFigures } from './figures.ts';

export interface ToLive {
  readonly item: never;
  readonly request: { readonly profile: string; readonly seconds: number };
  readonly answer: unknown;
}

export interface FromLive {
  readonly item: never;
  readonly request: never;
  readonly answer: never;
}

export async function measuredLive(profile: string, seconds: number): Promise<LiveFigures> {
  const channel = new WorkerChannel<null, ToLive, FromLive>({
    name: 'live',
    module: new URL('./live-worker.ts', import.meta.url),
    start: null,
    youngGenerationMb: YOUNG_GENERATION_MB,
    onItem: () => {},
    onFailure: (error) => {
      throw error;
    },
  });
  try {
    return (await channel.request({ profile, seconds })) as LiveFigures;
  } finally {
    await channel.close();
  }
}
