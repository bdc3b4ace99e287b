// Example of `bigfleet/provider/client`: calls a provider without a shard. Reads its inventory, buys one host, polls it
// until it runs and releases it.
//   npx node -C bigfleet-source examples/provider-client/main.ts [ADDRESS]
// Without an address it serves a fake cloud in this process.

import { setTimeout as sleep } from 'node:timers/promises';
import { serveProvider, systemClock } from 'bigfleet/provider';
import {
  grpcTransport,
  InventoryReader,
  type Machine,
  MachineState,
  machinesOf,
  ProviderClient,
  ProviderError,
  Random,
} from 'bigfleet/provider/client';
import { FakeProvider, NO_STORE, presetSettings } from 'bigfleet/provider/testing';

const POLL_MS = 20;

const fake = await FakeProvider.open({
  seed: 1,
  clock: systemClock,
  machines: 24,
  settings: presetSettings('calm'),
  store: NO_STORE,
});
const server = await serveProvider(fake, '127.0.0.1:0', { tls: null });

// Every change carries a fencing token. Epoch and sequence must grow over time, and the epoch must outlive the process;
// here the current time is used for both.
let sequence = BigInt(Date.now());
const client = new ProviderClient({
  transport: grpcTransport({ address: process.argv[2] ?? server.address, tls: null }),
  fence: { shardId: 'example', epoch: BigInt(Date.now()), nextSequence: () => ++sequence },
  clock: systemClock,
  random: new Random(1),
});

// The reader keeps a copy up to date: later readings bring only what has changed.
const machines = new Map<string, Machine>();
const reader = new InventoryReader({
  listBytes: (query, signal) => client.listBytes(query, signal),
  seed: 1,
});
const sink = {
  changed: (batch: Parameters<typeof machinesOf>[0]) => {
    for (const machine of machinesOf(batch)) machines.set(machine.id, machine);
  },
  gone: (ids: readonly string[]) => {
    for (const id of ids) machines.delete(id);
  },
};
const first = await reader.read('full', sink);
console.log(`read ${first.added} machines, ${first.refused} of them refused`);

const slot = [...machines.values()].find(({ state }) => state === MachineState.Speculative)!;
await client.create(slot.id);
while ((await client.get(slot.id)).state === MachineState.Creating) await sleep(POLL_MS);
const second = await reader.read('changes', sink);
console.log(
  `${second.changed} changed; ${slot.id} is Idle: ${machines.get(slot.id)?.state === MachineState.Idle}`,
);

try {
  await client.get('no-such-machine');
} catch (error) {
  if (error instanceof ProviderError) console.log(`no-such-machine: ${error.kind}`);
}

await client.delete(slot.id);
while ((await client.get(slot.id)).state !== MachineState.Speculative) await sleep(POLL_MS);
console.log(`${slot.id} was given back`);

client.close();
await server.stop();
