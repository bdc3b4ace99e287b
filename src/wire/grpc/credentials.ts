// Authentication: mutual TLS 1.3 with one certificate per process, which carries the identity. The certificate of a
// running process may be replaced on disk at any time; servers check for a new one every few seconds and clients at
// each connection. Plaintext has no identities, so it is limited to loopback unless `insecure` is set. Used by every
// gRPC server and client here, and by the HTTP API (api/serve.ts).

import { readFileSync, statSync } from 'node:fs';
import { isIP } from 'node:net';
import { createSecureContext, type SecureContextOptions } from 'node:tls';
import {
  ChannelCredentials,
  type experimental,
  ServerCredentials,
  type ServerUnaryCall,
  status,
} from '@grpc/grpc-js';
import { BigFleetError, excerpt } from '../../model/index.ts';
import { RpcError } from './service.ts';
import { isLoopback, type TlsFiles } from './tls-files.ts';

/** Mutual TLS by the files of a certificate, or plaintext. */
export interface SecurityOptions {
  /** null: plaintext. */
  readonly tls: TlsFiles | null;
  /** Allows plaintext on addresses other than loopback. Every client that reaches the port then has full access. */
  readonly insecure?: boolean;
}

/** How often a server checks for a new certificate: negligible cost, and soon enough for a rotation. */
const WATCH_INTERVAL_MS = 5000;
const MIN_VERSION = 'TLSv1.3';

export function serverCredentials(address: string, options: SecurityOptions): ServerCredentials {
  if (options.tls !== null) return new TlsServerCredentials(new KeyPair(options.tls));
  checkPlaintext(address, options);
  return ServerCredentials.createInsecure();
}

export function clientCredentials(address: string, options: SecurityOptions): ChannelCredentials {
  if (options.tls !== null) return new TlsChannelCredentials(new KeyPair(options.tls));
  checkPlaintext(address, options);
  return ChannelCredentials.createInsecure();
}

function checkPlaintext(address: string, { insecure }: SecurityOptions): void {
  if (insecure === true || isLoopback(address)) return;
  throw new BigFleetError('BF_PLAINTEXT_REFUSED', `${address} is not a loopback address.`);
}

/** The certificate and key of this process as they are on disk now; the authority is read once. */
export class KeyPair {
  readonly #files: TlsFiles;
  readonly #ca: Buffer;
  #stamp: string;
  #context: SecureContextOptions;

  constructor(files: TlsFiles) {
    this.#files = files;
    try {
      this.#ca = readFileSync(files.ca);
      this.#stamp = this.#readStamp();
      this.#context = this.#read();
    } catch (cause) {
      throw new BigFleetError('BF_TLS_UNREADABLE', `${(cause as Error).message}.`, { cause });
    }
  }

  get context(): SecureContextOptions {
    return this.#context;
  }

  /** Reloads the pair if a file changed. If it cannot be read or does not match, the old pair stays in use. */
  refresh(): boolean {
    try {
      const stamp = this.#readStamp();
      if (stamp === this.#stamp) return false;
      this.#context = this.#read();
      this.#stamp = stamp;
      return true;
    } catch {
      // Partially written or replaced: retried at the next refresh.
      return false;
    }
  }

  #readStamp(): string {
    return [this.#files.cert, this.#files.key].map((path) => statSync(path).mtimeMs).join(' ');
  }

  #read(): SecureContextOptions {
    const { cert, key } = this.#files;
    const context = {
      cert: readFileSync(cert),
      key: readFileSync(key),
      ca: this.#ca,
      minVersion: MIN_VERSION,
    } as const;
    // Throws if key and certificate do not belong together.
    createSecureContext(context);
    return context;
  }
}

class TlsServerCredentials extends ServerCredentials {
  readonly #pair: KeyPair;
  #timer: NodeJS.Timeout | undefined;

  constructor(pair: KeyPair) {
    const demands = { requestCert: true, rejectUnauthorized: true, minVersion: MIN_VERSION } as const;
    super(demands, pair.context);
    this.#pair = pair;
  }

