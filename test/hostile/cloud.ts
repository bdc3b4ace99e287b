// A fake cloud on a port for attacks on a shard; it injects no faults of its own. Used by kit.ts and bench/hostile.

import {
  FakeProvider,
  MemoryStore,
  patchSettings,
  presetSettings,
  type SettingsPatch,
  serveProvider,
} from '../../src/provider/index.ts';
import { systemClock } from '../../src/runtime/system-clock.ts';
import type { SecurityOptions } from '../../src/wire/index.ts';

const QUICK = { medianMs: 20, spread: 0 };

export interface Cloud {
  readonly address: string;
  readonly fake: FakeProvider;
  stop(): Promise<void>;
}

/** A calm cloud whose transitions take a few milliseconds. */
export async function serveCloud(
  machines: number,
  security: SecurityOptions,
  set: SettingsPatch = {},
): Promise<Cloud> {
  const latency = { create: QUICK, configure: QUICK, drain: QUICK, delete: QUICK };
  const fake = await FakeProvider.open({
    seed: 7,
    machines,
    store: new MemoryStore(),
    clock: systemClock,
    settings: patchSettings(patchSettings(presetSettings('calm'), { latency }), set),
  });
  const server = await serveProvider(fake, '127.0.0.1:0', security);
  return { address: server.address, fake, stop: () => server.stop() };
}
