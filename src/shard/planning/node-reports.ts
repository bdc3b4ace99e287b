// What operators report of the nodes of their machines: joins, join timeouts and drains. The name and provider id of a
// node are kept with the machine and used in its node state; reports on drains go to actuation. Reports of a machine
// that is not in the operator's cluster are logged and ignored. Made by controller.ts.

import { excerpt, MachineState } from '../../model/index.ts';
import type { NodeReported } from '../events.ts';
import type { ControllerState } from './controller.ts';

/** Bytes kept of an operator's words. The reader of frames has cut them to the same lengths. */
const MAX_NAME_BYTES = 253;
const MAX_PROVIDER_ID_BYTES = 1024;
const MAX_REASON_BYTES = 500;
/** Reports without a machine of their cluster that are logged, since the start; metrics count all of them. */
const MAX_LOGGED = 100;

type Parts = Pick<ControllerState, 'ledger' | 'machineFacts' | 'metrics' | 'actuation' | 'parts'>;

export class NodeReports {
  readonly #parts: Parts;
  /** The name or provider id of the node of a machine is known now, or differs. */
  readonly #named: (machine: string) => void;
  #logged = 0;

  constructor(parts: Parts, named: (machine: string) => void) {
    this.#parts = parts;
    this.#named = named;
  }

  handle(event: NodeReported): void {
    const { ledger, actuation } = this.#parts;
    const { machine, cluster, what } = event;
    if (ledger.statusOf(machine)?.cluster !== cluster) {
      this.#ignore(event);
      return;
    }
    if (what === 'joined') this.#joined(event);
    else if (what === 'join-timeout') this.#timedOut(event);
    else actuation.handle(event);
  }

  #joined({ machine, nodeName, providerId }: NodeReported): void {
    const { machineFacts, metrics } = this.#parts;
    const node = {
      name: excerpt(nodeName, MAX_NAME_BYTES),
      providerId: excerpt(providerId, MAX_PROVIDER_ID_BYTES),
      joinError: '',
    };
    const known = machineFacts.verdictsOn(machine).node;
    if (known?.name === node.name && known.providerId === node.providerId && known.joinError === '') return;
    metrics.nodesJoined.add(1);
    machineFacts.note(machine, { node });
    this.#named(machine);
  }

  /** The life cycle decides what becomes of the machine: its provider may still report it Configured, or Failed. */
  #timedOut({ machine, cluster, reason }: NodeReported): void {
    const { machineFacts, metrics, ledger } = this.#parts;
    const joinError = excerpt(reason, MAX_REASON_BYTES) || 'The node has not registered in time.';
    const known = machineFacts.verdictsOn(machine).node;
    if (known?.joinError === joinError) return;
    metrics.joinTimeouts.add(1);
    machineFacts.note(machine, { node: { name: '', providerId: '', ...known, joinError } });
    const state = ledger.statusOf(machine)!.state;
    const isServing = state === MachineState.Configured;
    const fields = { machine: excerpt(machine), cluster: excerpt(cluster), isServing, reason: joinError };
    this.#log('node-join-timeout', fields);
  }

  #ignore({ machine, cluster, what }: NodeReported): void {
    if (++this.#logged > MAX_LOGGED) return;
    this.#log('node-report-ignored', { machine: excerpt(machine), cluster: excerpt(cluster), what });
  }

  #log(event: string, fields: Readonly<Record<string, unknown>>): void {
    this.#parts.parts.publish({ kind: 'log', level: 'warn', event, fields });
  }
}
