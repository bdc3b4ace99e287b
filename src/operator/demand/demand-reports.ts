// What other parts of the operator read of single pods and CapacityRequests: those that wait, those that are not counted and
// why, and requests with their rows. The caller has settled the demand.

import type { Clock } from '../../runtime/clock.ts';
import { Acknowledgements } from './acknowledgements.ts';
import type { CountedPod, CountedRequest, PendingPod, RequestName, UncountedObject } from './contract.ts';
import type { Named, PodRecords } from './pod-records.ts';
import type { RowChoice } from './row-choice.ts';
import type { Rows } from './rows.ts';
import { Flag } from './standing.ts';
import type { UnreadableObjects } from './unreadable.ts';

export interface DemandReportParts {
  readonly records: PodRecords;
  readonly rows: Rows;
  readonly choice: RowChoice;
  readonly unreadable: UnreadableObjects;
  readonly clock: Clock;
}

export class DemandReports {
  readonly #parts: DemandReportParts;
  readonly acknowledgements = new Acknowledgements();

  constructor(parts: DemandReportParts) {
    this.#parts = parts;
  }

  *pendingPods(): Generator<PendingPod> {
    const { records, rows, choice } = this.#parts;
    const { table, vectors } = records;
    for (const [slot, { namespace, name, sinceMs, remarks, misread }] of records.named) {
      if (sinceMs === 0 || table.row[slot] === 0) continue;
      const ofNamespace = choice.policyOf(table.namespace[slot]!).misread;
      const row = rows.at(table.row[slot]!);
      yield {
        namespace,
        name,
        uid: table.uidOf(slot),
        unschedulableSinceMs: sinceMs,
        row: row.key,
        resources: vectors.valueOf(table.vector[slot]!),
        remarks: [...misread, ...ofNamespace, ...remarks, ...choice.resolved(slot).remarks],
      };
    }
  }

  /** Every pod that counts or would but for a problem: an assessment reads them all, the operator those that wait. */
  *countedPods(): Generator<CountedPod> {
    const { records, rows, choice } = this.#parts;
    const { table, vectors } = records;
    for (let slot = 1; slot < table.end; slot++) {
      const isPod = table.mark[slot] !== 0 && (table.flags[slot]! & Flag.Request) === 0;
      if (!isPod || !choice.wouldCount(slot)) continue;
      const row = table.row[slot]!;
      yield {
        uid: table.uidOf(slot),
        row: row === 0 ? null : rows.at(row).key,
        resources: vectors.valueOf(table.vector[slot]!),
        remarks: choice.resolved(slot).remarks,
        problem: choice.problemOf(slot),
      };
    }
  }

  /** Pods and requests that would count but for a problem of their own, and those that cannot be read. */
  *uncounted(): Generator<UncountedObject> {
    const { records, choice, unreadable } = this.#parts;
    yield* unreadable.values();
    for (const [slot, named] of records.named) {
      const problem = choice.problemOf(slot);
      const reason = problem === null ? this.#misreadOptIn(slot, named) : problem;
      if (reason === null || (problem !== null && !choice.wouldCount(slot))) continue;
      const { namespace, name } = named;
      const isRequest = (records.table.flags[slot]! & Flag.Request) !== 0;
      const uid = this.#uidOf(slot);
      // One reason for each object, or its Events would take turns.
      if (unreadable.has(uid)) continue;
      const kind = isRequest ? 'CapacityRequest' : 'Pod';
      yield { kind, namespace, name, uid, problem: reason, isUnreadable: false };
    }
  }

  *countedRequests(): Generator<CountedRequest> {
    const { records, rows } = this.#parts;
    const { requestNames, namespaces, table } = records;
    for (const slot of requestNames.slots()) {
      const row = this.#rowOfRequest(slot);
      if (row === 0) continue;
      yield {
        namespace: namespaces.valueOf(table.namespace[slot]!),
        name: requestNames.nameOf(slot),
        uid: this.#uidOf(slot),
        row: rows.at(row).key,
      };
    }
  }

  /** CapacityRequests that are counted, themselves or through their pod, and whose acknowledgement is due. */
  takeUnacknowledged(): readonly RequestName[] {
    const { records, clock } = this.#parts;
    const taken: RequestName[] = [];
    const { flags } = records.table;
    const nowMs = clock.now();
    for (const [slot, { namespace, name }] of records.named) {
      if ((flags[slot]! & (Flag.Request | Flag.Acknowledged)) !== Flag.Request) continue;
      if (this.#rowOfRequest(slot) === 0 || !this.acknowledgements.take(slot, nowMs)) continue;
      taken.push({ namespace, name });
    }
    return taken;
  }

  /** Why a pod that waits has not opted in, if that may be a slip of the pen. */
  #misreadOptIn(slot: number, { sinceMs, misread }: Named): string | null {
    const { records, choice } = this.#parts;
    const { row, flags, namespace } = records.table;
    if (sinceMs === 0 || row[slot] !== 0) return null;
    const each = flags[slot]!;
    const policy = choice.policyOf(namespace[slot]!);
    if ((each & Flag.Ignored) !== 0 || policy.isIgnored || choice.isOptedIn(each, policy)) return null;
    const remarks = [...misread, ...policy.misread];
    return remarks.length === 0 ? null : `${remarks.join(' ')} It is not counted.`;
  }

  /** Row that a CapacityRequest counts for, itself or through its pod; 0: none. Slot 0, which is no pod, has none. */
  #rowOfRequest(slot: number): number {
    const { row, owner } = this.#parts.records.table;
    return row[slot]! || row[owner[slot]!]!;
  }

  /** The uid in the API, without the prefix that the table keeps requests apart by. */
  #uidOf(slot: number): string {
    return this.#parts.records.table.uidOf(slot).replace(/^request:/, '');
  }
}
