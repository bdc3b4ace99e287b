// Renders why each action of a plan was decided, for `bigfleet decide`. Rows are named by their number in the list of
// Needs.

import {
  type Action,
  type DecisionInput,
  keyOf,
  keyText,
  type Leaving,
  type LedgerMachine,
  leavingOfRow,
  type NeedKey,
  type Plan,
  protectedVictimText,
} from '../model/index.ts';
import { reasonText } from '../web/index.ts';

export function reasonsIn(
  plan: Plan,
  { machines, needs, options }: DecisionInput,
): (action: Action) => string {
  const numbers = new Map(plan.verdicts.map(({ key }, i) => [keyText(key), i]));
  const profiles = new Map(needs.map((need) => [keyText(keyOf(need)), need.profile]));
  const byId = new Map(machines.map((machine) => [machine.id, machine]));
  const rowOf = (key: NeedKey, priority: number) => {
    const number = numbers.get(keyText(key));
    const id = number === undefined ? `a fold of ${key.cluster}` : `Need ${number + 1}`;
    return { id, cluster: key.cluster, priority };
  };
  const leavingOf = (machine: LedgerMachine, key: NeedKey): Leaving => {
    const number = numbers.get(keyText(key));
    const verdict = number === undefined ? null : plan.verdicts[number]!;
    // A fold has no row of its own, so a machine that it does not need is excess.
    const isFold = key.group.startsWith('fold:');
    const profile = profiles.get(keyText(key));
    if (profile === undefined && isFold) return { cause: 'excess', domain: null, goesTo: null };
    return leavingOfRow(
      machine,
      profile,
      options.retiring.has(machine.id) ? 'replaced' : null,
      () => verdict,
    );
  };
  return (action) => {
    const machine = byId.get(action.machine);
    const bound = machine === undefined ? null : boundFor(machine);
    const reason = reasonText({
      ...action,
      provider: '',
      need: action.need === null ? null : rowOf(action.need, priorityOf(action.need, plan, numbers)),
      from: bound === null ? null : rowOf(bound, machine?.stamp?.priority ?? 0),
      leaving: bound === null ? null : leavingOf(machine!, bound),
    });
    const remark = action.kind === 'Preempt' ? protectedVictimText(machine?.use) : '';
    return remark === '' ? reason : `${reason}; ${remark}`;
  };
}

function boundFor({ cluster, stamp }: LedgerMachine): NeedKey | null {
  if (stamp === null || cluster === '') return null;
  return { cluster, fingerprint: stamp.fingerprint, group: stamp.group };
}

function priorityOf(key: NeedKey, { verdicts }: Plan, numbers: ReadonlyMap<string, number>): number {
  const number = numbers.get(keyText(key));
  return number === undefined ? 0 : verdicts[number]!.priority;
}
