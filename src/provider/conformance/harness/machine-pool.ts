// The machines that a conformance run may use. Each is handed out once (by trial.ts), so that state left by one
// behaviour (fencing marks, a recorded operation, a partial binding) cannot affect the next one. The `core` profile of
// the suite needs far fewer than the 256 machines that a provider is asked to offer.

import { MachineState } from '../../../model/index.ts';
import type { Machine } from '../../../wire/gen/bigfleet/v1alpha1/provider.ts';
import { Failure, Skip } from './behaviour.ts';
import type { Calls } from './calls.ts';

/**
 * The label of machines whose Create fails, at a provider started to fail on purpose (`--fault-target`). Only the fault
 * behaviours may use them.
 */
export const CREATE_FAULT_LABEL = 'conformance.fault/create';

export class MachinePool {
  readonly #fresh: string[] = [];
  readonly #faulty: string[] = [];
  readonly #handedOut = new Set<string>();
  #isRead = false;
  #hasFaults = false;

  /** How many machines were used so far. */
  get used(): number {
    return this.#handedOut.size;
  }

  /** The ids of the machines used so far. */
  get usedIds(): readonly string[] {
    return [...this.#handedOut];
  }

  /** A Speculative machine that nothing in this run has touched. */
  async take(calls: Calls): Promise<string> {
    if (this.#fresh.length === 0) await this.#read(calls);
    const id = this.#fresh.pop();
    if (id === undefined) {
      throw new Skip(`no Speculative machine is left after ${this.used}: offer more of them`);
    }
    this.#handedOut.add(id);
    return id;
  }

  /** A Speculative machine whose Create will fail, or undefined if the target does not fail on purpose. */
  async takeFaulty(calls: Calls): Promise<string | undefined> {
    if (!this.#isRead) await this.#read(calls);
    const id = this.#faulty.pop();
    if (id !== undefined) this.#handedOut.add(id);
    return id;
  }

  /** Whether the target offers machines that fail on purpose. */
  async hasFaults(calls: Calls): Promise<boolean> {
    if (!this.#isRead) await this.#read(calls);
    return this.#hasFaults;
  }

  async #read(calls: Calls): Promise<void> {
    const reply = await calls.list({ states: [MachineState.Speculative] });
    if (!reply.ok) throw new Failure(`expected List(Speculative) to work, got ${reply.details}`);
    this.#isRead = true;
    this.#fresh.length = 0;
    this.#faulty.length = 0;
    for (const machine of reply.value.machines) this.#sort(machine);
    this.#hasFaults ||= this.#faulty.length > 0;
  }

  #sort({ id, state, labels }: Machine): void {
    if (state !== MachineState.Speculative || this.#handedOut.has(id)) return;
    (labels.has(CREATE_FAULT_LABEL) ? this.#faulty : this.#fresh).push(id);
  }
}
