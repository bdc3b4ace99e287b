// Addresses of a shard: one or several, as HOST:PORT. Names are resolved again at each dial, so that a shard that moved
// is found; consecutive attempts try one endpoint after the other. Used by grpc-dialer.ts.

import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';

/** One address to dial. */
export interface Endpoint {
  /** IP address and port. */
  readonly address: string;
  /** The name that the certificate of the shard must have. */
  readonly host: string;
}

/** Resolves a name to its addresses. */
export type Lookup = (
  host: string,
) => Promise<readonly { readonly address: string; readonly family: number }[]>;

const systemLookup: Lookup = (host) => lookup(host, { all: true, order: 'verbatim' });

/** Endpoints that are considered of one dial; a name with more addresses than this is not a shard. */
const MAX_ENDPOINTS = 64;

/** `a:1,b:2` as its parts; blanks around them are ignored. */
export function addressList(text: string): readonly string[] {
  return text
    .split(',')
    .map((address) => address.trim())
    .filter((address) => address !== '');
}

/** All endpoints of the addresses, in their order. Rejects if none of the names can be resolved. */
export async function resolveEndpoints(
  addresses: readonly string[],
  resolve: Lookup = systemLookup,
): Promise<readonly Endpoint[]> {
  const failures: string[] = [];
  const found = await Promise.all(
    addresses.map(async (address) => {
      const { host, port } = hostAndPort(address);
      if (isIP(host) !== 0) return [endpoint(host, port, host)];
      try {
        return (await resolve(host)).map((each) => endpoint(each.address, port, host));
      } catch (error) {
        failures.push(`${host}: ${error instanceof Error ? error.message : String(error)}`);
        return [];
      }
    }),
  );
  const endpoints = found.flat().slice(0, MAX_ENDPOINTS);
  if (endpoints.length > 0) return endpoints;
  throw new Error(failures.length > 0 ? failures.join('; ') : 'there is no address to dial');
}

function endpoint(ip: string, port: string, host: string): Endpoint {
  return { address: isIP(ip) === 6 ? `[${ip}]:${port}` : `${ip}:${port}`, host };
}

/** The parts of HOST:PORT or [IPV6]:PORT. */
function hostAndPort(address: string): { readonly host: string; readonly port: string } {
  const at = address.lastIndexOf(':');
  return { host: address.slice(0, at).replace(/^\[|\]$/g, ''), port: address.slice(at + 1) };
}
