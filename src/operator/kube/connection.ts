// How to reach one API server and as whom: the result of reading a kubeconfig (kubeconfig.ts) or the service account of a
// pod (in-cluster.ts), used by http-client.ts. Files may be replaced at any time, so everything here is read again when
// its file changes.

import { readFileSync, type Stats, statSync } from 'node:fs';

/** What a request presents to the API server. Absent fields are not sent. */
export interface Credentials {
  readonly token?: string;
  /** Client certificate and its key, both as PEM. */
  readonly certificate?: string;
  readonly key?: string;
}

export interface CredentialSource {
  /** Called before each request, so it must be cheap while nothing changed. */
  current(): Credentials | Promise<Credentials>;
  /** The API server answered 401 to these credentials: what is cached is not returned again. */
  refused(): void;
  /** Where they come from, for messages: 'the token in /var/run/…'. */
  readonly origin: string;
}

/** Text from a file that is read again when it changes, or fixed text. */
export interface TextSource {
  read(): string;
}

export interface KubeConnection {
  /** https://host:port, with a path if the API is below one. Plain http is for tests on loopback. */
  readonly server: string;
  /** Name that the certificate of the API server must have; null: the host of `server`. */
  readonly serverName: string | null;
  /** Authorities that sign the certificate of the API server, as PEM; null: those of the system. */
  readonly ca: TextSource | null;
  readonly skipTlsVerify: boolean;
  readonly credentials: CredentialSource;
  /** Default namespace of the context. */
  readonly namespace: string;
  /** For messages: 'context prod of /home/me/.kube/config'. */
  readonly origin: string;
}

export function fixedText(text: string): TextSource {
  return { read: () => text };
}

/**
 * The content of a small file. While the file cannot be read, or is empty because it is being replaced, the last good
 * content stays in use; `read` throws only if there has never been any.
 */
export class WatchedFile implements TextSource {
  readonly #path: string;
  #stamp = '';
  #text: string | null = null;

  constructor(path: string) {
    this.#path = path;
  }

  read(): string {
    try {
      const stamp = stampOf(statSync(this.#path));
      if (stamp !== this.#stamp || this.#text === null) {
        const text = readFileSync(this.#path, 'utf8');
        if (text.trim() === '') throw new Error(`${this.#path} is empty`);
        // A file that changed between the two calls has a newer stamp and is read again next time.
        this.#text = text;
        this.#stamp = stamp;
      }
    } catch (error) {
      if (this.#text === null) throw error;
    }
    return this.#text;
  }

  /** Reads the file at the next call even if its stamp is unchanged. */
  forget(): void {
    this.#stamp = '';
  }
}

/** The inode is part of it, because mounted secrets are replaced by renaming and may keep time and size. */
function stampOf({ mtimeMs, ino, size }: Stats): string {
  return `${mtimeMs} ${ino} ${size}`;
}

/** A bearer token from a file, as service accounts have: the kubelet replaces it before it expires. */
export function tokenFileCredentials(path: string): CredentialSource {
  const file = new WatchedFile(path);
  return {
    current: () => ({ token: file.read().trim() }),
    refused: () => file.forget(),
    origin: `the token in ${path}`,
  };
}

export function staticCredentials(credentials: Credentials, origin: string): CredentialSource {
  return { current: () => credentials, refused: () => {}, origin };
}

/** A client certificate and its key, which are replaced together; a pair that is half replaced fails one handshake. */
export function certificateCredentials(
  certificate: TextSource,
  key: TextSource,
  origin: string,
): CredentialSource {
  let last: Credentials = {};
  return {
    current: () => {
      const next = { certificate: certificate.read(), key: key.read() };
      // The same object while nothing changed, so that comparing two results is cheap.
      if (next.certificate !== last.certificate || next.key !== last.key) last = next;
      return last;
    },
    refused: () => {},
    origin,
  };
}
