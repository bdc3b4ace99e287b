// Executes accepted actions: request a bootstrap blob if needed, call the provider and, if the call failed or its answer
// was lost, read the machine with a Get before any retry. Actions run concurrently, at most one per machine.

import { Command, type Machine, MachineState } from '../../model/index.ts';
import { backoffMs } from '../../runtime/backoff.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Random } from '../../runtime/random.ts';
import { stampToMetadata } from '../../wire/index.ts';
import type { CallOutcome, ProviderRequest } from '../events.ts';
import { failpoint } from '../failpoints.ts';
import type { MachineLedger } from '../inventory/machine-ledger.ts';
import type { ActionOutcome } from './action-records.ts';
import type { ActuationLimits } from './actuation-limits.ts';
import type { BlockedMachines } from './blocked-machines.ts';
import type { BootstrapRequests } from './bootstrap-requests.ts';
import type { CallScheduler } from './call-scheduler.ts';
import type { Instructions } from './instructions.ts';
import { failedAs } from './pending-actions.ts';
import { type Failure, isAcquiring, type Task, whatBecameOf } from './task.ts';

export interface ActionExecutorParts {
  readonly ledger: MachineLedger;
  readonly scheduler: CallScheduler;
  readonly bootstrapRequests: BootstrapRequests;
  readonly holds: BlockedMachines;
  readonly instructions: Instructions;
  readonly clock: Clock;
  readonly random: Random;
  readonly limits: ActuationLimits;
  /** The provider accepted the call; the outcome follows from later states of the machine. */
  readonly accepted: (task: Task) => void;
  readonly ended: (task: Task, outcome: ActionOutcome) => void;
  readonly soldOut: (machine: string, why: string) => void;
  readonly quarantine: (machine: string, why: string) => void;
  readonly fenced: (provider: string, machine: string) => void;
  /** Whether a shutdown, a freeze or a quarantine has stopped the action since it was accepted. */
  readonly isStopped: (task: Task) => boolean;
}

export class ActionExecutor {
  readonly #parts: ActionExecutorParts;

  constructor(parts: ActionExecutorParts) {
    this.#parts = parts;
  }

  start(task: Task): void {
    if (task.command === 'configure') this.#ask(task);
    else this.#call(task);
  }

  /** Withdraws an action that was never sent to the provider. False: it was sent, and its outcome must be awaited. */
  callOff(task: Task, message: string): boolean {
    const isUntouched = task.attempts === 0 && (task.stage === 'queued' || task.stage === 'asking');
    if (!isUntouched || !task.cancel()) return false;
    task.message = message;
    this.#takeBack(task, 'ctx_canceled');
    return true;
  }

  /** Stops further mutations of an action. One that waits for a retry is read with one more Get instead of the retry. */
  recall(task: Task, message: string): void {
    const { retryOf } = task;
    if (this.callOff(task, message) || retryOf === null || !task.cancel()) return;
    task.retryOf = null;
    this.#look(task, retryOf);
  }

