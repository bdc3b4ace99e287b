// TLS files named by a command line or configuration, and the addresses that need none. Separate from credentials.ts, which
// loads gRPC: a command that only calls a shard over HTTP should not load it.

import { isIP } from 'node:net';
import { BigFleetError } from '../../model/index.ts';

/** Paths of the certificate, its key and the authority both ends trust. */
export interface TlsFiles {
  readonly cert: string;
  readonly key: string;
  readonly ca: string;
}

/** The TLS trio of a command line: all three or none. */
export function tlsFiles(given: Partial<Record<keyof TlsFiles, string | undefined>>): TlsFiles | null {
  const { cert, key, ca } = given;
  if (cert !== undefined && key !== undefined && ca !== undefined) return { cert, key, ca };
  if (cert === undefined && key === undefined && ca === undefined) return null;
  const missing = Object.entries({ cert, key, ca }).filter(([, path]) => path === undefined);
  const detail = `Missing: ${missing.map(([name]) => `--tls-${name}`).join(', ')}.`;
  throw new BigFleetError('BF_TLS_PARTIAL', detail);
}

/** Whether an address is loopback for certain. A name other than localhost may resolve to any address. */
export function isLoopback(address: string): boolean {
  if (address.startsWith('unix:')) return true;
  const [, bracketed, plain] = /^(?:\[(.*)\]|([^:]*))(?::\d+)?$/.exec(address) ?? [];
  const host = bracketed ?? plain ?? address;
  return host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'));
}
