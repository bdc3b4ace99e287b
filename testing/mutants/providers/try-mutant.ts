// Runs a mutant against the conformance suite and returns the behaviours it fails. Used by mutants.test.ts and
// traps.test.ts of test/conformance, and by `npm run verify:mutants`.

import { fileURLToPath } from 'node:url';
import {
  BEHAVIOURS,
  type ConformanceReport,
  type Profile,
  runConformance,
  type Timings,
} from '../../../src/provider/index.ts';
import { GIVEN_UP_MS, QUICK, UNHURRIED_MS } from '../../../test/conformance/timings.ts';
import type { Mutant } from './mutant.ts';
import { openMutant } from './provider.ts';

const PROGRAM = fileURLToPath(new URL('provider.ts', import.meta.url));
/** Enough for the behaviours of the ordinary and the fault target, which share one provider. */
const MACHINES = 600;

/** Short observation of a provider that settles within milliseconds; long timeouts where only a broken one reaches them. */
const SHORT: Partial<Timings> = {
  ...QUICK,
  callMs: 10_000,
  listMs: 10_000,
  createMs: 5_000,
  configureMs: 5_000,
  drainMs: 5_000,
  deleteMs: 5_000,
  giveUpMs: 1_500,
};

type Choice = { readonly only: readonly string[] } | { readonly profiles: readonly Profile[] };

/** Whether the behaviours wait for transitions to time out; in all others a slow machine must not cause a timeout. */
function isAboutFaults(what: Choice): boolean {
  if ('profiles' in what) return what.profiles.includes('fault');
  const faults = BEHAVIOURS.filter(({ area }) => area === 'faults').map(({ id }) => id);
  return what.only.some((name) => name === 'faults' || faults.includes(name));
}

/** Runs behaviours against a mutant: in this process, except those that kill it. */
export async function tryMutant(
  mutant: Mutant,
  what: Choice,
  timings: Partial<Timings> = SHORT,
): Promise<ConformanceReport> {
  const transitionTimeoutMs = isAboutFaults(what) ? GIVEN_UP_MS : UNHURRIED_MS;
  const { calls, close } = await openMutant(mutant, { machines: MACHINES, transitionTimeoutMs });
  const target = () => ({ rpc: calls, close: () => {} });
  try {
    return await runConformance({
      target,
      faultTarget: target,
      start: `exec "${process.execPath}" "${PROGRAM}" "${mutant.name}" {port} {state} {seed} {timeout}`,
      transitionTimeoutMs,
      scaleSeed: MACHINES,
      soakMs: 50,
      timings,
      ...what,
    });
  } finally {
    await close();
  }
}

export function failedIn({ behaviours }: ConformanceReport): readonly string[] {
  return behaviours.filter(({ status }) => status === 'failed').map(({ id }) => id);
}
