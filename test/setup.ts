// Every property test runs from a seed that is printed when it fails. BIGFLEET_SEED=N repeats that run. Loaded by
// vitest before every test file (vitest.config.ts).
import fc from 'fast-check';
import { vi } from 'vitest';

const seed = process.env['BIGFLEET_SEED'];
fc.configureGlobal({
  verbose: fc.VerbosityLevel.None,
  ...(seed === undefined ? {} : { seed: Number(seed) }),
});

// Waits must tolerate a slow machine. expect.poll has a setting for that, waitFor has none. Once per process: files
// that share one run this file again, with the same `vi`.
const { waitFor } = vi;
if (waitFor.name !== 'patientWaitFor')
  vi.waitFor = function patientWaitFor(callback, options = 60_000) {
    return waitFor(callback, options);
  };
