// Which TLS files a command line or a configuration names, and which addresses need none. Apart from the credentials made
// of them, since those load gRPC, and a command that only asks a shard over HTTP should not.

import { isIP } from 'node:net';
import { BigFleetError } from '../model/index.ts';

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

/** Whether only this machine can be meant. A name other than localhost may resolve to anything. */
export function isLoopback(address: string): boolean {
  if (address.startsWith('unix:')) return true;
  const [, bracketed, plain] = /^(?:\[(.*)\]|([^:]*))(?::\d+)?$/.exec(address) ?? [];
  const host = bracketed ?? plain ?? address;
  return host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'));
}
