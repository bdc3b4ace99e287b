// Test support: a fake provider on a virtual clock. Imported by the tests of src/provider/fake.

import type { MachineState } from '../../src/model/index.ts';
import type { CloudEvent } from '../../src/provider/fake/cloud.ts';
import { FakeProvider, type FakeProviderOptions } from '../../src/provider/fake/fake-provider.ts';
import { type PresetName, presetSettings, type SettingsPatch } from '../../src/provider/fake/settings.ts';
import { patchSettings } from '../../src/provider/fake/settings-patch.ts';
import { MemoryStore } from '../../src/provider/kit/memory-store.ts';
import { VirtualClock } from '../../src/runtime/virtual-clock.ts';
import type { Machine } from '../../src/wire/gen/bigfleet/v1alpha1/provider.ts';
import { configureOf, createOf, filter } from './provider-kit.ts';

export interface FakeScene {
  readonly clock: VirtualClock;
  readonly fake: FakeProvider;
  readonly events: CloudEvent[];
}

export interface Given extends Partial<Omit<FakeProviderOptions, 'settings' | 'clock'>> {
  readonly preset?: PresetName;
  readonly set?: SettingsPatch;
  readonly clock?: VirtualClock;
}

export const MINUTE_MS = 60_000;
export const HOUR_MS = 60 * MINUTE_MS;

/** Calm by default, with 64 machines. */
export async function fakeScene({ preset = 'calm', set = {}, ...given }: Given = {}): Promise<FakeScene> {
  const clock = given.clock ?? new VirtualClock(1_800_000_000_000);
  const events: CloudEvent[] = [];
  const opening = FakeProvider.open({
    seed: 7,
    machines: 64,
    store: new MemoryStore(),
    onEvent: (event) => events.push(event),
    ...given,
    clock,
    settings: patchSettings(presetSettings(preset), set),
  });
  return { clock, events, fake: await clock.until(opening) };
}

export async function inventory(
  { fake }: FakeScene,
  ...states: readonly MachineState[]
): Promise<readonly Machine[]> {
  const { machines } = await fake.kit.list(filter({ states: [...states] }));
  return machines;
}

export async function machine({ fake }: FakeScene, id: string): Promise<Machine> {
  return await fake.kit.get({ id });
}

/** Creates machines, and binds them if a cluster is given, as fast as the cloud allows. */
export async function raise({ fake, clock }: FakeScene, ids: readonly string[], cluster = ''): Promise<void> {
  for (const id of ids) await fake.kit.create(createOf(id));
  await clock.advance(1000);
  if (cluster === '') return;
  for (const id of ids) await fake.kit.configure(configureOf(id, undefined, { clusterId: cluster }));
  await clock.advance(1000);
}

export const numbered = (offering: string, zone: string, count: number): readonly string[] =>
  Array.from({ length: count }, (_, i) => `fake-${offering}-${zone}-${i}`);
