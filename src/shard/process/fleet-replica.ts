// A replica of the ledger, kept up by the parts of a feed (planning/replica-feed.ts). It answers what-if questions, finds
// what keeps machines from a Need, and writes the fleet as a scenario. Used on the thread of what-if-worker.ts.

import { Fleet } from '../../fleet/index.ts';
import {
  type DecisionInput,
  type DecisionOptions,
  type LedgerMachine,
  MachineState,
} from '../../model/index.ts';
import { type AskHooks, WhatIf, type WhatIfAnswer, type WhatIfRequest } from '../../whatif/index.ts';
import { InputUnpacker } from '../journal/packing.ts';
import { findingsOn, type NeedFindings } from '../planning/queries/need-findings.ts';
import { findNeed, needId } from '../planning/queries/need-names.ts';
import { FAILED_HOST, type ReplicaPart } from '../planning/replica-feed.ts';

/** Most ids by cause in the findings about a Need: the controller needs up to 2 µs for each, between two cycles. */
const MAX_IDS = 10_000;

export class FleetReplica {
  readonly #fleet = new Fleet();
  readonly #unpacker = new InputUnpacker();
  readonly #providers: string[] = [];
  /** By slot. */
  #owners = new Uint16Array(0);
  readonly #whatIf: WhatIf;
  #decided: { readonly atMs: number; readonly options: DecisionOptions } | null = null;

  constructor() {
    const facts = {
      providerOf: (slot: number) => this.#providers[this.#owners[slot]! & ~FAILED_HOST] ?? '',
      hasFailedHost: (slot: number) => (this.#owners[slot]! & FAILED_HOST) !== 0,
    };
    this.#whatIf = new WhatIf(this.#fleet, { facts, nameOf: needId });
  }

  apply({ input, owners, providers, atMs }: ReplicaPart): void {
    const { machines, removed, retimed, demand, options } = this.#unpacker.unpack(input);
    const { machines: ledger, classes } = this.#fleet;
    this.#providers.push(...providers);
    for (const [instanceType, seconds] of retimed) classes.retime(instanceType, seconds);
    if (machines.length + removed.length > 0)
      ledger.batch(() => {
        for (const id of removed) ledger.remove(id);
        for (const machine of machines) ledger.put(machine);
      });
    this.#reserve(ledger.size);
    for (const [i, { id }] of machines.entries()) this.#owners[ledger.slotOf(id)!] = owners[i]!;
    for (const delta of demand) this.#fleet.demand.apply(delta);
    this.#decided = options === null || atMs === null ? null : { options, atMs };
  }

  prepare(pause: () => void): void {
    if (this.#decided !== null) this.#whatIf.prepare(this.#decided.atMs, this.#decided.options, pause);
  }

  /** Answers a question; with null if the shard has not decided yet. */
  ask(request: WhatIfRequest, hooks: AskHooks & { onAnswer: (answer: WhatIfAnswer | null) => void }): void {
    if (this.#decided === null) hooks.onAnswer(null);
    else this.#whatIf.ask(this.#decided.atMs, this.#decided.options, request, hooks);
  }

  /** What keeps machines from a Need; null if the shard has not decided yet, or no cluster reports the Need. */
  findings(id: string, pause: () => void): NeedFindings | null {
    const key = findNeed(this.#fleet, id);
    if (this.#decided === null || key === undefined) return null;
    return findingsOn(this.#fleet, this.#decided, key, { maxIds: MAX_IDS, pause });
  }

  #reserve(size: number): void {
    if (this.#owners.length >= size) return;
    const larger = new Uint16Array(Math.ceil(size * 1.25));
    larger.set(this.#owners);
    this.#owners = larger;
  }

  /** The input of the last decision, piece by piece; null: there was none. */
  export(): FleetExport | null {
    if (this.#decided === null) return null;
    const { atMs, options } = this.#decided;
    return { nowMs: atMs, options, machines: this.#machines(), needs: this.#needs() };
  }

  *#machines(): Generator<LedgerMachine> {
    const { machines } = this.#fleet;
    for (let slot = 0; slot < machines.size; slot++) {
      if (machines.state[slot] === 0) continue;
      const record = machines.recordAt(slot);
      const provider = this.#providers[this.#owners[slot]! & ~FAILED_HOST] ?? '';
      yield { ...record, ...exportedHost(record, provider, (this.#owners[slot]! & FAILED_HOST) !== 0) };
    }
  }

  *#needs(): Generator<DecisionInput['needs'][number]> {
    const { clusters, demand } = this.#fleet;
    for (const cluster of clusters.sorted()) yield* demand.needsOf(cluster);
  }
}

/** A decision's input whose lists are read once. */
export interface FleetExport extends Pick<DecisionInput, 'nowMs' | 'options'> {
  readonly machines: Iterable<LedgerMachine>;
  readonly needs: Iterable<DecisionInput['needs'][number]>;
}

const WITHOUT_HOST: ReadonlySet<number> = new Set([MachineState.Speculative, MachineState.Creating]);

/** The ledger has no hosts and no error texts, which no decision reads; a host is named by the id of its machine. */
function exportedHost(
  { id, state }: Pick<LedgerMachine, 'id' | 'state'>,
  provider: string,
  hasFailedHost: boolean,
): Pick<LedgerMachine, 'host' | 'lastError'> {
  const isFailed = state === MachineState.Failed;
  const isHosted = isFailed ? hasFailedHost : !WITHOUT_HOST.has(state);
  return {
    host: isHosted ? { provider: provider === '' ? 'unknown' : provider, ref: id } : null,
    lastError: isFailed ? 'failed' : '',
  };
}
