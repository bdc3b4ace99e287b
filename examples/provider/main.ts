// Example of `bigfleet/provider`: serves the backend of backend.ts on a port until it receives a signal.
//   npx node -C bigfleet-source examples/provider/main.ts --addr 127.0.0.1:9000 --state nimbus.db
// The condition makes 'bigfleet/…' mean this checkout; a project that has installed the package needs none.

import { parseArgs } from 'node:util';
import { NO_STORE, Provider, SqliteStore, serveProvider, systemClock, tlsFiles } from 'bigfleet/provider';
import { NimbusBackend } from './backend.ts';
import { Nimbus } from './nimbus.ts';

const { values } = parseArgs({
  options: {
    addr: { type: 'string', default: '127.0.0.1:9000' },
    /** Without it nothing outlives the process; only for trying out. */
    state: { type: 'string' },
    'seed-count': { type: 'string', default: '32' },
    /** Flavours that Nimbus has none of, separated by commas, to see what a shard does then. */
    'sold-out': { type: 'string', default: '' },
    /** In ms. Longer than your slowest good day, or hosts fail that would have come up. */
    'transition-timeout': { type: 'string', default: '300000ms' },
    /** Fail on request, for the fault profile of the conformance suite. */
    faults: { type: 'boolean', default: false },
    'tls-cert': { type: 'string' },
    'tls-key': { type: 'string' },
    'tls-ca': { type: 'string' },
    /** For certification over TLS: an identity that may speak as every shard. */
    'acts-for-any-shard': { type: 'string' },
  },
});

/** Prices move; shards see them after the next refresh. */
const REFRESH_MS = 60_000;

const nimbus = new NimbusBackend(new Nimbus(values['sold-out'].split(',')), Number(values['seed-count']));
// Loaded on demand: a provider in production runs without the testing entry point.
const backend = values.faults
  ? (await import('bigfleet/provider/testing')).withFaultSelectors(nimbus, systemClock, 'nimbus')
  : nimbus;
const timeoutMs = Number.parseInt(values['transition-timeout'], 10);
const provider = await Provider.open({
  backend,
  store: values.state === undefined ? NO_STORE : new SqliteStore(values.state),
  clock: systemClock,
  options: {
    timeoutsMs: { create: timeoutMs, configure: timeoutMs, drain: timeoutMs, delete: timeoutMs },
    onStoreFailure: (error) => {
      console.error(`The state file cannot be written any more: ${String(error)}`);
      process.exit(1);
    },
  },
});

const certifier = values['acts-for-any-shard'];
const tls = tlsFiles({ cert: values['tls-cert'], key: values['tls-key'], ca: values['tls-ca'] });
const server = await serveProvider(provider, values.addr, {
  tls,
  ...(certifier === undefined ? {} : { actsForAnyShard: certifier }),
});
console.log(`Serving ${provider.machineCount} machines at ${server.address}.`);

const refresh = setInterval(() => {
  provider
    .refresh()
    .catch((error: unknown) => console.error(`The cloud did not describe itself: ${String(error)}`));
}, REFRESH_MS);

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => {
    clearInterval(refresh);
    void server.stop(10_000);
  });
}
