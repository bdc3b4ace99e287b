// Resolves when a signal asks a long-running command (`bigfleet shard`, `bigfleet up`) to end.

const SIGNALS = ['SIGINT', 'SIGTERM'] as const;

/** Resolves on the first SIGINT or SIGTERM. A second one, of either kind, ends the process at once. */
export function endSignal(): Promise<void> {
  return new Promise((resolve) => {
    const first = (): void => {
      for (const each of SIGNALS) {
        process.off(each, first);
        // A second signal exits at once; the state that the next start needs is always on disk.
        process.once(each, () => process.exit(130));
      }
      resolve();
    };
    for (const each of SIGNALS) process.once(each, first);
  });
}
