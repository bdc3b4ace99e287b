// Timings of the suite for providers that settle at once. Used by the tests of this folder and by testing/mutants.

import type { Timings } from '../../src/provider/index.ts';

/** Short observation, and timeouts for a slow machine: the speed of a provider is measured by benchmarks. */
export const QUICK: Partial<Timings> = {
  pollMs: 5,
  staysMs: 25,
  quietMs: 50,
  observeMs: 50,
  callMs: 60_000,
  createMs: 60_000,
  configureMs: 60_000,
  drainMs: 60_000,
  deleteMs: 60_000,
  startMs: 120_000,
  giveUpMs: 60_000,
  getP99Ms: 60_000,
  createP99Ms: 60_000,
  listP99Ms: 60_000,
  warmListMs: 60_000,
  parallelCreateMs: 60_000,
};

/** Timeout of a transition that never ends; all others take milliseconds. */
export const GIVEN_UP_MS = 2_000;

/** Longer than any transition of these providers; no test waits for it to pass. */
export const UNHURRIED_MS = 60_000;
