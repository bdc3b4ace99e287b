// Short names of rows for display. A key has a cluster, a fingerprint of hundreds of characters and a group; its name
// is the cluster and 10 hex digits of a hash of the rest. Among 10,000 rows of a cluster, a collision has a chance of
// 1 in 20,000. Used by every view, log line and journal entry that names a row.

import type { Fleet } from '../../../fleet/index.ts';
import type { NeedKey } from '../../../model/index.ts';
import { scramble32 } from '../../../runtime/random.ts';
import type { NeedRef } from '../../views.ts';

const DIGITS = 10;

export function needId({ cluster, fingerprint, group }: NeedKey): string {
  const text = `${fingerprint}\n${group}`;
  let a = 0x811c9dc5;
  let b = 0x9e3779b9;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    a = Math.imul(a ^ code, 0x01000193);
    b = scramble32(b ^ code);
  }
  const digits =
    (scramble32(a) >>> 0).toString(16).padStart(8, '0') + (b >>> 0).toString(16).padStart(8, '0');
  return `${cluster}/${digits.slice(0, DIGITS)}`;
}

export function needRef(key: NeedKey, priority: number): NeedRef {
  return { id: needId(key), cluster: key.cluster, group: key.group, priority };
}

/** The key of the row with this name; undefined if no row has it. */
export function findNeed({ clusters, demand }: Fleet, id: string): NeedKey | undefined {
  const slash = id.lastIndexOf('/');
  if (slash < 1) return undefined;
  const { offset, length } = demand.rowsOf(clusters.find(id.slice(0, slash)));
  for (let row = offset; row < offset + length; row++) {
    const key = demand.keyOf(row);
    if (needId(key) === id) return key;
  }
  return undefined;
}
