// Frames of sessions in transit, over real gRPC on loopback: too large, incomplete, compressed, or unread.

import { gzipSync } from 'node:zlib';
import { afterEach, describe, expect, it } from 'vitest';
import { nodeState, rollupFrame, rollupOf } from '../../../testing/support/sessions.ts';
import {
  helloFrame,
  onTheWire,
  type ServeOptions,
  serveSessions,
  until,
  WireOperator,
} from '../../../testing/support/sessions-grpc.ts';
import { VirtualClock } from '../../runtime/virtual-clock.ts';
import { ShardDefinition } from '../../wire/gen/bigfleet/v1alpha1/shard.ts';
import { bindService, clientCredentials, connect, rawBytes, status } from '../../wire/index.ts';
import { FRAME_STALL_MS, HELLO_TIMEOUT_MS, STALL_TIMEOUT_MS } from './limits.ts';

const MIB = 1024 * 1024;
const LIMITS = { frameBytes: MIB };
/** Error codes of HTTP/2. */
const [NO_ERROR, CALM] = [0, 11];

const open: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close();
});

async function served(options: ServeOptions = {}) {
  const made = await serveSessions({ limits: LIMITS, ...options });
  open.push(made.stop);
  const dial = (headers?: Readonly<Record<string, string>>) => {
    const operator = new WireOperator(made.address, headers);
    open.push(() => operator.hangUp());
    return operator;
  };
  /** Reads, and its hello is acknowledged. */
  const greeted = async (cluster = 'c1', headers?: Readonly<Record<string, string>>) => {
    const operator = dial(headers).read();
    operator.send(helloFrame(cluster));
    await until(() => operator.acks.length === 1);
    return operator;
  };
  return { ...made, dial, greeted };
}

const service = bindService(ShardDefinition, { session: { request: rawBytes } });

/** A stream of a client of grpc-js. */
function grpcSession(address: string) {
  const client = connect(service, address, clientCredentials(address, { tls: null }));
  open.push(() => client.close());
  const stream = client.rpc.session();
  stream.on('error', () => {});
  return stream;
}

/** A clock that only a test advances. */
const aStoppedClock = () => new VirtualClock(1_000_000);

const goodRollup = () => rollupFrame(rollupOf('c1', 2));

describe('frames that are too large', () => {
  it('given one between the limits of frame and transport, then it is dropped, and the session continues', async () => {
    const { greeted, sessions, clock } = await servedStopped();
    const operator = await greeted();
    operator.send(new Uint8Array(1.5 * MIB));
    operator.send(goodRollup());
    await until(() => sessions.counters.framesOversized === 1 && sessions.load.waiting === 1);
    await clock.advance(0);
    await until(() => operator.acks.length === 2);
    expect(operator.acks).toEqual(['hello', 'rollup']);
    expect(sessions.counters.rollupsRefused).toBe(1);
  });

  it('given one pipelined behind the hello, then the session opens and the frame is recorded as refused', async () => {
    const { dial, sessions } = await served();
    const operator = dial().read();
    operator.write(Buffer.concat([onTheWire(helloFrame('c1')), onTheWire(new Uint8Array(1.5 * MIB))]));
    await until(() => sessions.counters.rollupsRefused === 1 && operator.acks.length === 1);
    expect(sessions.sessions).toHaveLength(1);
  });

  it('given one beyond the limit of the transport, then its announced length ends the session, and the text names the setting', async () => {
    const { greeted, sessions } = await served();
    const operator = await greeted();
    operator.write(onTheWire(new Uint8Array(0), { announced: 2 * MIB + 1 }));
    await operator.closed;
    expect(operator.grpcStatus).toBe(status.RESOURCE_EXHAUSTED);
    expect(operator.grpcMessage).toContain('the limit is 1048576 (setting limits.frameBytes)');
    expect(sessions.counters.framesOversized).toBe(1);
  });

  it('given a grpc-js client that exceeds the limit of the transport, then it receives the same status', async () => {
    const { address, sessions } = await served();
    const stream = grpcSession(address);
    const ended = new Promise<{ readonly code: number; readonly details: string }>((resolve) =>
      stream.on('status', resolve),
    );
    stream.on('data', () => {});
    stream.write(helloFrame('c1'));
    stream.write(new Uint8Array(3 * MIB));
    const { code, details } = await ended;
    expect(code).toBe(status.RESOURCE_EXHAUSTED);
    expect(details).toContain('limits.frameBytes');
    expect(sessions.counters.framesOversized).toBe(1);
  });

  it('given a first frame that is announced as too large, then the stream ends before any of it is received', async () => {
    const { dial, sessions } = await served();
    const operator = dial().read();
    operator.write(onTheWire(new Uint8Array(0), { announced: 64 * 1024 + 1 }));
    expect(await operator.closed).toBe(NO_ERROR);
    expect(operator.grpcStatus).toBe(status.RESOURCE_EXHAUSTED);
    expect(operator.grpcMessage).toContain('the limit before the hello is 65536');
    expect(sessions.counters.framesOversized).toBe(1);
  });
});

