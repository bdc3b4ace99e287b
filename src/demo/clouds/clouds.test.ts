// The simulated clouds of the demo over real gRPC: offerings, state across restarts, and demo scenarios.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { CapacityType, type Machine, MachineState } from '../../model/index.ts';
import { grpcTransport, ProviderClient } from '../../provider/index.ts';
import { Random } from '../../runtime/random.ts';
import { systemClock } from '../../runtime/system-clock.ts';
import { Clouds } from './clouds.ts';
import { supplyOf } from './offerings.ts';

const RACK_KEY = 'topology.bigfleet/rack';
const { BareMetal, Reserved, OnDemand, Spot } = CapacityType;
const BINDING = { cluster: 'web', bootstrapBlob: new Uint8Array([1]), metadata: new Map<string, string>() };
let dir: string;
let epoch = 0n;
const open: (() => Promise<void> | void)[] = [];

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'bigfleet-clouds-'));
});
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close();
  rmSync(dir, { recursive: true });
});

async function opened(machines = 120, speed = 1000) {
  const happened: string[] = [];
  const clouds = await Clouds.open({
    dir,
    supply: supplyOf(machines),
    seed: 1,
    speed,
    clock: systemClock,
    onEvent: (cloud, { what, whom }) => happened.push(`${cloud} ${what} ${whom}`),
  });
  open.push(() => clouds.stop());
  return { clouds, happened };
}

function clientOf(clouds: Clouds, name: string): ProviderClient {
  let sequence = 0n;
  const { address } = clouds.status.find((cloud) => cloud.name === name)!;
  const client = new ProviderClient({
    transport: grpcTransport({ address, tls: null }),
    fence: { shardId: 'shard-0', epoch: ++epoch, nextSequence: () => ++sequence },
    clock: systemClock,
    random: new Random(1),
  });
  open.push(() => client.close());
  return client;
}

async function machinesOf(client: ProviderClient): Promise<readonly Machine[]> {
  return (await client.list()).machines;
}

/** Buys one machine of each spot offering. */
async function buySpot(client: ProviderClient): Promise<readonly string[]> {
  const byType = new Map<string, string>();
  for (const { id, capacityType, instanceType } of await machinesOf(client))
    if (capacityType === Spot) byType.set(instanceType, id);
  const ids = [...byType.values()];
  await Promise.all(ids.map((id) => client.create(id)));
  for (const id of ids)
    await vi.waitFor(async () => expect((await client.get(id)).state).toBe(MachineState.Idle));
  return ids;
}

describe('the clouds', () => {
  it('given both clouds, then one offers bare-metal and reserved hosts, the other on-demand and spot hosts', async () => {
    const { clouds } = await opened();
    const metal = await machinesOf(clientOf(clouds, 'metal'));
    const cloud = await machinesOf(clientOf(clouds, 'cloud'));
    expect(new Set(metal.map(({ capacityType }) => capacityType))).toEqual(new Set([BareMetal, Reserved]));
    expect(new Set(cloud.map(({ capacityType }) => capacityType))).toEqual(new Set([OnDemand, Spot]));
    for (const { capacityType, state } of metal)
      expect(state).toBe(capacityType === BareMetal ? MachineState.Idle : MachineState.Speculative);
    expect(clouds.status.map(({ name, machines }) => [name, machines])).toEqual([
      ['metal', metal.length],
      ['cloud', cloud.length],
    ]);
    expect(metal.length + cloud.length).toBe(supplyOf(120).machines);
  });

  it('given both clouds, then they share zones but no racks', async () => {
    const { clouds } = await opened();
    const metal = await machinesOf(clientOf(clouds, 'metal'));
    const cloud = await machinesOf(clientOf(clouds, 'cloud'));
    const racksOf = (machines: readonly Machine[]) =>
      new Set(machines.map(({ labels }) => labels.get(RACK_KEY)!));
    expect([...racksOf(metal)].filter((rack) => racksOf(cloud).has(rack))).toEqual([]);
    expect(new Set(metal.map(({ zone }) => zone))).toEqual(new Set(cloud.map(({ zone }) => zone)));
  });

  it('given a machine that was bought, when the clouds restart, then it is still Idle', async () => {
    const first = await opened();
    const [bought] = await buySpot(clientOf(first.clouds, 'cloud'));
    await first.clouds.stop();
    const second = await opened();
    expect((await clientOf(second.clouds, 'cloud').get(bought!)).state).toBe(MachineState.Idle);
  });

  it('given transitions in flight, when the clouds restart, then they resume and complete', async () => {
    const quick = await opened();
    const client = clientOf(quick.clouds, 'cloud');
    const onDemand = (await machinesOf(client)).filter(({ capacityType }) => capacityType === OnDemand);
    const [creating, configuring, draining, deleting] = onDemand.map(({ id }) => id) as [
      string,
      string,
      string,
      string,
    ];
    const become = (of: ProviderClient, id: string, state: MachineState) =>
      vi.waitFor(async () => expect(await of.get(id)).toMatchObject({ state, lastError: '' }));
    for (const id of [configuring, draining, deleting]) await client.create(id);
    for (const id of [configuring, draining, deleting]) await become(client, id, MachineState.Idle);
    await client.configure(draining, BINDING);
    await become(client, draining, MachineState.Configured);
    const { host } = await client.get(configuring);
    await quick.clouds.stop();

    // At this speed none of them completes before the clouds close.
    const slow = await opened(120, 0.1);
    const slowClient = clientOf(slow.clouds, 'cloud');
    await slowClient.create(creating);
    await slowClient.configure(configuring, BINDING);
    await slowClient.drain(draining, 600);
    await slowClient.delete(deleting);
    await slow.clouds.stop();

    const again = await opened();
    const reader = clientOf(again.clouds, 'cloud');
    await become(reader, creating, MachineState.Idle);
    await become(reader, configuring, MachineState.Configured);
    await become(reader, draining, MachineState.Idle);
    await become(reader, deleting, MachineState.Speculative);
    expect(await reader.get(configuring)).toMatchObject({ host, cluster: BINDING.cluster });
    // The number of hosts of the cloud matches the machines that have one.
    expect(again.clouds.status.find(({ name }) => name === 'cloud')?.hosts).toBe(3);
    expect(again.happened.filter((text) => text.includes('failed'))).toEqual([]);
  });

  it('given a folder that other clouds have open, when opened, then that is refused as locked, and nothing stays open', async () => {
    await opened();
    await expect(opened()).rejects.toThrow('BF_STORE_LOCKED');
  });
});

