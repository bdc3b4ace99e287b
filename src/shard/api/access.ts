// Who calls the API, and what that caller may do. A caller is known by a client certificate, a token, or the login of a
// browser. Off loopback, and wherever TLS is served, only known callers are answered; in plaintext on loopback every
// user of the machine may do everything. Made by serve.ts, asked by http-app.ts for every request.

import type { IncomingMessage, ServerResponse } from 'node:http';
import { TLSSocket } from 'node:tls';
import type { Clock } from '../../runtime/clock.ts';
import type { Log } from '../../runtime/logger.ts';
import { type Identity, identityOf } from '../../wire/index.ts';
import { type Access, checkSameOrigin } from './guard.ts';
import { LoginSessions, SESSION_SECONDS } from './login-sessions.ts';
import { Refusal } from './refusal.ts';
import type { Role, TokenEntry, TokenFile } from './token-file.ts';

export interface Caller {
  /** Recorded as the author of orders. */
  readonly name: string;
  readonly role: Role;
  readonly by: 'certificate' | 'token' | 'login';
}

export interface ApiAccessParts {
  /** Whether every request needs an identity, except probes and the login. */
  readonly isRequired: boolean;
  /** null: there are no tokens. */
  readonly tokens: TokenFile | null;
  readonly clock: Clock;
  readonly log: Log;
}

/** Interval at which the file with tokens, and the callers of streams, are checked. */
const WATCH_MS = 5_000;

/** Longer texts are no token of ours. */
const MAX_TOKEN = 4_096;

export class ApiAccess {
  readonly #isRequired: boolean;
  readonly #tokens: TokenFile | null;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #sessions: LoginSessions;
  /** Answers that go on for as long as the reader stays. */
  readonly #streams = new Set<ServerResponse>();
  #stopTimer = () => {};

  constructor({ isRequired, tokens, clock, log }: ApiAccessParts) {
    this.#isRequired = isRequired;
    this.#tokens = tokens;
    this.#clock = clock;
    this.#log = log;
    this.#sessions = new LoginSessions(clock);
  }

  /** Begins to check the file with tokens, and the callers of streams, every few seconds. */
  start(): void {
    this.#stopTimer = this.#clock.after(WATCH_MS, () => {
      this.#tokens?.refresh();
      for (const stream of this.#streams) if (!this.#mayRead(stream.req)) stream.destroy();
      this.start();
    });
  }

  stop(): void {
    this.#stopTimer();
  }

  /** Refuses a caller without the right; null: an unknown caller, who may do everything here. */
  check(request: IncomingMessage, access: Access): Caller | null {
    if (access === 'open') return null;
    const caller = this.#callerOf(request);
    if (caller === null) {
      if (this.#isRequired) throw unauthenticated(this.#requestText(request));
      return null;
    }
    if (caller.by === 'login' && request.method !== 'GET') checkSameOrigin(request);
    if (access === 'read' || caller.role === 'operate') return caller;
    const by =
      caller.by === 'certificate' ? 'The certificate is that of a readonly' : `${caller.name} may view`;
    throw new Refusal(403, `${by}; this is for bigfleet://admin and tokens with the role operate.`);
  }

  /** Ends the stream when its caller is no longer entitled to read, such as when its token is removed. */
  watch(stream: ServerResponse): void {
    if (stream.destroyed || stream.writableFinished) return;
    this.#streams.add(stream);
    stream.on('close', () => this.#streams.delete(stream));
  }

  /** Exchanges a token for a cookie, which is set on the response. */
  login(token: string, response: ServerResponse): Caller {
    if (this.#tokens === null)
      throw unauthenticated('This shard has no apiTokensFile, so no token is valid.');
    const from = response.req.socket.remoteAddress;
    const entry = this.#tokens.entryFor(token);
    if (entry === null) {
      this.#log('warn', 'api-login-refused', { from });
      throw invalidToken();
    }
    this.#log('info', 'api-login', { who: entry.name, role: entry.role, from });
    setCookie(response, this.#sessions.start(entry.digest), SESSION_SECONDS);
    return callerWith(entry, 'login');
  }

  logout(response: ServerResponse): void {
    for (const id of sessionIds(response.req)) this.#sessions.end(id);
    setCookie(response, '', 0);
  }

  #mayRead(request: IncomingMessage): boolean {
    try {
      this.check(request, 'read');
      return true;
    } catch {
      return false;
    }
  }

  /** A token that is sent counts alone; otherwise a login, and then a certificate. */
  #callerOf(request: IncomingMessage): Caller | null {
    const { authorization } = request.headers;
    if (authorization !== undefined) return this.#bearerOf(authorization);
    for (const id of sessionIds(request)) {
      const digest = this.#sessions.digestOf(id);
      const entry = digest === null ? null : (this.#tokens?.entryWith(digest) ?? null);
      if (entry !== null) return callerWith(entry, 'login');
    }
    return certifiedCaller(request);
  }

  #bearerOf(authorization: string): Caller {
    const [, token] = /^Bearer +(\S+) *$/i.exec(authorization) ?? [];
    if (token === undefined || token.length > MAX_TOKEN) throw invalidToken();
    const entry = this.#tokens?.entryFor(token) ?? null;
    if (entry === null) throw invalidToken();
    return callerWith(entry, 'token');
  }

  /** What an unknown caller can do about it. */
  #requestText({ socket }: IncomingMessage): string {
    const certificate =
      socket instanceof TLSSocket ? 'Present a certificate of the authority of this fleet' : '';
    const token = this.#tokens === null ? '' : 'send "authorization: Bearer TOKEN"';
    const text = [certificate, token].filter((part) => part !== '').join(', or ');
    return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
  }
}