  #ask(task: Task): void {
    const { cluster, machine, need } = task.action;
    const { requirements } = task.binding!.profile;
    task.stage = 'asking';
    failpoint('bootstrap.asked');
    task.cancel = this.#parts.bootstrapRequests.ask(
      { cluster, machine, need: need!, requirements },
      (answer) => {
        if (answer.kind === 'blob') {
          task.blob = { bytes: answer.blob, validUntilMs: answer.validUntilMs };
          failpoint('bootstrap.answered');
          this.#call(task);
          return;
        }
        task.message = answer.message;
        this.#takeBack(task, answer.kind === 'no-session' ? 'no_session' : 'blob_error');
      },
    );
  }

  #call(task: Task): void {
    const { provider } = task;
    const { machine } = task.action;
    task.stage = 'queued';
    task.cancel = this.#parts.scheduler.submit({
      provider,
      machine,
      request: this.#requestOf(task),
      // Work of lower priority must not delay a preemption, so it skips the queue.
      isUrgent: task.action.kind === 'Preempt',
      starting: () => this.#starting(task),
      ended: (outcome) => this.#called(task, outcome),
    });
  }

  #starting(task: Task): void {
    task.stage = 'called';
    task.attempts++;
    task.retryOf = null;
    // The operator's eviction and the provider's drain run concurrently; the drain does not wait for the operator's ack.
    if (task.command === 'drain' && task.attempts === 1) {
      this.#parts.instructions.give(task.id, task.action);
      failpoint('reclaim.instructed');
    }
  }

  #requestOf({ command, action, blob, binding }: Task): ProviderRequest {
    switch (command) {
      case 'configure': {
        const metadata = stampToMetadata(binding!.stamp);
        return { command, cluster: action.cluster, blob: blob!.bytes, metadata };
      }
      case 'drain':
        return { command, graceSeconds: action.graceSeconds };
      case 'create':
      case 'delete':
        return { command };
    }
  }

  #called(task: Task, outcome: CallOutcome): void {
    switch (outcome.kind) {
      case 'accepted':
      case 'found':
        this.#adopt(task, outcome.machine);
        failpoint(`${task.command}.adopted`);
        break;
      case 'fenced':
        task.message = 'The provider has seen a newer shard of this name.';
        this.#takeBack(task, 'fenced');
        this.#parts.fenced(task.provider, task.action.machine);
        break;
      case 'stock-out':
        // Before the Get, so that queued purchases of the same offering are withdrawn immediately.
        this.#parts.soldOut(task.action.machine, outcome.message);
        this.#look(task, outcome);
        break;
      case 'denied':
      case 'transient':
      case 'permanent':
      case 'unknown-machine':
        this.#look(task, outcome);
        break;
    }
  }

  /** Reads the machine after a failed call: an error does not tell whether the provider carried the mutation out. */
  #look(task: Task, failure: Failure): void {
    const { provider } = task;
    const { machine } = task.action;
    task.stage = 'looking';
    task.message = messageOf(failure);
    this.#parts.scheduler.submit({
      provider,
      machine,
      request: { command: 'get' },
      ended: (outcome) => {
        if (outcome.kind === 'found') this.#resolve(task, failure, outcome.machine);
        else if (outcome.kind === 'unknown-machine') this.#lose(task);
        else this.#lookLater(task, failure);
      },
    });
  }

  #lookLater(task: Task, failure: Failure): void {
    const { clock, random, limits } = this.#parts;
    task.blindLooks++;
    if (isAcquiring(task.command) && task.blindLooks >= limits.attempts) {
      // Revert the move so that another machine may serve the row. If the mutation did happen, a later List shows it.
      this.#parts.ledger.withdraw(task.action.machine, task.before);
      this.#parts.holds.lostSight(task.action.machine, task.message);
      this.#parts.ended(task, OUTCOMES[failure.kind]);
      return;
    }
    task.stage = 'waiting';
    clock.after(backoffMs(random, limits.retry, task.blindLooks), () => this.#look(task, failure));
  }

  #resolve(task: Task, failure: Failure, machine: Machine): void {
    const became = whatBecameOf(task, machine);
    if (became === 'done') this.#adopt(task, machine);
    else if (became === 'not-done' && this.#isWorthARetry(task, failure)) this.#retryLater(task, failure);
    else this.#giveUp(task, failure, machine, became === 'not-done');
  }

  #isWorthARetry(task: Task, { kind }: Failure): boolean {
    const { limits, isStopped } = this.#parts;
    if (task.attempts >= limits.attempts || isStopped(task)) return false;
    // A denied acquisition may be replaced by another provider's machine; a denied drain or delete has no substitute.
    return kind === 'transient' || (kind === 'denied' && !isAcquiring(task.command));
  }

  #retryLater(task: Task, failure: Failure): void {
    const { clock, random, limits } = this.#parts;
    task.stage = 'waiting';
    task.retryOf = failure;
    const cancel = clock.after(backoffMs(random, limits.retry, task.attempts), () => {
      const isStale = task.blob !== null && task.blob.validUntilMs <= clock.now();
      if (isStale) this.#ask(task);
      else this.#call(task);
    });
    task.cancel = () => {
      cancel();
      return true;
    };
  }

  #giveUp(task: Task, failure: Failure, machine: Machine, isUntouched: boolean): void {
    this.#observe(task, machine);
    if (isUntouched && failure.kind === 'stock-out') this.#parts.holds.check(machine.id);
    else if (isUntouched && failure.kind === 'permanent') this.#parts.quarantine(machine.id, task.message);
    else if (isUntouched && failure.kind === 'denied' && isAcquiring(task.command)) this.#denied(task);
    else if (isUntouched) this.#parts.holds.backOff(machine.id, task.message);
    if (isUntouched) this.#parts.ended(task, OUTCOMES[failure.kind]);
    else if (machine.state === MachineState.Failed) {
      task.message = machine.lastError;
      this.#parts.ended(task, failedAs(machine.lastError));
    } else this.#parts.ended(task, 'transition_error');
  }

  /** A denial blocks the provider. The machine of a denied probe backs off, so that the next probe uses another one. */
  #denied({ action, isProbe, message }: Task): void {
    if (isProbe) this.#parts.holds.backOff(action.machine, message);
    else this.#parts.holds.check(action.machine);
  }

  #adopt(task: Task, machine: Machine): void {
    this.#observe(task, machine);
    const isBack = task.command === 'configure' && machine.state === MachineState.Idle;
    if (isBack) this.#parts.ended(task, 'transition_raced_to_idle');
    else {
      this.#parts.holds.succeeded(machine.id);
      this.#parts.accepted(task);
    }
  }

  #lose(task: Task): void {
    this.#parts.ledger.lose(task.action.machine);
    this.#parts.ended(task, 'inventory_miss');
  }

  #observe(task: Task, machine: Machine): void {
    this.#parts.ledger.observe(machine, task.provider, this.#parts.clock.now());
  }

  /** Reverts the move of an action that was not carried out; an abandoned Configure keeps the target of the machine. */
  #takeBack(task: Task, outcome: ActionOutcome): void {
    const { ledger, clock } = this.#parts;
    const { machine } = task.action;
    const state = ledger.statusOf(machine)?.state;
    if (task.command === 'configure' && state === MachineState.Configuring)
      ledger.move(machine, { command: Command.Abandon }, clock.now());
    else ledger.withdraw(machine, task.before);
    this.#parts.ended(task, outcome);
  }
}

/** Outcome of an action whose mutation was not carried out, by the failure of its last call. */
const OUTCOMES: Readonly<Record<Failure['kind'], ActionOutcome>> = {
  'stock-out': 'stock_out',
  transient: 'transient',
  denied: 'denied',
  permanent: 'provider_error',
  'unknown-machine': 'provider_error',
};

function messageOf(failure: Failure): string {
  return failure.kind === 'unknown-machine' ? 'The provider does not know the machine.' : failure.message;
}
