// Which row a pod or CapacityRequest counts for, if any: the rules that combine its flags with its node, its namespace, its
// claims and the translation of its shape. Reads the tables and writes none of them, apart from making a row that is new.

import { meetsAll } from '../../model/index.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Alternatives } from './alternatives.ts';
import type { Claims } from './claims.ts';
import type { ClusterPolicies } from './cluster-policies.ts';
import type { Nodes } from './nodes.ts';
import type { PodRecords } from './pod-records.ts';
import type { Row, Rows } from './rows.ts';
import type { Resolved, Shapes } from './shapes.ts';
import { Flag, type NamespacePolicy, NEVER_COUNTS } from './standing.ts';

const NO_VOLUMES = { text: '', volumes: [] } as const;

export interface RowChoiceParts {
  readonly mode: 'all' | 'opt-in';
  readonly records: PodRecords;
  readonly nodes: Nodes;
  readonly rows: Rows;
  readonly shapes: Shapes;
  readonly claims: Claims;
  readonly policies: ClusterPolicies;
  readonly alternatives: Alternatives;
  readonly clock: Clock;
}

export class RowChoice {
  readonly #parts: RowChoiceParts;
  /** Whether claims are known; before, a pod is not said to wait for a claim that does not exist. */
  areClaimsListed = false;

  constructor(parts: RowChoiceParts) {
    this.#parts = parts;
  }

  rowFor(slot: number): Row | null {
    if (!this.wouldCount(slot) || this.#ownProblem(slot) !== null) return null;
    const resolved = this.resolved(slot);
    if (resolved.problem !== null) return null;
    const index = resolved.alternativesKey === null ? 0 : this.#alternativeOf(slot, resolved);
    const known = resolved.rows[index];
    if (known !== undefined && !known.isRemoved) return known;
    const row = this.#parts.rows.rowFor(resolved.profiles[index]!, resolved.group);
    resolved.rows[index] = row;
    return row;
  }

  /** Whether the pod counts, if it has no problem of its own. */
  wouldCount(slot: number): boolean {
    const { flags, node, namespace, owner } = this.#parts.records.table;
    const each = flags[slot]!;
    if ((each & (NEVER_COUNTS & ~Flag.Quarantined)) !== 0) return false;
    const policy = this.policyOf(namespace[slot]!);
    if ((each & Flag.Ignored) !== 0 || policy.isIgnored) return false;
    if ((each & Flag.Request) !== 0) return owner[slot] === 0 || this.#leavesRequests(owner[slot]!);
    if (node[slot] !== 0) return this.#parts.nodes.at(node[slot]!).isManaged;
    return (each & Flag.Unschedulable) !== 0 && this.isOptedIn(each, policy);
  }

  /** Why an object that would count does not. */
  problemOf(slot: number): string | null {
    return this.#ownProblem(slot) ?? this.resolved(slot).problem;
  }

  policyOf(namespace: number): NamespacePolicy {
    const { records, policies } = this.#parts;
    return policies.policyOf(records.namespaces.valueOf(namespace));
  }

  isOptedIn(flags: number, policy: NamespacePolicy): boolean {
    if (this.#parts.mode === 'all' || (flags & Flag.OptedIn) !== 0) return true;
    return policy.isOptedIn && (flags & Flag.OptedOut) === 0;
  }

  /** The translation of the shape of a pod with its volumes. */
  resolved(slot: number): Resolved {
    const { records, claims, shapes } = this.#parts;
    const set = records.table.claims[slot]!;
    const { text, volumes } = set === 0 ? NO_VOLUMES : claims.termsOf(set);
    return shapes.resolve(records.table.shape[slot]!, text, volumes);
  }

  /**
   * Whether a pod leaves it to its CapacityRequests to be counted: only while it waits and does not count itself, such as a
   * pod behind a scheduling gate whose queue has asked for its capacity in advance. One that has not opted in does not:
   * another autoscaler serves it.
   */
  #leavesRequests(pod: number): boolean {
    const { flags, row, node, namespace } = this.#parts.records.table;
    if (row[pod] !== 0 || node[pod] !== 0 || (flags[pod]! & (NEVER_COUNTS | Flag.Ignored)) !== 0)
      return false;
    return this.isOptedIn(flags[pod]!, this.policyOf(namespace[pod]!));
  }

  /** A problem of the pod that other pods of its shape do not have. */
  #ownProblem(slot: number): string | null {
    const { records } = this.#parts;
    const { flags, claims, node } = records.table;
    if ((flags[slot]! & Flag.Quarantined) !== 0)
      return records.named.get(slot)?.problem ?? 'Its requests cannot be counted.';
    const set = claims[slot]!;
    if (set !== 0 && node[slot] === 0 && this.areClaimsListed) {
      const missing = this.#parts.claims.missingOf(set);
      if (missing !== undefined) return `It waits for the claim ${missing}, which does not exist.`;
    }
    return null;
  }

  /** A pod that runs counts for the alternative that its node meets; one that waits, for the one that is tried now. */
  #alternativeOf(slot: number, { profiles, group, alternativesKey }: Resolved): number {
    const { records, nodes, alternatives, clock } = this.#parts;
    const node = records.table.node[slot]!;
    const attributes = node === 0 ? null : nodes.at(node).attributes;
    if (attributes !== null) {
      const met = profiles.findIndex(({ requirements }) => meetsAll(attributes, requirements));
      if (met !== -1) return met;
    }
    if (node !== 0) return 0;
    return alternatives.current(alternativesKey!, profiles, group, clock.now());
  }
}
