// Why a machine that no row counts on leaves its cluster. Read from the ledger and the verdicts when the action is
// decided, because the row may be gone later. Used by cycles.ts, held-back.ts and actuation for the explanation of the
// action.

import type { MachineStatus, NeedProfiles } from '../../fleet/index.ts';
import {
  type Action,
  excerpt,
  type Leaving,
  leavingOfRow,
  type NeedKey,
  type Verdict,
} from '../../model/index.ts';
import type { MachineLedger } from '../inventory/machine-ledger.ts';
import type { NeedRef } from '../views.ts';
import { needRef } from './queries/need-names.ts';

export interface LeavingParts {
  readonly ledger: MachineLedger;
  readonly profiles: NeedProfiles;
  /** Why a machine is to be replaced; null if it is not. */
  readonly whyRetiring: (id: string) => 'replaced' | 'ordered' | null;
  /** null: the key is not that of a row by itself. */
  readonly verdictOf: (key: NeedKey) => Verdict | null;
}

/** The row that a machine was bound for; null if unknown. */
export function rowOf({ cluster, stamp }: Pick<MachineStatus, 'cluster' | 'stamp'>): NeedRef | null {
  if (stamp === null || cluster === '') return null;
  return needRef({ cluster, fingerprint: stamp.fingerprint, group: stamp.group }, stamp.priority ?? 0);
}

/** null: the machine leaves for another reason, or the row it was bound for is unknown. */
export function leavingOf(
  { kind, machine, reason }: Action,
  { whyRetiring, ledger, profiles, verdictOf }: LeavingParts,
): Leaving | null {
  const isExcess = kind === 'Reclaim' || (kind === 'Preempt' && reason === 'phase2.excess');
  const { cluster, stamp } = ledger.statusOf(machine) ?? { cluster: '', stamp: null };
  const record = ledger.recordOf(machine);
  if (!isExcess || stamp === null || cluster === '' || record === null) return null;
  const key = { cluster, fingerprint: stamp.fingerprint, group: stamp.group };
  const { cause, domain, goesTo } = leavingOfRow(record, profiles.of(key), whyRetiring(machine), () =>
    verdictOf(key),
  );
  return { cause, domain: shown(domain), goesTo: shown(goesTo) };
}

/** Truncated, because a label's value is input from a peer. */
function shown(domain: string | null): string | null {
  return domain === null ? null : excerpt(domain);
}
