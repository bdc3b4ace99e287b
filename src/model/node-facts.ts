// Node facts: what a cluster's operator says about the use of a bound machine. They break ties between machines that a
// decision would keep or preempt alike, and are no measure of consumption: no amount is read from them. Reported with
// `node_facts` of the wire, stored by src/fleet, read by the engine's keep order and order of victims.

/**
 *  empty      no pod runs on the node but those that every node carries
 *  in-use     pods run on it
 *  protected  draining it would break a budget: a PDB without room, do-not-disrupt, or a drain that failed lately
 */
export const NODE_USES = ['empty', 'in-use', 'protected'] as const;
/** One of `NODE_USES`. */
export type NodeUse = (typeof NODE_USES)[number];

/** In columns: 0 is unknown, which is what a new slot has. Journals hold these numbers, so they never change. */
const UNKNOWN = 0;

export function nodeUseNumber(use: NodeUse | undefined): number {
  return use === undefined ? UNKNOWN : 1 + NODE_USES.indexOf(use);
}

export function nodeUseAt(number: number): NodeUse | undefined {
  return NODE_USES[number - 1];
}

/** By machine id: the use of a cluster's nodes. The use of a machine that is not listed is unknown. */
export type NodeFacts = ReadonlyMap<string, NodeUse>;

/** Why the facts favour or disfavour a machine, as a sentence without its full stop; '' if its use is unknown. */
export function nodeUseText(use: NodeUse | null | undefined): string {
  switch (use) {
    case 'protected':
      return 'protected: kept before cheaper machines, and preempted only after all that are not protected';
    case 'in-use':
      return 'in use: kept before machines of the same price that are empty';
    case 'empty':
      return 'empty: given back before machines of the same price that are in use';
    case null:
    case undefined:
      return '';
  }
}

/** The protection of a victim, to follow a sentence that says which machine was picked; '' for other victims. */
export function protectedVictimText(use: NodeUse | null | undefined): string {
  return use === 'protected' ? 'protected, and no other victim was left' : '';
}
