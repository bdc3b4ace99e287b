// The condition `Satisfied` of CapacityRequests, from the verdict on their row. It is applied, so that conditions of other
// writers stay. The reference's CRD has no conditions: the API server then drops or refuses the field, and an Event says
// the same instead.

import type { Clock } from '../../runtime/clock.ts';
import type { CountedRequest } from '../demand/contract.ts';
import { type KubeClient, KubeError } from '../kube/client.ts';
import type { CapacityRequest, Condition } from '../kube/objects.ts';
import type { EventSink } from '../nodes/contract.ts';
import type { KeyedWrites } from '../nodes/keyed-writes.ts';
import { BIGFLEET_API, capacityRequestPath } from '../nodes/paths.ts';
import { type WaitText, waitText } from './texts.ts';
import type { VerdictTable } from './verdict-table.ts';

/** A CRD may be replaced by ours while the operator runs. */
const PROBE_AGAIN_MS = 60 * 60_000;
const MAX_TOLD = 50_000;
const MAX_PER_TICK = 100;
const REPHRASE_MS = 5 * 60_000;
/** Owns the condition alone; the phase is written by merge patch. */
const CONDITION_MANAGER = 'bigfleet-operator-conditions';
/** What an API server says of an applied field that the schema of the CRD lacks. */
const UNKNOWN_FIELD = 'field not declared in schema';
/** After the API server refused a condition. */
const RETRY_MS = 30_000;

interface Told {
  readonly key: string;
  readonly text: string;
  readonly atMs: number;
  /** When the condition changed between True and False. */
  readonly changedMs: number;
  readonly isSatisfied: boolean;
}

export interface RequestConditionsDeps {
  readonly kube: KubeClient;
  readonly clock: Clock;
  readonly writes: KeyedWrites;
  readonly events: EventSink;
  readonly verdicts: VerdictTable;
  readonly requests: () => Iterable<CountedRequest>;
}

export class RequestConditions {
  readonly #deps: RequestConditionsDeps;
  readonly #told = new Map<string, Told>();
  /** When the API server dropped the field; null if it keeps it or was not asked. */
  #droppedMs: number | null = null;

  constructor(deps: RequestConditionsDeps) {
    this.#deps = deps;
  }

  tick(): void {
    const { verdicts, requests } = this.#deps;
    if (!verdicts.isLive) return;
    const seen = new Set<string>();
    let left = MAX_PER_TICK;
    for (const request of requests()) {
      seen.add(request.uid);
      const tracked = verdicts.get(request.row);
      if (tracked === undefined || left === 0) continue;
      if (this.#say(request, tracked.verdict.satisfied, waitText(tracked.verdict))) left--;
    }
    for (const uid of [...this.#told.keys()]) if (!seen.has(uid)) this.#told.delete(uid);
  }

  /** Whether something was written. */
  #say(request: CountedRequest, isSatisfied: boolean, { reason, matter, text }: WaitText): boolean {
    const now = this.#deps.clock.now();
    const key = `${reason} ${matter}`;
    const old = this.#told.get(request.uid);
    if (old === undefined && this.#told.size >= MAX_TOLD) return false;
    if (old !== undefined && (old.text === text || (old.key === key && now - old.atMs < REPHRASE_MS)))
      return false;
    const changedMs = old?.isSatisfied === isSatisfied ? old.changedMs : now;
    const told = { key, text, atMs: now, changedMs, isSatisfied };
    this.#told.set(request.uid, told);
    this.#deps.writes.submit(`cr/${request.namespace}/${request.name}`, async () => {
      try {
        if (await this.#write(request, isSatisfied, reason, text, changedMs)) return;
      } catch (error) {
        // A status needs a phase, and the acknowledgement may not have been written yet.
        if (error instanceof KubeError && error.status === 422)
          this.#told.set(request.uid, { ...told, text: '', atMs: now - REPHRASE_MS + RETRY_MS });
        throw error;
      }
      const { namespace, name, uid } = request;
      const object = { apiVersion: BIGFLEET_API, kind: 'CapacityRequest', namespace, name, uid };
      this.#deps.events.event(object, 'Normal', reason, text);
    });
    return true;
  }

  /** False if the CRD has no conditions. */
  async #write(
    { namespace, name }: CountedRequest,
    isSatisfied: boolean,
    reason: string,
    message: string,
    changedMs: number,
  ): Promise<boolean> {
    const { clock } = this.#deps;
    if (this.#droppedMs !== null && clock.now() - this.#droppedMs < PROBE_AGAIN_MS) return false;
    const condition = {
      type: 'Satisfied',
      status: isSatisfied ? 'True' : 'False',
      reason,
      message,
      lastTransitionTime: new Date(changedMs).toISOString().replace(/\.\d+Z$/, 'Z'),
    };
    const isKept = await this.#isKept(namespace, name, condition);
    this.#droppedMs = isKept ? null : clock.now();
    return isKept;
  }

  async #isKept(namespace: string, name: string, condition: Condition): Promise<boolean> {
    const body = {
      apiVersion: BIGFLEET_API,
      kind: 'CapacityRequest',
      metadata: { namespace, name },
      status: { conditions: [condition] },
    };
    try {
      const path = `${capacityRequestPath(namespace, name)}/status`;
      const options = { fieldManager: CONDITION_MANAGER, force: true };
      const { status } = await this.#deps.kube.patch<CapacityRequest>(path, 'apply', body, options);
      return (status?.conditions ?? []).some(({ type }) => type === condition.type);
    } catch (error) {
      if (error instanceof KubeError && error.message.includes(UNKNOWN_FIELD)) return false;
      throw error;
    }
  }
}
