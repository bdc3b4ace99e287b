// Builds roll-ups from the rows: cached bytes, joined. Never from a partial picture: there is none before everything has
// been listed once, and while a watch is lost the last one is repeated with a new timestamp.

import { ClusterCapacityNeeds, type NodeFacts } from '../../wire/gen/bigfleet/v1alpha1/capacity.ts';
import { needToWire } from '../../wire/index.ts';
import type { ExtraNeed, RequestName, Rollup, RollupParts, RollupSource, RowKey } from './contract.ts';
import type { PodDemand } from './pod-demand.ts';
import { minUnitOf } from './rows.ts';
import type { WatchGate } from './watch-gate.ts';

const NOTHING = new Uint8Array(0);
const NO_REQUESTS: readonly RequestName[] = [];
/** Roll-ups whose rows are remembered: reports arrive with the acknowledgement, before many more are sent. */
const MAX_REMEMBERED = 8;

/** Which Need is at which index: rows, then episodes. Roll-ups with the same rows share the lists. */
interface SentNeeds {
  readonly rows: readonly RowKey[];
  readonly extra: readonly RowKey[];
}

export class RollupBuilder implements RollupSource {
  readonly #clusterId: string;
  readonly #demand: PodDemand;
  readonly #gate: WatchGate;
  #last: { readonly body: Uint8Array; readonly needs: SentNeeds } | null = null;
  /** By timestamp, oldest first. */
  readonly #sent = new Map<bigint, SentNeeds>();
  #facts: { readonly of: NodeFacts | undefined; readonly bytes: Uint8Array } = {
    of: undefined,
    bytes: NOTHING,
  };

  constructor(clusterId: string, demand: PodDemand, gate: WatchGate) {
    this.#clusterId = clusterId;
    this.#demand = demand;
    this.#gate = gate;
  }

  get problem(): string | null {
    return this.#gate.missing ?? this.#gate.lost;
  }

  build(timestampUnixNanos: bigint, parts: RollupParts): Rollup | null {
    if (this.#gate.missing !== null) return null;
    const isRepeated = this.#gate.lost !== null;
    if (isRepeated && this.#last === null) return null;
    const head = part({ clusterId: this.#clusterId, timestampUnixNanos });
    if (isRepeated) {
      const { body, needs } = this.#last!;
      const rows = this.#remember(timestampUnixNanos, needs);
      return { bytes: joined([head, body]), timestampUnixNanos, rows, isRepeated, acknowledge: NO_REQUESTS };
    }
    const demand = this.#demand;
    demand.reviewAlternatives();
    demand.settle();
    // An episode whose profile has no pods any more is over.
    const extra = parts.extraNeeds.filter(
      ({ fingerprint }) => demand.rows.profileOf(fingerprint) !== undefined,
    );
    const pieces = [head, ...this.#rowPieces(), this.#extra(extra), this.#factBytes(parts.nodeFacts)];
    const bytes = joined(pieces);
    const needs = { rows: demand.rows.keys, extra };
    this.#last = { body: bytes.subarray(head.length), needs };
    const rows = this.#remember(timestampUnixNanos, needs);
    return { bytes, timestampUnixNanos, rows, isRepeated, acknowledge: demand.takeUnacknowledged() };
  }

  /** The row at an index of a roll-up; null if that roll-up is not remembered any more. */
  rowAt(needIndex: number, timestampUnixNanos: bigint): RowKey | null {
    const needs = this.#sent.get(timestampUnixNanos);
    if (needs === undefined) return null;
    const { rows, extra } = needs;
    return rows[needIndex] ?? extra[needIndex - rows.length] ?? null;
  }

  /** Returns the number of rows. */
  #remember(timestampUnixNanos: bigint, needs: SentNeeds): number {
    this.#sent.set(timestampUnixNanos, needs);
    if (this.#sent.size > MAX_REMEMBERED) this.#sent.delete(this.#sent.keys().next().value!);
    return needs.rows.length + needs.extra.length;
  }

  #rowPieces(): readonly Uint8Array[] {
    const { rows, daemonSets } = this.#demand;
    const { version } = daemonSets;
    const pieces: Uint8Array[] = [];
    const daemons = daemonSets.onFreshNode.bind(daemonSets);
    for (const row of rows) pieces.push(row.bytes(version, daemons));
    return pieces;
  }

  #extra(extraNeeds: readonly ExtraNeed[]): Uint8Array {
    const { rows, daemonSets } = this.#demand;
    const needs = extraNeeds.map(({ fingerprint, group, aggregate, minUnit }) => {
      const profile = rows.profileOf(fingerprint)!;
      const unit = minUnitOf(minUnit, daemonSets.onFreshNode(profile));
      return needToWire({ cluster: '', profile, group, aggregate, minUnit: unit, firstSeenMs: 0 });
    });
    return needs.length === 0 ? NOTHING : part({ needs });
  }

  /** Facts change rarely: the part that makes them returns the same object until they do. */
  #factBytes(nodeFacts: NodeFacts | undefined): Uint8Array {
    if (this.#facts.of !== nodeFacts)
      this.#facts = { of: nodeFacts, bytes: nodeFacts === undefined ? NOTHING : part({ nodeFacts }) };
    return this.#facts.bytes;
  }
}

/** Some fields of a roll-up; fields of a message may be encoded apart and joined. */
function part(fields: Partial<ClusterCapacityNeeds>): Uint8Array {
  const none: ClusterCapacityNeeds = {
    clusterId: '',
    timestampUnixNanos: 0n,
    needs: [],
    nodeFacts: undefined,
  };
  return ClusterCapacityNeeds.encode({ ...none, ...fields }).finish();
}

function joined(pieces: readonly Uint8Array[]): Uint8Array {
  let length = 0;
  for (const piece of pieces) length += piece.length;
  const bytes = new Uint8Array(length);
  let at = 0;
  for (const piece of pieces) {
    bytes.set(piece, at);
    at += piece.length;
  }
  return bytes;
}
