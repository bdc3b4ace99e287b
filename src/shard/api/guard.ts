// Access control of the API. Without TLS every client that reaches the port may do everything, so it listens on
// loopback by default; but browsers on the same machine reach it too, and they run pages of other sites. Those are
// detected by headers that a page cannot forge: a page whose host name resolves to loopback (DNS rebinding) has that
// name in Host, and a page of another site is named in Origin. http-app.ts checks every request with it.

import type { IncomingMessage } from 'node:http';
import { TLSSocket } from 'node:tls';
import { type Identity, identityOf, isLoopback } from '../../wire/index.ts';
import { Refusal } from './refusal.ts';

/** open: for probes, which have no certificate. order: changes something. */
export type Access = 'open' | 'read' | 'order';

/** Refuses cross-site requests of browsers. `onLoopback`: Host must be a loopback name, as all legitimate clients send. */
export function checkOrigin({ headers, socket }: IncomingMessage, onLoopback: boolean): void {
  const { host = '', origin } = headers;
  if (onLoopback && !isLoopback(host)) throw new Refusal(403, 'Ask by a loopback address or localhost.');
  const own = `${socket instanceof TLSSocket ? 'https' : 'http'}://${host}`;
  if (origin !== undefined && origin.toLowerCase() !== own.toLowerCase()) {
    throw new Refusal(403, 'Pages of other sites may not ask.');
  }
}

/** Requires JSON: HTML forms cannot send this type, and a script of another site needs a CORS preflight for it (CSRF). */
export function checkJson({ headers }: IncomingMessage): void {
  const [type] = (headers['content-type'] ?? '').split(';');
  if (type!.trim().toLowerCase() === 'application/json') return;
  throw new Refusal(415, 'Send a JSON object with "content-type: application/json".');
}

/** Over TLS, `readonly` and `admin` identities may read, and `admin` may order. Without TLS there are no identities. */
export function checkIdentity({ socket }: IncomingMessage, access: Access): void {
  if (!(socket instanceof TLSSocket) || access === 'open') return;
  if (!socket.authorized) throw new Refusal(403, 'Present a certificate of the authority of this fleet.');
  const { kind } = identityOn(socket);
  if (kind === 'admin' || (kind === 'readonly' && access === 'read')) return;
  const who = access === 'read' ? 'bigfleet://admin or bigfleet://readonly' : 'bigfleet://admin';
  throw new Refusal(403, `The certificate is that of a ${kind}; this is for ${who}.`);
}

function identityOn(socket: TLSSocket): Identity {
  try {
    return identityOf({ getAuthContext: () => ({ sslPeerCertificate: socket.getPeerCertificate() }) });
  } catch (error) {
    throw new Refusal(403, (error as Error).message);
  }
}
