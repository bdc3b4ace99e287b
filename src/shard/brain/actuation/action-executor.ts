// Carries accepted actions out, each to its end: ask for a blob, call the provider, and if the answer was lost or bad,
// look at what really happened before anything is tried again. Many run at a time, one per machine.

import { type Clock, Command, type Machine, MachineState, type Random } from '../../../model/index.ts';
import { stampToMetadata } from '../../../wire/index.ts';
import type { CallOutcome, ProviderRequest } from '../../events.ts';
import { failpoint } from '../../failpoints.ts';
import { waitMs } from '../backoff.ts';
import type { Book } from '../book.ts';
import type { CallScheduler } from '../call-scheduler.ts';
import type { BootstrapRequests } from './bootstrap-requests.ts';
import type { Holds } from './holds.ts';
import type { Instructions } from './instructions.ts';
import type { ActuationLimits } from './limits.ts';
import { failedAs } from './pending-actions.ts';
import type { ActionOutcome } from './records.ts';
import { type Failure, isAcquiring, type Task, whatBecameOf } from './task.ts';

export interface ActionExecutorParts {
  readonly book: Book;
  readonly scheduler: CallScheduler;
  readonly bootstrapRequests: BootstrapRequests;
  readonly holds: Holds;
  readonly instructions: Instructions;
  readonly clock: Clock;
  readonly random: Random;
  readonly limits: ActuationLimits;
  /** The provider has taken it on; the machine shows what becomes of it. */
  readonly accepted: (task: Task) => void;
  readonly ended: (task: Task, outcome: ActionOutcome) => void;
  readonly soldOut: (machine: string, why: string) => void;
  readonly quarantine: (machine: string, why: string) => void;
  readonly fenced: (provider: string, machine: string) => void;
  /** Whether somebody has stopped an action since it was taken. */
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

  /** Gives up an action that the provider has not heard of. False: it has, and must be seen through. */
  callOff(task: Task, message: string): boolean {
    const isUntouched = task.attempts === 0 && (task.stage === 'queued' || task.stage === 'asking');
    if (!isUntouched || !task.cancel()) return false;
    task.message = message;
    this.#takeBack(task, 'ctx_canceled');
    return true;
  }

  /** Sends nothing more for an action. One that is to be called again is looked at once more, and then given up. */
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
      // Priority is the only throttle: nothing of lower priority may make a preemption wait.
      isUrgent: task.action.kind === 'Preempt',
      starting: () => this.#starting(task),
      ended: (outcome) => this.#called(task, outcome),
    });
  }

  #starting(task: Task): void {
    task.stage = 'called';
    task.attempts++;
    task.retryOf = null;
    // The operator's eviction and the provider's drain run side by side: nobody waits for an ack.
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
        // At once, so that what waits is not tried while we look.
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

  /** Finds out what happened, because an error says only that we were not told. */
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
      // Somebody else may serve the row meanwhile. Should it have happened after all, a List will bring it to light.
      this.#parts.book.withdraw(task.action.machine, task.before);
      this.#parts.holds.lostSight(task.action.machine, task.message);
      this.#parts.ended(task, OUTCOMES[failure.kind]);
      return;
    }
    task.stage = 'waiting';
    clock.after(waitMs(random, limits.retry, task.blindLooks), () => this.#look(task, failure));
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
    // What was to be acquired may be had elsewhere; what is to go waits until the provider lets it.
    return kind === 'transient' || (kind === 'denied' && !isAcquiring(task.command));
  }

  #retryLater(task: Task, failure: Failure): void {
    const { clock, random, limits } = this.#parts;
    task.stage = 'waiting';
    task.retryOf = failure;
    const cancel = clock.after(waitMs(random, limits.retry, task.attempts), () => {
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

  /** It is not the machine's fault. But should the provider deny this one only, the next try is to be another. */
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
    this.#parts.book.lose(task.action.machine);
    this.#parts.ended(task, 'inventory_miss');
  }

  #observe(task: Task, machine: Machine): void {
    this.#parts.book.observe(machine, task.provider, this.#parts.clock.now());
  }

  /** The provider was not touched: everything as it was, but the row keeps the machine that was meant for it. */
  #takeBack(task: Task, outcome: ActionOutcome): void {
    const { book, clock } = this.#parts;
    const { machine } = task.action;
    const state = book.standing(machine)?.state;
    if (task.command === 'configure' && state === MachineState.Configuring)
      book.move(machine, { command: Command.Abandon }, clock.now());
    else book.withdraw(machine, task.before);
    this.#parts.ended(task, outcome);
  }
}

/** How an action ends that came to nothing. */
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
