// Ports for servers that are stopped and started again on their port. An ephemeral port could be given to any outgoing
// connection in between, so these are below the ephemeral range, in a range of their own per test process.

import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

/** Index of this test process among those that run in parallel. */
const POOL = Number(process.env['VITEST_POOL_ID'] ?? 0);
const POOLS = 8;
const FIRST_PORT = 20_000;
const PORTS_OF_POOL = 1_500;
const portsGiven = new Set<number>();

/** A port of the loopback interface that is free, and that is used by no other test. */
export async function quietPort(): Promise<number> {
  const first = FIRST_PORT + (POOL % POOLS) * PORTS_OF_POOL;
  for (;;) {
    const port = randomInt(first, first + PORTS_OF_POOL);
    if (portsGiven.has(port)) continue;
    portsGiven.add(port);
    const probe = createServer();
    const isFree = await new Promise<boolean>((resolve) => {
      probe.once('error', () => resolve(false));
      probe.listen(port, '127.0.0.1', () => resolve(true));
    });
    if (!isFree) continue;
    await new Promise((resolve) => probe.close(resolve));
    return port;
  }
}