describe('demo scenarios of the clouds', () => {
  it('given spot hosts of each kind, when spotWave runs, then it interrupts hosts, alternating between kinds', async () => {
    const { clouds, happened } = await opened();
    const client = clientOf(clouds, 'cloud');
    expect(clouds.spotWave()).toContain('none to take back');
    const ids = await buySpot(client);
    expect(clouds.spotWave(2)).toMatch(/takes back 2 hosts \(1 small-spot, 1 general-spot\)/);
    await vi.waitFor(async () => {
      const states = await Promise.all(ids.map(async (id) => (await client.get(id)).state));
      expect(states.filter((state) => state !== MachineState.Idle)).toHaveLength(2);
    });
    expect(happened.filter((text) => text.startsWith('cloud interrupted'))).toHaveLength(2);
  });

  it('given a host in a zone, when zoneOutage runs, then the host is lost, and no machine can be bought there', async () => {
    const { clouds, happened } = await opened();
    const client = clientOf(clouds, 'cloud');
    const inZone = (await machinesOf(client)).filter(({ zone }) => zone === 'b');
    const [bought, wanted] = inZone.map(({ id }) => id);
    await client.create(bought!);
    await vi.waitFor(async () => expect((await client.get(bought!)).state).toBe(MachineState.Idle));
    const outage = await clouds.zoneOutage('b');
    expect(outage).toBe('Zone outage: zone b of cloud is dark for 20 s and has lost 1 host.');
    await vi.waitFor(async () => expect((await client.get(bought!)).state).not.toBe(MachineState.Idle));
    await client.create(wanted!);
    // At this speed the failure is cleaned up soon, perhaps before the test has read it.
    await vi.waitFor(() => expect(happened).toContain(`cloud failed ${wanted}`));
    expect((await client.get(wanted!)).state).not.toBe(MachineState.Idle);
  });

  it('given zoneOutage, when the clouds restart, then the outage continues', async () => {
    const first = await opened();
    await first.clouds.zoneOutage('b');
    await first.clouds.stop();
    const second = await opened();
    const client = clientOf(second.clouds, 'cloud');
    const machines = await machinesOf(client);
    const idIn = (wanted: string) => machines.find(({ zone }) => zone === wanted)!.id;
    for (const zone of ['b', 'c']) await client.create(idIn(zone));
    await vi.waitFor(async () => {
      expect(second.happened).toContain(`cloud failed ${idIn('b')}`);
      expect((await client.get(idIn('c'))).state).toBe(MachineState.Idle);
    });
  });
});