function callerWith({ name, role }: TokenEntry, by: 'token' | 'login'): Caller {
  return { name, role, by };
}

/** null: there is no certificate, or not one of this fleet. */
function certifiedCaller({ socket }: IncomingMessage): Caller | null {
  if (!(socket instanceof TLSSocket) || !socket.authorized) return null;
  const certificate = socket.getPeerCertificate();
  const { kind } = certifiedIdentity(certificate);
  if (kind !== 'admin' && kind !== 'readonly')
    throw new Refusal(
      403,
      `The certificate is that of a ${kind}; this is for bigfleet://admin and bigfleet://readonly.`,
    );
  // Common names of persons are issued by the authority. A certificate may lack one, or have several.
  const name: unknown = certificate.subject?.CN;
  return {
    name: typeof name === 'string' && name.trim() !== '' ? name : `bigfleet://${kind}`,
    role: kind === 'admin' ? 'operate' : 'view',
    by: 'certificate',
  };
}

function certifiedIdentity(certificate: ReturnType<TLSSocket['getPeerCertificate']>): Identity {
  try {
    return identityOf({ getAuthContext: () => ({ sslPeerCertificate: certificate }) });
  } catch (error) {
    throw new Refusal(403, (error as Error).message);
  }
}

function unauthenticated(message: string, parameters = ''): Refusal {
  return new Refusal(401, message, { 'www-authenticate': `Bearer realm="bigfleet"${parameters}` });
}

function invalidToken(): Refusal {
  return unauthenticated('The token is not valid.', ', error="invalid_token"');
}

/**
 * Cookies are for a host and not for a port, so shards on one host have names of their own. Over TLS the prefix makes the
 * browser insist on Secure, this host and the whole path.
 */
function cookieName({ socket }: IncomingMessage): string {
  const isSecure = socket instanceof TLSSocket;
  return `${isSecure ? '__Host-' : ''}bigfleet-${socket.localPort}`;
}

function setCookie(response: ServerResponse, value: string, maxAgeSeconds: number): void {
  const secure = response.req.socket instanceof TLSSocket ? '; Secure' : '';
  const scope = `Path=/; Max-Age=${maxAgeSeconds}; HttpOnly; SameSite=Strict${secure}`;
  response.setHeader('set-cookie', `${cookieName(response.req)}=${value}; ${scope}`);
}

function sessionIds(request: IncomingMessage): readonly string[] {
  const prefix = `${cookieName(request)}=`;
  const cookies = (request.headers.cookie ?? '').split(/; */);
  return cookies.filter((cookie) => cookie.startsWith(prefix)).map((cookie) => cookie.slice(prefix.length));
}
