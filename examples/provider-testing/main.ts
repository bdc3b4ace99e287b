// Example of `bigfleet/provider/testing`: certifies a backend within one process, as the tests of a provider do, and
// shows how a fake cloud misbehaves on request.
//   npx node -C bigfleet-source examples/provider-testing/main.ts

import { systemClock } from 'bigfleet/provider';
import {
  FakeProvider,
  MemoryStore,
  NO_STORE,
  presetSettings,
  runConformance,
  VirtualClock,
} from 'bigfleet/provider/testing';

// A calm fake cloud, so that the suite has fast machines. Put `Provider.open({ backend: yours, … })` in its place.
const provider = await FakeProvider.open({
  seed: 1,
  clock: systemClock,
  machines: 256,
  settings: presetSettings('calm'),
  store: NO_STORE,
});
const report = await runConformance({
  target: () => ({ rpc: provider, close: () => {} }),
  only: ['lifecycle', 'B302'],
});
console.log(`${report.verdict}: ${report.totals.passed} passed, ${report.totals.failed} failed`);
for (const { id, detail, status } of report.behaviours)
  if (status === 'failed') console.log(`${id}: ${detail}`);
await provider.close();

// On a virtual clock an outage of half an hour takes no time.
const clock = new VirtualClock();
const cloud = await FakeProvider.open({
  seed: 1,
  clock,
  machines: 24,
  settings: presetSettings('calm'),
  store: new MemoryStore(),
});
cloud.cloud.outage('zone-a', 30 * 60_000);
const machineId = 'fake-general-zone-a-0';
await cloud.create({ machineId, shardId: 's', shardEpoch: 1n, sequenceNumber: 1n });
await clock.advance(60_000);
console.log(`${machineId}: ${(await cloud.get({ id: machineId })).lastError}`);
await cloud.close();
