// Node facts of a roll-up: which machines of the cluster are empty, in use, or protected. They are read apart from the
// rows, and only when their bytes differ from the last ones. More than a shard takes are ignored as a whole, with a
// problem: half of the facts would favour some machines over others for no reason. Used by demand/cluster-demand.ts.

import { NameLimits, type NODE_USES, type NodeFacts, type Problem } from '../../model/index.ts';
import { WIRE, WireCursor } from './cursor.ts';
import { decodeText } from './decode.ts';
import { Steps } from './steps.ts';

type NodeUse = (typeof NODE_USES)[number];

export const NodeFactsLimits = {
  ids: 100_000,
  id: NameLimits.machineId,
} as const;

/** Field numbers of NodeFacts, with the use that each means. */
const USES: ReadonlyMap<number, NodeUse> = new Map([
  [1, 'empty'],
  [2, 'in-use'],
  [3, 'protected'],
]);
const PROTECTED = 3;
const PROTECTED_MACHINE_ID = 1;

export type NodeFactsReading =
  | { readonly facts: NodeFacts; readonly problem: null }
  | { readonly facts: null; readonly problem: Problem };

/**
 * Reads facts in short steps; no bytes are no facts. Throws WireFormatError on malformed bytes. A machine in several lists
 * has the last use that the list of the contract gives it: protected, then in use, then empty.
 */
export function* readingNodeFacts(bytes: Uint8Array): Generator<undefined, NodeFactsReading> {
  const facts = new Map<string, NodeUse>();
  const cursor = new WireCursor().reset(bytes, 0, bytes.length);
  const steps = new Steps();
  let ids = 0;
  while (cursor.next()) {
    const use = USES.get(cursor.field);
    if (use === undefined || cursor.type !== WIRE.bytes) continue;
    if (++ids > NodeFactsLimits.ids) return tooMany();
    const [from, to] =
      cursor.field === PROTECTED
        ? machineIdIn(bytes, cursor.valueStart, cursor.pos)
        : [cursor.valueStart, cursor.pos];
    if (to - from > NodeFactsLimits.id) return tooLong(to - from);
    const id = decodeText(bytes, from, to);
    const known = facts.get(id);
    if (id !== '' && (known === undefined || PRECEDENCE[use] > PRECEDENCE[known])) facts.set(id, use);
    if (steps.isOver(to - from)) yield;
  }
  return { facts, problem: null };
}

const PRECEDENCE: Readonly<Record<NodeUse, number>> = { empty: 0, 'in-use': 1, protected: 2 };

/** Where the machine id is in an entry of a protected machine; empty if it has none. The last one wins. */
function machineIdIn(bytes: Uint8Array, start: number, end: number): readonly [number, number] {
  const cursor = new WireCursor().reset(bytes, start, end);
  let found: readonly [number, number] = [start, start];
  while (cursor.next())
    if (cursor.field === PROTECTED_MACHINE_ID && cursor.type === WIRE.bytes)
      found = [cursor.valueStart, cursor.pos];
  return found;
}

function tooMany(): NodeFactsReading {
  return beyond(`More than ${NodeFactsLimits.ids} machines; all facts are ignored.`);
}

function tooLong(bytes: number): NodeFactsReading {
  return beyond(
    `A machine id has ${bytes} bytes, the limit is ${NodeFactsLimits.id}; all facts are ignored.`,
  );
}

function beyond(message: string): NodeFactsReading {
  return { facts: null, problem: { code: 'BF_ROLLUP_LIMIT', path: 'node_facts', message } };
}