describe('compressed frames', () => {
  const gzip = { 'grpc-encoding': 'gzip' };
  const compressed = (message: Uint8Array) => onTheWire(gzipSync(message), { isCompressed: true });

  it('given a compressed hello and roll-up, then both are read', async () => {
    const { dial, events } = await served();
    const operator = dial(gzip).read();
    operator.write(Buffer.concat([compressed(helloFrame('c1')), compressed(goodRollup())]));
    await until(() => operator.acks.length === 2);
    expect(events.at(-1)).toMatchObject({ kind: 'demand', delta: { fresh: [{}, {}] } });
  });

  it('given small ones that inflate beyond the limit, then they are refused before that memory is allocated, before and after the hello', async () => {
    const { dial, greeted, sessions } = await served();
    const bomb = compressed(Buffer.alloc(200 * MIB));
    expect(bomb.length).toBeLessThan(300_000);
    const early = dial(gzip).read();
    early.write(compressed(Buffer.alloc(MIB / 2)));
    const late = await greeted('c1', gzip);
    const before = process.memoryUsage().arrayBuffers;
    let peak = 0;
    const watch = setInterval(() => {
      peak = Math.max(peak, process.memoryUsage().arrayBuffers - before);
    }, 1);
    late.write(bomb);
    await Promise.all([early.closed, late.closed]);
    clearInterval(watch);
    for (const { grpcStatus, grpcMessage } of [early, late]) {
      expect(grpcStatus).toBe(status.RESOURCE_EXHAUSTED);
      expect(grpcMessage).toContain('BF_FRAME_SIZE: A compressed frame inflates to more than');
    }
    expect(sessions.counters.framesOversized).toBe(2);
    expect(peak).toBeLessThan(50 * MIB);
  });

  it('given one that is not valid gzip, then the session ends with INVALID_ARGUMENT', async () => {
    const { greeted, sessions } = await served();
    const operator = await greeted('c1', gzip);
    operator.write(onTheWire(Buffer.from('no gzip'), { isCompressed: true }));
    await operator.closed;
    expect(operator.grpcStatus).toBe(status.INVALID_ARGUMENT);
    expect(sessions.counters.framesMalformed).toBe(1);
  });
});

describe('frames that stay incomplete', () => {
  it('given one that receives no more bytes, then its session ends with DEADLINE_EXCEEDED', async () => {
    const clock = aStoppedClock();
    const { greeted, sessions } = await served({ clock });
    const operator = await greeted();
    operator.write(onTheWire(new Uint8Array(10_000), { announced: MIB }));
    // One timer watches incomplete frames, the other sweeps roll-ups.
    await until(() => clock.waiting === 2);
    await clock.advance(FRAME_STALL_MS + FRAME_STALL_MS / 12);
    await operator.closed;
    expect(operator.grpcStatus).toBe(status.DEADLINE_EXCEEDED);
    expect(operator.grpcMessage).toContain('BF_FRAME_STALLED');
    expect(sessions.counters.framesStalled).toBe(1);
  });

  it('given incomplete frames on many sessions, then their total size is bounded', async () => {
    const frameBytes = 160 * MIB;
    const { greeted, sessions } = await served({ limits: { frameBytes } });
    // The limit is 320 MiB, which three incomplete frames of 120 MiB exceed.
    const half = new Uint8Array(120 * MIB);
    const operators = [];
    for (let i = 0; i < 3; i++) {
      const operator = await greeted(`c${i}`);
      operator.write(onTheWire(half, { announced: frameBytes }));
      operators.push(operator);
    }
    await until(() => sessions.counters.framesOverrun === 1);
    await Promise.race(operators.map(({ closed }) => closed));
    const ended = operators.filter(({ grpcStatus }) => grpcStatus !== null);
    expect(ended.map(({ grpcStatus }) => grpcStatus)).toEqual([status.RESOURCE_EXHAUSTED]);
    expect(sessions.sessions).toHaveLength(2);
  });
});

