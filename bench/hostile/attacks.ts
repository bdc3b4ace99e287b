// The attacks of `bench hostile`, each as a single attempt that attacker.ts repeats at a fixed rate. Most open a new
// connection for every attempt. They share their parts with `test/hostile`, which asserts that each attack is refused
// correctly.

import { status } from '@grpc/grpc-js';
import type { Random } from '../../src/runtime/random.ts';
import {
  type CapacityNeed,
  NodeSelectorRequirement_Operator,
} from '../../src/wire/gen/bigfleet/v1alpha1/capacity.ts';
import type { SecurityOptions } from '../../src/wire/index.ts';
import { fuzzOnce, spoiled } from '../../test/hostile/bytes.ts';
import { muteCaller, muteOperator, muteReader, slowRequest } from '../../test/hostile/mute.ts';
import { aRow, BareOperator, helloFrame, PLAIN, rollupFrame, rows } from '../../test/hostile/operator.ts';
import { type Certificates, neighbourName } from './settings.ts';
import { openWorst, sendWorst, WORST_CLUSTERS } from './worst-frames.ts';

export interface Target {
  readonly sessions: string;
  readonly api: string;
  readonly provider: string;
  readonly certificates: Certificates | null;
}

export interface Attacker {
  readonly target: Target;
  readonly random: Random;
  /** Aborted when the attack is over: attempts that hold connections or streams must then close them. */
  readonly over: AbortSignal;
}

export interface Attack {
  readonly about: string;
  /** Attempts. */
  readonly perMinute: number;
  readonly hasTls?: true;
  /** Runs before anything is measured, so that its lasting effects are part of the quiet period as well. */
  readonly prepare?: (attacker: Attacker) => void;
  /** Resolves to the outcome: a gRPC status code, or a short text. */
  readonly once: (attacker: Attacker, attempt: number) => Promise<string> | string;
}

/** How long the control keeps one core busy for each attempt. */
const BUSY_MS = 50;
const MIB = 2 ** 20;

export const ATTACKS: Readonly<Record<string, Attack>> = {
  nothing: { about: 'nothing happens', perMinute: 60, once: () => 'did nothing' },
  busy: { about: 'a core is busy, the shard is not contacted', perMinute: 1_200, once: busy },
  malformed: {
    about: 'bytes that are not a frame, before and after the hello',
    perMinute: 6_000,
    once: malformed,
  },
  spoiled: {
    about: 'valid frames with bytes changed, truncated or duplicated',
    perMinute: 6_000,
    once: spoiledFrames,
  },
  'too-many-rows': { about: 'roll-ups of 50,001 rows', perMinute: 60, once: rollUps(50_001) },
  'most-rows': { about: 'roll-ups of 50,000 rows, all of them new', perMinute: 60, once: rollUps(50_000) },
  'worst-frames': {
    about: '20 clusters send the worst frames that are accepted and the worst that are refused, back to back',
    perMinute: WORST_CLUSTERS * 60,
    ...worstFrames(),
  },
  'huge-frames': { about: 'frames of 66 and 130 MiB', perMinute: 60, once: hugeFrames },
  'foreign-cluster': { about: 'roll-ups with the id of a neighbour', perMinute: 1_000, once: foreignCluster },
  reconnects: { about: '1,000 reconnects a minute of 50 clusters', perMinute: 1_000, once: reconnect },
  'one-in-a-loop': { about: 'one cluster that connects in a loop', perMinute: 6_000, once: loop },
  'mute-operators': { about: 'operators that write and never read', perMinute: 60, once: muteOperators },
  'mute-readers': {
    about: 'readers of Needs and events that never read',
    perMinute: 1_800,
    once: muteReaders,
  },
  'slow-requests': { about: 'requests whose header never ends', perMinute: 1_000, once: slowRequests },
  'fuzz-sessions': {
    about: 'fuzzed bytes on the port of sessions',
    perMinute: 6_000,
    once: fuzz('sessions'),
  },
  'fuzz-api': { about: 'fuzzed bytes on the port of the API', perMinute: 6_000, once: fuzz('api') },
  'fuzz-provider': {
    about: 'fuzzed bytes on the port of the provider',
    perMinute: 6_000,
    once: fuzz('provider'),
  },
  certificates: {
    about: 'certificates that are wrong in ten ways, and plaintext',
    perMinute: 1_000,
    hasTls: true,
    once: certificates,
  },
  'fuzz-tls': {
    about: 'fuzzed bytes on a port of sessions with TLS',
    perMinute: 6_000,
    hasTls: true,
    once: fuzz('sessions'),
  },
};

function busy(): string {
  const lastMs = performance.now() + BUSY_MS;
  while (performance.now() < lastMs);
  return 'was busy';
}

/** On a connection of its own, like a remote operator. */
function dialled({ target, over }: Attacker, security: SecurityOptions = PLAIN): BareOperator {
  const operator = new BareOperator(target.sessions, security, { 'grpc.use_local_subchannel_pool': 1 });
  over.addEventListener('abort', () => operator.close(), { once: true });
  return operator;
}

/** How the shard ended it. */
async function endOf(operator: BareOperator): Promise<string> {
  const { code } = await operator.ended;
  operator.close();
  return status[code] ?? String(code);
}

