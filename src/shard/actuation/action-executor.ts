// Executes accepted actions: request a bootstrap blob if needed, call the provider and, if the call failed or its
// answer was lost, read the machine with a Get before any retry. Actions run concurrently, at most one per machine.
// Part of actuation.ts.

import { CapacityType, Command, type Machine, MachineState } from '../../model/index.ts';
import { backoffMs } from '../../runtime/backoff.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Random } from '../../runtime/random.ts';
import { stampToMetadata } from '../../wire/index.ts';
import type { CallOutcome, JoiningMachine, ProviderRequest } from '../events.ts';
import { failpoint } from '../failpoints.ts';
import type { MachineLedger } from '../inventory/machine-ledger.ts';
import { nodeLabels } from '../planning/node-state.ts';
import { type ActionInFlight, type Failure, isAcquiring, whatBecameOf } from './action-in-flight.ts';
import type { ActionOutcome } from './action-records.ts';
import type { ActuationLimits } from './actuation-limits.ts';
import type { BlockedMachines } from './blocked-machines.ts';
import type { BootstrapRequests } from './bootstrap-requests.ts';
import type { CallScheduler } from './call-scheduler.ts';
import type { DrainWaits } from './drain-waits.ts';
import type { Instructions } from './instructions.ts';
import { failedAs } from './pending-actions.ts';

export interface ActionExecutorParts {
  readonly ledger: MachineLedger;
  readonly scheduler: CallScheduler;
  readonly bootstrapRequests: BootstrapRequests;
  readonly blocked: BlockedMachines;
  readonly instructions: Instructions;
  readonly drainWaits: DrainWaits;
  readonly clock: Clock;
  readonly random: Random;
  readonly limits: ActuationLimits;
  /** The provider accepted the call; the outcome follows from later states of the machine. */
  readonly accepted: (inFlight: ActionInFlight) => void;
  readonly ended: (inFlight: ActionInFlight, outcome: ActionOutcome) => void;
  readonly soldOut: (machine: string, why: string) => void;
  readonly quarantine: (machine: string, why: string) => void;
  readonly fenced: (provider: string, machine: string) => void;
  /** Whether a shutdown, a freeze or a quarantine has stopped the action since it was accepted. */
  readonly isStopped: (inFlight: ActionInFlight) => boolean;
}

export class ActionExecutor {
  readonly #parts: ActionExecutorParts;

  constructor(parts: ActionExecutorParts) {
    this.#parts = parts;
  }

  start(inFlight: ActionInFlight): void {
    if (inFlight.command === 'configure') this.#ask(inFlight);
    else if (inFlight.stage === 'evicting') this.evict(inFlight, inFlight.action.graceSeconds);
    else this.#call(inFlight);
  }

  /** Instructs the operator and waits for its report before the provider is called. */
  evict(inFlight: ActionInFlight, graceSeconds: number): void {
    const { clock, instructions, drainWaits } = this.#parts;
    inFlight.stage = 'evicting';
    inFlight.isInstructed = true;
    inFlight.cancel = () => drainWaits.forget(inFlight.action.machine) !== null;
    drainWaits.start(inFlight, clock.now() + graceSeconds * 1000);
    instructions.give(inFlight.id, inFlight.action, inFlight.drainKind!, graceSeconds);
    failpoint('reclaim.instructed');
  }

  /** The cluster has drained the node, or is not waited for any longer. */
  proceed(inFlight: ActionInFlight): void {
    this.#call(inFlight);
  }

  /** The cluster could not drain the node, which stays. */
  withdraw(inFlight: ActionInFlight, message: string): void {
    inFlight.message = message;
    this.#takeBack(inFlight, 'drain_withdrawn');
  }

  /** Withdraws an action that was never sent to the provider. False: it was sent, and its outcome must be awaited. */
  callOff(inFlight: ActionInFlight, message: string): boolean {
    const isUntouched = inFlight.attempts === 0 && UNTOUCHED.has(inFlight.stage);
    if (!isUntouched || !inFlight.cancel()) return false;
    inFlight.message = message;
    this.#takeBack(inFlight, 'ctx_canceled');
    return true;
  }

  /** Stops further mutations of an action. One that waits for a retry is read with one more Get instead of the retry. */
  recall(inFlight: ActionInFlight, message: string): void {
    const { retryOf } = inFlight;
    if (this.callOff(inFlight, message) || retryOf === null || !inFlight.cancel()) return;
    inFlight.retryOf = null;
    this.#look(inFlight, retryOf);
  }

