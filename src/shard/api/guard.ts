// Checks of a request that need nothing but its head. Browsers also run pages of other sites, and send certificates and
// cookies with the requests of those. Such requests are detected by headers that a page cannot forge: a page whose host
// name resolves to loopback (DNS rebinding) has that name in Host, and a page of another site is named in Origin and
// Sec-Fetch-Site. http-app.ts checks every request with it; access.ts checks who calls.

import type { IncomingMessage } from 'node:http';
import { TLSSocket } from 'node:tls';
import { isLoopback } from '../../wire/index.ts';
import { Refusal } from './refusal.ts';

/** open: for probes and the login, which have no identity. read: changes nothing. order: changes something. */
export type Access = 'open' | 'read' | 'order';

/** Refuses cross-site requests of browsers. `onLoopback`: Host must be a loopback name, as all legitimate clients send. */
export function checkOrigin(request: IncomingMessage, onLoopback: boolean): void {
  const { headers, method } = request;
  if (onLoopback && !isLoopback(headers.host ?? ''))
    throw new Refusal(403, 'Ask by a loopback address or localhost.');
  const { origin } = headers;
  if (origin !== undefined && !isOwn(origin, request))
    throw new Refusal(403, 'Pages of other sites may not ask.');
  const site = headers['sec-fetch-site'];
  if (site === undefined || site === 'same-origin' || site === 'none') return;
  // A link on another site may lead here: the browser then shows the answer, and the other page cannot read it.
  if (method === 'GET' && headers['sec-fetch-mode'] === 'navigate') return;
  throw new Refusal(403, 'Pages of other sites may not ask.');
}

/** For a request that a browser authenticates by itself: the browser must say that a page of this site sends it. */
export function checkSameOrigin(request: IncomingMessage): void {
  const { headers } = request;
  if (headers['sec-fetch-site'] === 'same-origin') return;
  if (headers.origin !== undefined && isOwn(headers.origin, request)) return;
  throw new Refusal(
    403,
    'A login is only for pages of this site; programs send "authorization: Bearer TOKEN".',
  );
}

function isOwn(origin: string, { headers, socket }: IncomingMessage): boolean {
  const own = `${socket instanceof TLSSocket ? 'https' : 'http'}://${headers.host ?? ''}`;
  return origin.toLowerCase() === own.toLowerCase();
}

/** Requires JSON: HTML forms cannot send this type, and a script of another site needs a CORS preflight for it (CSRF). */
export function checkJson({ headers }: IncomingMessage): void {
  const [type] = (headers['content-type'] ?? '').split(';');
  if (type!.trim().toLowerCase() === 'application/json') return;
  throw new Refusal(415, 'Send a JSON object with "content-type: application/json".');
}