function malformed(attacker: Attacker, attempt: number): Promise<string> {
  const operator = dialled(attacker);
  if (attempt % 2 === 0) operator.hello(`hostile-${attempt % 500}`);
  operator.write(Buffer.from('\xff\xff\xff no frame', 'latin1'));
  return endOf(operator);
}

const GOOD = [helloFrame('hostile'), rollupFrame('hostile', rows(20)), rollupFrame('hostile', [])];

function spoiledFrames(attacker: Attacker, attempt: number): Promise<string> {
  const operator = dialled(attacker);
  operator.hello(`hostile-${attempt % 500}`);
  for (let i = 0; i < 2; i++) operator.write(spoiled(attacker.random.pick(GOOD), attacker.random));
  operator.stream.end();
  return endOf(operator);
}

const IN_ZONES = [
  {
    key: 'topology.kubernetes.io/zone',
    operator: NodeSelectorRequirement_Operator.OPERATOR_IN,
    values: ['zone-a', 'zone-b'],
  },
];

/** Rows as long as those of real clusters, all of them new. */
function newRows(count: number, attempt: number): CapacityNeed[] {
  const resources = new Map([['cpu', '0']]);
  return Array.from({ length: count }, (_, i) =>
    aRow(attempt * count + i, { requirements: IN_ZONES, aggregateResources: resources }),
  );
}

function rollUps(count: number): Attack['once'] {
  const operators = new Map<Attacker, BareOperator>();
  return (attacker, attempt) => {
    const known = operators.get(attacker);
    const operator = known ?? dialled(attacker);
    if (known === undefined) {
      operators.set(attacker, operator);
      operator.hello('hostile');
    }
    operator.rollup('hostile', newRows(count, attempt));
    return 'sent';
  };
}

/** Each attempt is one cluster, and lasts until the attack is over. */
function worstFrames(): Pick<Attack, 'prepare' | 'once'> {
  let senders: ReturnType<typeof openWorst> = [];
  return {
    prepare: (attacker) => {
      senders = openWorst(attacker);
    },
    once: async ({ over }, attempt) => {
      const sender = senders[attempt];
      if (sender === undefined) return 'all send already';
      const sent = await sendWorst(sender, over);
      return `sent ${sent} frames`;
    },
  };
}

function hugeFrames(attacker: Attacker, attempt: number): Promise<string> {
  const operator = dialled(attacker);
  operator.hello(`hostile-${attempt % 50}`);
  operator.write(new Uint8Array((attempt % 2 === 0 ? 66 : 130) * MIB));
  return endOf(operator);
}

function foreignCluster(attacker: Attacker, attempt: number): Promise<string> {
  const operator = dialled(attacker);
  operator.hello(`hostile-${attempt % 100}`);
  operator.rollup(neighbourName(0), []);
  operator.hello(neighbourName(0));
  return endOf(operator);
}

function reconnect(attacker: Attacker, attempt: number): Promise<string> {
  return greeting(dialled(attacker), `hostile-${attempt % 50}`);
}

function loop(attacker: Attacker): Promise<string> {
  return greeting(dialled(attacker), 'hostile');
}

/** Sends a hello, waits for the answer, and disconnects. */
async function greeting(operator: BareOperator, cluster: string): Promise<string> {
  operator.hello(cluster);
  const answer = await Promise.race([operator.ended, operator.acked('hello').catch(() => operator.ended)]);
  operator.close();
  return answer === undefined ? 'OK' : (status[answer.code] ?? String(answer.code));
}

/** Acks enough to fill the outbox of a session. */
const MUTE_ROLLUPS = 10_000;

function muteOperators({ target, over }: Attacker, attempt: number): Promise<string> {
  const cluster = `hostile-${attempt}`;
  const again = Array.from({ length: MUTE_ROLLUPS }, () => rollupFrame(cluster, rows(1)));
  return held(muteOperator(target.sessions, [helloFrame(cluster), ...again]), over);
}

async function muteReaders({ target, over }: Attacker, attempt: number): Promise<string> {
  if (attempt % 2 === 0) return held(muteCaller(target.sessions), over);
  return heldSocket(await muteReader(target.api), over);
}

async function slowRequests({ target, over }: Attacker): Promise<string> {
  return heldSocket(await slowRequest(target.api), over);
}

type Socket = Awaited<ReturnType<typeof muteReader>>;

function heldSocket(socket: Socket, over: AbortSignal): Promise<string> {
  const closed = new Promise<void>((resolve) => socket.on('close', () => resolve()).on('error', () => {}));
  return held({ closed, close: () => socket.destroy() }, over);
}

/** Keeps its connection until the shard closes it, or the attack is over. */
async function held(
  peer: { readonly closed: Promise<void>; close(): void },
  over: AbortSignal,
): Promise<string> {
  const ended = new Promise<'held to the end'>((resolve) =>
    over.addEventListener('abort', () => resolve('held to the end'), { once: true }),
  );
  const how = await Promise.race([ended, peer.closed.then(() => 'cut off' as const)]);
  peer.close();
  return how;
}

function fuzz(port: 'sessions' | 'api' | 'provider'): Attack['once'] {
  return ({ target, random }) => fuzzOnce(target[port], random);
}

async function certificates(attacker: Attacker, attempt: number): Promise<string> {
  const wrong = Object.values(attacker.target.certificates!.wrong);
  const tls = wrong[attempt % (wrong.length + 1)] ?? null;
  return greeting(dialled(attacker, { tls }), 'web');
}