  #ask(inFlight: ActionInFlight): void {
    const { cluster, machine, need } = inFlight.action;
    const { requirements } = inFlight.binding!.profile;
    inFlight.stage = 'asking';
    failpoint('bootstrap.asked');
    inFlight.cancel = this.#parts.bootstrapRequests.ask(
      { cluster, machine, need: need!, requirements, joining: this.#joining(machine) },
      (answer) => {
        if (answer.kind === 'blob') {
          inFlight.blob = { bytes: answer.blob, validUntilMs: answer.validUntilMs };
          failpoint('bootstrap.answered');
          this.#call(inFlight);
          return;
        }
        inFlight.message = answer.message;
        this.#takeBack(inFlight, answer.kind === 'no-session' ? 'no_session' : 'blob_error');
      },
    );
  }

  #call(inFlight: ActionInFlight): void {
    const { provider } = inFlight;
    const { machine } = inFlight.action;
    inFlight.stage = 'queued';
    inFlight.cancel = this.#parts.scheduler.submit({
      provider,
      machine,
      request: this.#requestOf(inFlight),
      // Work of lower priority must not delay a preemption, so it skips the queue.
      isUrgent: inFlight.action.kind === 'Preempt',
      starting: () => this.#starting(inFlight),
      ended: (outcome) => this.#called(inFlight, outcome),
    });
  }

  #starting(inFlight: ActionInFlight): void {
    inFlight.stage = 'called';
    inFlight.attempts++;
    inFlight.retryOf = null;
    // An operator that does not report drains evicts while the provider drains; its ack is not awaited.
    if (inFlight.command === 'drain' && !inFlight.isInstructed) {
      inFlight.isInstructed = true;
      this.#parts.instructions.give(inFlight.id, inFlight.action, inFlight.drainKind!);
      failpoint('reclaim.instructed');
    }
  }

  #requestOf({ command, action, blob, binding, graceSeconds }: ActionInFlight): ProviderRequest {
    switch (command) {
      case 'configure': {
        const metadata = stampToMetadata(binding!.stamp);
        return { command, cluster: action.cluster, blob: blob!.bytes, metadata };
      }
      case 'drain':
        return { command, graceSeconds };
      case 'create':
      case 'delete':
        return { command };
    }
  }

  #joining(machine: string): JoiningMachine {
    const { ledger } = this.#parts;
    const portrait = ledger.portraitOf(machine);
    const capacityType = ledger.recordOf(machine)?.capacityType ?? CapacityType.Unspecified;
    const { instanceType = '', zone = '', host = null } = portrait ?? {};
    const labels = portrait === null ? new Map<string, string>() : nodeLabels(portrait);
    return { machineId: machine, labels, instanceType, zone, capacityType, providerId: host?.ref ?? '' };
  }

  #called(inFlight: ActionInFlight, outcome: CallOutcome): void {
    switch (outcome.kind) {
      case 'accepted':
      case 'found':
        this.#adopt(inFlight, outcome.machine);
        failpoint(`${inFlight.command}.adopted`);
        break;
      case 'fenced':
        inFlight.message = 'The provider has seen a newer shard of this name.';
        this.#takeBack(inFlight, 'fenced');
        this.#parts.fenced(inFlight.provider, inFlight.action.machine);
        break;
      case 'stock-out':
        // Before the Get, so that queued purchases of the same offering are withdrawn immediately.
        this.#parts.soldOut(inFlight.action.machine, outcome.message);
        this.#look(inFlight, outcome);
        break;
      case 'denied':
      case 'transient':
      case 'permanent':
      case 'unknown-machine':
        this.#look(inFlight, outcome);
        break;
    }
  }

  /** Reads the machine after a failed call: an error does not tell whether the provider carried the mutation out. */
  #look(inFlight: ActionInFlight, failure: Failure): void {
    const { provider } = inFlight;
    const { machine } = inFlight.action;
    inFlight.stage = 'looking';
    inFlight.message = messageOf(failure);
    this.#parts.scheduler.submit({
      provider,
      machine,
      request: { command: 'get' },
      ended: (outcome) => {
        if (outcome.kind === 'found') this.#resolve(inFlight, failure, outcome.machine);
        else if (outcome.kind === 'unknown-machine') this.#lose(inFlight);
        else this.#lookLater(inFlight, failure);
      },
    });
  }

  #lookLater(inFlight: ActionInFlight, failure: Failure): void {
    const { clock, random, limits } = this.#parts;
    inFlight.blindLooks++;
    if (isAcquiring(inFlight.command) && inFlight.blindLooks >= limits.attempts) {
      // Revert the move so that another machine may serve the row. If the mutation did happen, a later List shows it.
      this.#parts.ledger.withdraw(inFlight.action.machine, inFlight.before);
      this.#parts.blocked.callLost(inFlight.action.machine, inFlight.message);
      this.#parts.ended(inFlight, OUTCOMES[failure.kind]);
      return;
    }
    inFlight.stage = 'waiting';
    clock.after(backoffMs(random, limits.retry, inFlight.blindLooks), () => this.#look(inFlight, failure));
  }

  #resolve(inFlight: ActionInFlight, failure: Failure, machine: Machine): void {
    const became = whatBecameOf(inFlight, machine);
    if (became === 'done') this.#adopt(inFlight, machine);
    else if (became === 'not-done' && this.#isWorthARetry(inFlight, failure))
      this.#retryLater(inFlight, failure);
    else this.#giveUp(inFlight, failure, machine, became === 'not-done');
  }

  #isWorthARetry(inFlight: ActionInFlight, { kind }: Failure): boolean {
    const { limits, isStopped } = this.#parts;
    if (inFlight.attempts >= limits.attempts || isStopped(inFlight)) return false;
    // A denied acquisition may be replaced by another provider's machine; a denied drain or delete has no substitute.
    return kind === 'transient' || (kind === 'denied' && !isAcquiring(inFlight.command));
  }

  #retryLater(inFlight: ActionInFlight, failure: Failure): void {
    const { clock, random, limits } = this.#parts;
    inFlight.stage = 'waiting';
    inFlight.retryOf = failure;
    const cancel = clock.after(backoffMs(random, limits.retry, inFlight.attempts), () => {
      const isStale = inFlight.blob !== null && inFlight.blob.validUntilMs <= clock.now();
      if (isStale) this.#ask(inFlight);
      else this.#call(inFlight);
    });
    inFlight.cancel = () => {
      cancel();
      return true;
    };
  }

  #giveUp(inFlight: ActionInFlight, failure: Failure, machine: Machine, isUntouched: boolean): void {
    if (isUntouched) this.#nodeStays(inFlight);
    this.#observe(inFlight, machine);
    if (isUntouched && failure.kind === 'stock-out') this.#parts.blocked.check(machine.id);
    else if (isUntouched && failure.kind === 'permanent')
      this.#parts.quarantine(machine.id, inFlight.message);
    else if (isUntouched && failure.kind === 'denied' && isAcquiring(inFlight.command))
      this.#denied(inFlight);
    else if (isUntouched) this.#parts.blocked.backOff(machine.id, inFlight.message);
    if (isUntouched) this.#parts.ended(inFlight, OUTCOMES[failure.kind]);
    else if (machine.state === MachineState.Failed) {
      inFlight.message = machine.lastError;
      this.#parts.ended(inFlight, failedAs(machine.lastError));
    } else this.#parts.ended(inFlight, 'transition_error');
  }

  /** A denial blocks the provider. The machine of a denied probe backs off, so that the next probe uses another one. */
  #denied({ action, isProbe, message }: ActionInFlight): void {
    if (isProbe) this.#parts.blocked.backOff(action.machine, message);
    else this.#parts.blocked.check(action.machine);
  }

  #adopt(inFlight: ActionInFlight, machine: Machine): void {
    this.#observe(inFlight, machine);
    const isBack = inFlight.command === 'configure' && machine.state === MachineState.Idle;
    if (isBack) this.#parts.ended(inFlight, 'transition_raced_to_idle');
    else {
      this.#parts.blocked.succeeded(machine.id);
      this.#parts.accepted(inFlight);
    }
  }

  #lose(inFlight: ActionInFlight): void {
    this.#parts.ledger.lose(inFlight.action.machine);
    this.#parts.ended(inFlight, 'inventory_miss');
  }

  #observe(inFlight: ActionInFlight, machine: Machine): void {
    this.#parts.ledger.observe(machine, inFlight.provider, this.#parts.clock.now());
  }

  /** Reverts the move of an action that was not carried out; an abandoned Configure keeps the target of the machine. */
  #takeBack(inFlight: ActionInFlight, outcome: ActionOutcome): void {
    const { ledger, clock } = this.#parts;
    const { machine } = inFlight.action;
    const state = ledger.statusOf(machine)?.state;
    if (inFlight.command === 'configure' && state === MachineState.Configuring)
      ledger.move(machine, { command: Command.Abandon }, clock.now());
    else {
      this.#nodeStays(inFlight);
      ledger.withdraw(machine, inFlight.before);
    }
    this.#parts.ended(inFlight, outcome);
  }

  /** The operator may have cordoned the node of a drain that does not happen. */
  #nodeStays({ id, action, isInstructed, message }: ActionInFlight): void {
    if (isInstructed) this.#parts.instructions.withdraw(id, action, message);
  }
}

/** Stages in which an action without attempts has not reached a provider. */
const UNTOUCHED: ReadonlySet<ActionInFlight['stage']> = new Set(['queued', 'asking', 'evicting']);

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
