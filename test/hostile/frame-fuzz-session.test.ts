// Six hundred of the frames of frame-fuzzer.ts, sent to a real shard in sessions of fifty clusters. Whether a frame is
// accepted or refused, its cluster is served afterwards, on the same session or on the next, and an uninvolved cluster
// is never affected.

import { describe, expect, it } from 'vitest';
import { FrameFuzzer } from './frame-fuzzer.ts';
import { aCloud, aShard, type HostedShard, onEnd, RawOperator, until } from './kit.ts';
import { megabytesInUse, settledMegabytes } from './memory.ts';
import { aRow, BareOperator, PLAIN } from './operator.ts';

const SEED = Number(process.env['BIGFLEET_SEED'] ?? 1);
const CLUSTERS = 50;
const ROUNDS = 12;
/** One of this many frames of a single mutation is sent. With seed 1 they include the timestamp that once crashed a shard. */
const STRIDE = 4;

/**
 * Allowed growth of memory in use since the start, in megabytes. Log lines, sessions and compiled code take three to
 * five; a single frame of 16 MB that is kept by mistake exceeds the bound.
 */
const MEGABYTES_ABOVE_START = 14;

/** One connection for each cluster. By default grpc-js would put the streams of all of them on one. */
const OWN_CONNECTION = { 'grpc.use_local_subchannel_pool': 1 };

/** A cluster that sends hostile frames, and valid roll-ups in between. */
class HostileCluster {
  readonly #shard: HostedShard;
  readonly #cluster: string;
  /** The roll-up its hostile frames are derived from, so that each of them differs little from the one accepted before. */
  readonly #good: Uint8Array;
  #operator: BareOperator;
  #hasEnded = false;
  sessions = 0;

  constructor(shard: HostedShard, cluster: string, good: Uint8Array) {
    this.#shard = shard;
    this.#cluster = cluster;
    this.#good = good;
    this.#operator = this.#connect();
    onEnd(() => this.#operator.close());
  }

  /** Resolves when the shard has received the frame, or has ended the session. */
  async send(frame: Uint8Array): Promise<void> {
    const operator = this.#operator;
    const hellos = operator.acks('hello');
    operator.write(frame);
    // A hello that is repeated is acknowledged at once, behind the frame.
    operator.hello(this.#cluster);
    await Promise.race([operator.acked('hello', hellos + 1), operator.ended]).catch(() => {});
  }

  /** Resolves when a valid roll-up is acknowledged. */
  async report(): Promise<void> {
    if (this.#hasEnded) {
      this.#operator.close();
      this.#operator = this.#connect();
    }
    // The first ack may be that of the frame before.
    for (let times = 0; times < 2; times++) {
      const acks = this.#operator.acks('rollup');
      this.#operator.write(this.#good);
      await this.#operator.acked('rollup', acks + 1);
    }
  }

  #connect(): BareOperator {
    this.sessions++;
    const operator = new BareOperator(this.#shard.addresses.sessions, PLAIN, OWN_CONNECTION);
    this.#hasEnded = false;
    void operator.ended.then(() => {
      if (this.#operator === operator) this.#hasEnded = true;
    });
    operator.hello(this.#cluster);
    return operator;
  }
}

/** Frames with tens of thousands of rows: after one, a cluster's next roll-up waits twenty times as long as that took. */
const MANY_ROWS = /rollup\/needs: \d{5} times/;

/** Frames for one cluster after the other: some single mutations, then several at once. */
class Frames {
  readonly #fuzzer: FrameFuzzer;
  #next = SEED % STRIDE;

  constructor(fuzzer: FrameFuzzer) {
    this.#fuzzer = fuzzer;
  }

  /** A copy, because the fuzzer writes the next frame over this one. */
  nextFor(cluster: string): Uint8Array {
    const { label, bytes } = this.#fuzzer.at(this.#next, cluster);
    this.#next = this.#next < this.#fuzzer.singles ? this.#next + STRIDE : this.#next + 1;
    return MANY_ROWS.test(label) ? this.nextFor(cluster) : Uint8Array.from(bytes);
  }
}

describe('hostile frames in sessions', () => {
  it(`given ${CLUSTERS * ROUNDS} of them, then each cluster is served afterwards, and a neighbour is not affected`, async () => {
    const shard = await aShard({ cloud: await aCloud() });
    const fuzzer = new FrameFuzzer(SEED);
    fuzzer.prepare();
    const frames = new Frames(fuzzer);
    const neighbour = new RawOperator(shard.addresses.sessions);
    neighbour.hello('neighbour');
    const names = Array.from({ length: CLUSTERS }, (_, i) => `fuzz-${String(i).padStart(2, '0')}`);
    const clusters = names.map((name) => new HostileCluster(shard, name, fuzzer.good(name)));
    await Promise.all(clusters.map((cluster) => cluster.report()));
    const startMegabytes = megabytesInUse();
    for (let round = 1; round <= ROUNDS; round++) {
      const sending = clusters.map((cluster, i) => cluster.send(frames.nextFor(names[i]!)));
      neighbour.rollup('neighbour', [aRow(round)]);
      await Promise.all(sending);
      await neighbour.acked('rollup', round);
      // Otherwise a valid roll-up would replace a queued hostile one, which would then not be read.
      await until(async () => (await shard.metric('bigfleet_shard_rollups_waiting')) === 0);
      await Promise.all(clusters.map((cluster) => cluster.report()));
      if (round % 2 === 1) continue;
      const bound = startMegabytes + MEGABYTES_ABOVE_START;
      expect(await settledMegabytes(bound), `round ${round} of seed ${SEED}`).toBeLessThan(bound);
    }
    // Every possible outcome of a frame occurs; otherwise the fuzzer no longer reaches all code paths.
    const reconnects = clusters.reduce((sum, { sessions }) => sum + sessions - 1, 0);
    expect(reconnects).toBeGreaterThan(CLUSTERS);
    expect(reconnects).toBeLessThan((CLUSTERS * ROUNDS) / 2);
    for (const event of ['rollups_refused', 'frames_malformed', 'frames_unknown', 'answers_unknown'])
      expect(
        await shard.metric(`bigfleet_shard_session_events_total{event="${event}"}`),
        event,
      ).toBeGreaterThan(5);
    expect(neighbour.acks('hello')).toBe(1);
    await until(async () => (await shard.port.ask('status', {})).phase === 'running');
  });
});
