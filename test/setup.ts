// Every property test runs from a seed that is printed when it fails. BIGFLEET_SEED=N repeats that run.
import fc from 'fast-check';

const seed = process.env['BIGFLEET_SEED'];
fc.configureGlobal({
  verbose: fc.VerbosityLevel.None,
  ...(seed === undefined ? {} : { seed: Number(seed) }),
});
