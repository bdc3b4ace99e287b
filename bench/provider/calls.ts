// The parts `transitions` and `overhead` of `bench provider` (main.ts): a thousand concurrent transitions, with
// fencing; and the cost of one call with the kit against a bare grpc-js server in the same process, measured
// alternately, so that both see the same load of the machine.

import { Client, credentials } from '@grpc/grpc-js';
import { grpcTransport, ProviderClient } from '../../src/provider/index.ts';
import { Random } from '../../src/runtime/random.ts';
import { systemClock } from '../../src/runtime/system-clock.ts';
import { CreateRequest, MachineRef } from '../../src/wire/gen/bigfleet/v1alpha1/provider.ts';
import { type Quantiles, quantilesOf, rounded } from '../quantiles.ts';
import { quotaSlotsOf } from './cloud.ts';
import { ECHO_PATH, type ProviderOptions, type ProviderProcess, startProvider } from './provider-process.ts';

const SERVICE = '/bigfleet.v1alpha1.CapacityProvider';
const MACHINES = 20_000;

export interface TransitionFigures {
  readonly store: ProviderOptions['store'];
  /** Number of concurrent calls. */
  readonly atOnce: number;
  readonly calls: number;
  readonly callsPerSecond: number;
  /** From the call to its acknowledgement. */
  readonly ackMs: Quantiles;
}

export async function measureTransitions(
  store: ProviderOptions['store'],
  atOnce: number,
  rounds: number,
): Promise<TransitionFigures> {
  const provider = await startProvider({ machines: MACHINES, seed: 1, store });
  const ids = quotaSlotsOf(1, atOnce);
  let sequence = 0n;
  const client = new ProviderClient({
    transport: grpcTransport({ address: provider.address, tls: null }),
    fence: { shardId: 'bench', epoch: 1n, nextSequence: () => ++sequence },
    clock: systemClock,
    random: new Random(1),
  });
  const binding = {
    cluster: 'prod-eu-west-1-042',
    bootstrapBlob: Buffer.alloc(4096, 'x'),
    metadata: new Map([['bigfleet/priority', '100000']]),
  };
  const steps: readonly ((id: string) => Promise<unknown>)[] = [
    (id) => client.create(id),
    (id) => client.configure(id, binding),
    (id) => client.drain(id, 0),
    (id) => client.delete(id),
  ];
  const tookMs: number[] = [];
  let busyMs = 0;
  // The first round warms up.
  for (let round = 0; round <= rounds; round++) {
    for (const step of steps) {
      const started = performance.now();
      const took = await Promise.all(ids.map((id) => step(id).then(() => performance.now() - started)));
      if (round > 0) {
        busyMs += performance.now() - started;
        tookMs.push(...took);
      }
      await provider.settle();
    }
  }
  client.close();
  provider.stop();
  const callsPerSecond = Math.round((tookMs.length / busyMs) * 1000);
  return { store, atOnce, calls: tookMs.length, callsPerSecond, ackMs: quantilesOf(tookMs) };
}

export interface OverheadFigures {
  readonly name: string;
  readonly ms: Quantiles;
  /** p50 of one call at a time ÷ that of the bare echo. */
  readonly timesEcho: number;
  readonly callsPerSecond: number;
  /** Throughput of the bare echo ÷ that of this call, with many calls in flight. */
  readonly timesEchoBusy: number;
}

/** Calls made at a time when throughput is measured. */
const MANY = 64;

export async function measureOverhead(rounds: number): Promise<readonly OverheadFigures[]> {
  const provider = await startProvider({ machines: MACHINES, seed: 1, store: 'none' });
  const cases = casesOn(provider);
  const alone = new Map(cases.map(({ name }) => [name, [] as number[]]));
  const busyMs = new Map(cases.map(({ name }) => [name, 0]));
  for (let round = 0; round <= rounds; round++) {
    for (const { name, call } of cases) {
      const tookMs = await oneAtATime(call, 100);
      const tookBusyMs = await manyAtATime(call, 1000);
      // The first round warms up.
      if (round === 0) continue;
      alone.get(name)!.push(...tookMs);
      busyMs.set(name, busyMs.get(name)! + tookBusyMs);
    }
  }
  provider.stop();
  const figures = cases.map(({ name }) => ({
    name,
    ms: quantilesOf(alone.get(name)!),
    callsPerSecond: Math.round((rounds * 1000 * 1000) / busyMs.get(name)!),
  }));
  const echo = figures[0]!;
  return figures.map((figure) => ({
    ...figure,
    timesEcho: rounded(figure.ms.p50 / echo.ms.p50),
    timesEchoBusy: rounded(echo.callsPerSecond / figure.callsPerSecond),
  }));
}

type Call = () => Promise<unknown>;

function casesOn({
  address,
  echoAddress,
}: ProviderProcess): readonly { readonly name: string; readonly call: Call }[] {
  const id = quotaSlotsOf(1, 1)[0]!;
  const bareEcho = bareCall(echoAddress, ECHO_PATH);
  const bareGet = bareCall(address, `${SERVICE}/Get`);
  const bareCreate = bareCall(address, `${SERVICE}/Create`);
  let sequence = 0n;
  const nextSequence = (): bigint => ++sequence;
  const request = (): Buffer =>
    asBuffer(
      CreateRequest.encode({
        machineId: id,
        shardId: 'bench',
        shardEpoch: 1n,
        sequenceNumber: nextSequence(),
      }),
    );
  const ref = asBuffer(MachineRef.encode({ id }));
  const client = new ProviderClient({
    transport: grpcTransport({ address, tls: null }),
    fence: { shardId: 'client', epoch: 1n, nextSequence },
    clock: systemClock,
    random: new Random(1),
  });
  return [
    { name: 'bare echo', call: () => bareEcho(ref) },
    { name: 'Get of the kit, bare client', call: () => bareGet(ref) },
    { name: 'fenced Create of the kit (repeated), bare client', call: () => bareCreate(request()) },
    { name: 'Get with our client', call: () => client.get(id) },
    { name: 'fenced Create (repeated) with our client', call: () => client.create(id) },
  ];
}

function asBuffer(writer: { finish(): Uint8Array }): Buffer {
  return Buffer.from(writer.finish());
}

/** A unary call with bytes in and out, without decoding. */
function bareCall(address: string, path: string): (request: Buffer) => Promise<Buffer> {
  const client = new Client(address, credentials.createInsecure());
  const asIs = (bytes: Buffer): Buffer => bytes;
  return (request) =>
    new Promise((resolve, reject) =>
      client.makeUnaryRequest(path, asIs, asIs, request, (error, answer) =>
        error === null ? resolve(answer!) : reject(error),
      ),
    );
}

async function oneAtATime(call: Call, count: number): Promise<number[]> {
  const tookMs: number[] = [];
  for (let i = 0; i < count; i++) {
    const started = performance.now();
    await call();
    tookMs.push(performance.now() - started);
  }
  return tookMs;
}

async function manyAtATime(call: Call, count: number): Promise<number> {
  const started = performance.now();
  let left = count;
  const caller = async (): Promise<void> => {
    while (left-- > 0) await call();
  };
  await Promise.all(Array.from({ length: MANY }, caller));
  return performance.now() - started;
}
