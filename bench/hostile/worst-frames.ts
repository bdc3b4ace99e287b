// The attack `worst-frames` of attacks.ts: twenty clusters that send the worst frames a shard accepts and the worst it
// refuses, back to back: each as soon as the transport has accepted the previous one. Frames alternate in pairs, so
// that every one is new to the shard.

import {
  type CapacityNeed,
  NodeSelectorRequirement_Operator,
  type PenaltyBucket,
} from '../../src/wire/gen/bigfleet/v1alpha1/capacity.ts';
import { aRow, BareOperator, rollupFrame } from '../../test/hostile/operator.ts';
import type { Attacker } from './attacks.ts';

/** Clusters that attack. */
export const WORST_CLUSTERS = 20;
/** As many rows as a roll-up may have by default. */
const ROWS = 50_000;
const MIB = 2 ** 20;

type Frames = readonly [Uint8Array, Uint8Array];

const IN_ZONES = [
  {
    key: 'topology.kubernetes.io/zone',
    operator: NodeSelectorRequirement_Operator.OPERATOR_IN,
    values: ['zone-a', 'zone-b'],
  },
];

/** Rows like those of real clusters; `variant`, 0 or 1, makes all of them different. */
function plainRows(count: number, variant: number, changes: Partial<CapacityNeed> = {}): CapacityNeed[] {
  return Array.from({ length: count }, (_, i) =>
    aRow(variant * count + i, {
      requirements: IN_ZONES,
      aggregateResources: new Map([['cpu', '0']]),
      ...changes,
    }),
  );
}

/** One row with as many values as a row may have. */
function wideRow(priority: number): CapacityNeed {
  const values = Array.from({ length: 4096 }, (_, i) => `v${priority}-${i}`);
  const requirements = [{ key: 'k', operator: NodeSelectorRequirement_Operator.OPERATOR_IN, values }];
  return aRow(priority, { requirements, aggregateResources: new Map([['cpu', '0']]) });
}

function frames(make: (variant: number) => Uint8Array): Frames {
  return [make(0), make(1)];
}

/** The pair of frames of each kind of cluster; half of the kinds are refused. */
const KINDS: Readonly<Record<string, (cluster: string) => Frames>> = {
  'all rows new': (cluster) => frames((variant) => rollupFrame(cluster, plainRows(ROWS, variant))),
  'all rows moved': (cluster) =>
    frames((variant) => {
      const all = plainRows(ROWS, 0);
      return rollupFrame(cluster, variant === 0 ? all : all.toReversed());
    }),
  'all allowed values': (cluster) =>
    frames((variant) =>
      rollupFrame(
        cluster,
        Array.from({ length: 380 }, (_, i) => wideRow(variant * 380 + i)),
      ),
    ),
  'all rows set aside': (cluster) =>
    frames((variant) =>
      rollupFrame(cluster, plainRows(ROWS, variant, { aggregateResources: new Map([['cpu', '1e30']]) })),
    ),
  'a group of 15 MB': (cluster) =>
    frames((variant) => rollupFrame(cluster, [aRow(variant, { group: '\0'.repeat(15 * MIB) })])),
  'a row too many': (cluster) => frames((variant) => rollupFrame(cluster, plainRows(ROWS + 1, variant))),
  'the last row wrong': (cluster) =>
    frames((variant) => {
      const wrong = aRow(1, { interruptionPenaltyBucket: 99 as PenaltyBucket });
      return rollupFrame(cluster, [...plainRows(ROWS - 1, variant), wrong]);
    }),
  'a cluster id of 15 MB': () => frames(() => rollupFrame('\0'.repeat(15 * MIB), [])),
  'broken at the end': (cluster) =>
    frames((variant) => {
      const bytes = rollupFrame(cluster, [...plainRows(ROWS - 1, variant), aRow(9, { group: 'last' })]);
      // The group of the last row is not UTF-8.
      return bytes.with(bytes.length - 1, 0xff);
    }),
  '400,000 resources and a bad operator': (cluster) =>
    frames((variant) => {
      const many = Array.from({ length: 400_000 }, (_, i) => [`r${i}`, '1'] as const);
      const bad = [{ key: 'k', operator: 9 as never, values: [] }];
      return rollupFrame(cluster, [
        aRow(variant, { aggregateResources: new Map(many) }),
        aRow(2, { requirements: bad }),
      ]);
    }),
};

interface Sender {
  readonly operator: BareOperator;
  readonly frames: Frames;
}

/** Connects each cluster and sends its first frame, so that its accepted demand exists before anything is measured. */
export function openWorst({ target, over }: Pick<Attacker, 'target' | 'over'>): readonly Sender[] {
  const makers = Object.values(KINDS);
  return Array.from({ length: WORST_CLUSTERS }, (_, i) => {
    const cluster = `hostile-${i}`;
    const operator = new BareOperator(target.sessions, undefined, { 'grpc.use_local_subchannel_pool': 1 });
    over.addEventListener('abort', () => operator.close(), { once: true });
    operator.hello(cluster);
    const frames = makers[i % makers.length]!(cluster);
    operator.write(frames[0]);
    return { operator, frames };
  });
}

/** Sends frames of one cluster until the attack is over; resolves to their number. */
export async function sendWorst({ operator, frames }: Sender, over: AbortSignal): Promise<number> {
  let sent = 0;
  let isEnded = false;
  void operator.ended.then(() => {
    isEnded = true;
  });
  while (!over.aborted && !isEnded) {
    sent++;
    await new Promise<void>((resolve) => {
      operator.stream.write(frames[(sent % 2) as 0 | 1], () => resolve());
      over.addEventListener('abort', () => resolve(), { once: true });
    });
  }
  return sent;
}
