// Merges losses for `bigfleet history` (history.ts): when a zone goes dark, the journal has a loss for each of its
// machines, and a history shows many of them as one line.

import type { HistoryItem } from '../../shard/index.ts';

/** Most losses of one zone that are shown one by one. */
const MAX_ALONE = 3;
const TOGETHER_MS = 60_000;

type LossItem = Extract<HistoryItem, { readonly kind: 'loss' }>;

/** Many losses of a zone within a minute become one item, in the place of the first. */
export function foldLosses(items: readonly HistoryItem[]): readonly HistoryItem[] {
  const groups = new Map<HistoryItem, LossItem[]>();
  const open = new Map<string, LossItem[]>();
  for (const item of items) {
    if (item.kind !== 'loss') continue;
    const { provider, zone, error } = item.loss;
    const name = JSON.stringify([provider, zone, error]);
    let group = open.get(name);
    if (group === undefined || item.atMs - group[0]!.atMs > TOGETHER_MS) group = [];
    group.push(item);
    open.set(name, group);
    groups.set(item, group);
  }
  return items.flatMap((item) => {
    const group = groups.get(item) ?? [];
    if (group.length <= MAX_ALONE) return [item];
    return item === group[0] ? [manyOf(group)] : [];
  });
}

function manyOf(losses: readonly LossItem[]): HistoryItem {
  const { atMs, loss } = losses[0]!;
  const byCluster = Map.groupBy(losses, ({ loss: { cluster } }) => cluster);
  const clusters = [...byCluster].flatMap(([cluster, own]) =>
    cluster === '' ? [] : [{ cluster, count: own.length }],
  );
  const { provider, zone, errorClass, error } = loss;
  const many = { provider, zone, errorClass, error, isDark: false, count: losses.length, of: 0, clusters };
  return { kind: 'losses', atMs, losses: { ...many, sinceMs: atMs, atMs: losses.at(-1)!.atMs } };
}