describe('the status at the end of a stream', () => {
  it('given fifty streams without a hello, then each receives DEADLINE_EXCEEDED, and none stays open on the server', async () => {
    const clock = aStoppedClock();
    const { dial, sessions, stop } = await served({ clock, limits: { greetingPerPeer: 50 } });
    const operators = Array.from({ length: 50 }, () => dial());
    await until(() => clock.waiting === 51);
    await clock.advance(HELLO_TIMEOUT_MS);
    // They never end their half of the stream.
    for (const operator of operators) expect(await operator.closed).toBe(NO_ERROR);
    expect(new Set(operators.map(({ grpcStatus }) => grpcStatus))).toEqual(
      new Set([status.DEADLINE_EXCEEDED]),
    );
    expect(sessions.counters.sessionsRefused).toBe(50);
    await stop();
  });

  /** A session that stalled with more frames waiting than it reads. */
  async function unread(options: ServeOptions) {
    const clock = aStoppedClock();
    const made = await served({ clock, ...options });
    const operator = made.dial();
    operator.send(helloFrame('c1'));
    await until(() => made.sessions.sessions.length === 1);
    const lastError = 'x'.repeat(4000);
    for (let i = 0; i < 200; i++) made.sessions.sendNodeState('c1', nodeState(`m${i}`, { lastError }));
    await until(() => made.sessions.sessions[0]!.waiting > 100);
    await clock.advance(STALL_TIMEOUT_MS);
    expect(made.sessions.counters.sessionsStalled).toBe(1);
    return { ...made, operator };
  }

  it('given a slow reader that resumes in time, then it receives RESOURCE_EXHAUSTED', async () => {
    const { operator } = await unread({ farewellMs: 60_000 });
    operator.read();
    await until(() => operator.grpcStatus !== null);
    expect(operator.grpcStatus).toBe(status.RESOURCE_EXHAUSTED);
    expect(operator.grpcMessage).toContain('BF_SESSION_SLOW');
    operator.hangUp();
  });

  it('given a grpc-js client that stops reading for too long, then it receives RESOURCE_EXHAUSTED', async () => {
    const clock = aStoppedClock();
    const { address, sessions } = await served({ clock, farewellMs: 50 });
    const stream = grpcSession(address);
    const ended = new Promise<{ readonly code: number }>((resolve) => stream.on('status', resolve));
    // Without a listener for messages the stream is not read.
    stream.write(helloFrame('c1'));
    await until(() => sessions.sessions.length === 1);
    const lastError = 'x'.repeat(4000);
    for (let i = 0; i < 500; i++) sessions.sendNodeState('c1', nodeState(`m${i}`, { lastError }));
    await until(() => sessions.sessions[0]!.waiting > 100);
    await clock.advance(STALL_TIMEOUT_MS);
    // Its stream is reset by the time it reads again.
    await new Promise((resolve) => setTimeout(resolve, 200));
    stream.on('data', () => {});
    expect((await ended).code).toBe(status.RESOURCE_EXHAUSTED);
  });

  it('given an operator that ends its half and does not read, then its stream is reset too', async () => {
    const { dial, sessions, stop } = await served({ farewellMs: 50 });
    const operator = dial();
    operator.send(helloFrame('c1'));
    await until(() => sessions.sessions.length === 1);
    const lastError = 'x'.repeat(4000);
    for (let i = 0; i < 200; i++) sessions.sendNodeState('c1', nodeState(`m${i}`, { lastError }));
    operator.endHalf();
    await operator.closed;
    expect(sessions.sessions).toEqual([]);
    await stop();
  });

  it('given a reader that never resumes, then its stream is reset with the code that clients map to RESOURCE_EXHAUSTED', async () => {
    const { operator, stop } = await unread({ farewellMs: 50 });
    expect(await operator.closed).toBe(CALM);
    await stop();
  });
});

/** Roll-ups wait until the test advances the clock. */
async function servedStopped() {
  const clock = aStoppedClock();
  return { ...(await served({ clock })), clock };
}