  override _addWatcher(watcher: Parameters<ServerCredentials['_addWatcher']>[0]): void {
    super._addWatcher(watcher);
    this.#timer ??= setInterval(() => {
      if (this.#pair.refresh()) this.updateSecureContextOptions(this.#pair.context);
    }, WATCH_INTERVAL_MS).unref();
  }

  override _removeWatcher(watcher: Parameters<ServerCredentials['_removeWatcher']>[0]): void {
    super._removeWatcher(watcher);
    if (this.getWatcherCount() > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  override _equals(other: ServerCredentials): boolean {
    return this === other;
  }
}

class TlsChannelCredentials extends ChannelCredentials {
  readonly #pair: KeyPair;

  constructor(pair: KeyPair) {
    super();
    this.#pair = pair;
  }

  override _isSecure(): boolean {
    return true;
  }

  override _equals(other: ChannelCredentials): boolean {
    return this === other;
  }

  override _createSecureConnector(
    ...target: Parameters<ChannelCredentials['_createSecureConnector']>
  ): experimental.SecureConnector {
    const connector = () => {
      this.#pair.refresh();
      const context = createSecureContext(this.#pair.context);
      return unnamed(ChannelCredentials.createFromSecureContext(context)._createSecureConnector(...target));
    };
    const first = connector();
    return {
      connect: (socket) => connector().connect(socket),
      waitForReady: () => first.waitForReady(),
      getCallCredentials: () => first.getCallCredentials(),
      destroy: () => first.destroy(),
    };
  }
}

/**
 * Removes the server name if it is an IP address: SNI does not allow addresses, and Node warns about each on standard
 * error. The peer is then verified against `host`. grpc-js has no option for this, so its internal options are edited.
 */
function unnamed(connector: experimental.SecureConnector): experimental.SecureConnector {
  const { connectionOptions: options } = connector as { connectionOptions?: { servername?: string } };
  if (options?.servername !== undefined && isIP(options.servername) !== 0) delete options.servername;
  return connector;
}

/** The identity in a caller's certificate. */
export type Identity =
  | { readonly kind: 'cluster' | 'shard'; readonly id: string }
  | { readonly kind: 'admin' | 'readonly' };

/** The identity of a caller over TLS. Throws PERMISSION_DENIED if it has none, or more than one. */
export function identityOf(call: Pick<ServerUnaryCall<unknown, unknown>, 'getAuthContext'>): Identity {
  const names = call.getAuthContext().sslPeerCertificate?.subjectaltname ?? '';
  const uris = uriNames(names).filter((uri) => /^bigfleet:/i.test(uri));
  const identity = uris.length === 1 ? parseIdentity(uris[0]!) : null;
  if (identity !== null) return identity;
  throw denied(`The certificate names ${uris.length === 0 ? 'no one' : excerpt(uris.join(' and '))}.`);
}

/** Parses an identity URI; null if it is not one. */
export function parseIdentity(uri: string): Identity | null {
  const [, bound, id, plain] =
    /^bigfleet:\/\/(?:(cluster|shard)\/([^/?#]+)|(admin|readonly))$/.exec(uri) ?? [];
  if (plain !== undefined) return { kind: plain as 'admin' | 'readonly' };
  if (bound === undefined || id === undefined) return null;
  try {
    return { kind: bound as 'cluster' | 'shard', id: decodeURIComponent(id) };
  } catch {
    return null;
  }
}

/** The URIs in Node's text of the alternative names: `DNS:a, URI:b, URI:"c, with JSON escapes"`. */
function uriNames(names: string): string[] {
  const uris: string[] = [];
  for (const [, kind, quoted, plain] of names.matchAll(/(?:^|, )([^:]+):(?:("(?:[^"\\]|\\.)*")|([^,]*))/g)) {
    if (kind === 'URI') uris.push(quoted === undefined ? plain! : (JSON.parse(quoted) as string));
  }
  return uris;
}

export function denied(detail: string): RpcError {
  return new RpcError(status.PERMISSION_DENIED, new BigFleetError('BF_IDENTITY_DENIED', detail).message);
}
