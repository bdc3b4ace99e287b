// Two peers that disagree on TLS fail with an OpenSSL message, or only with a closed connection. This finds out which
// side expects TLS and names the flag to set. Used by the provider client, the conformance suite and commands that call
// a shard.

import { connect } from 'node:tls';

export interface CalledEnd {
  /** `host:port`. */
  readonly address: string;
  /** The caller has the files of the three flags. */
  readonly hasFiles: boolean;
  /** The flag that takes the address as a URL, whose scheme says whether the caller speaks TLS; else the files say so. */
  readonly url?: { readonly flag: string; readonly isHttps: boolean };
}

const ALL_FLAGS = '--tls-ca, --tls-cert and --tls-key';

/** Timeout of the TLS probe of a peer that closed a plaintext connection. */
const PROBE_MS = 2000;

/** `why`: the text of the failed connection. null: it failed for another reason. */
export async function tlsAdvice(why: string, end: CalledEnd): Promise<string | null> {
  const { address, hasFiles, url } = end;
  const told = adviceIn(why, end);
  const isTls = url?.isHttps ?? hasFiles;
  if (told !== null || isTls || /ECONNREFUSED|ENOTFOUND|EAI_AGAIN|ETIMEDOUT/.test(why)) return told;
  if (!(await speaksTls(address))) return null;
  const wanted = [url === undefined ? '' : `https:// in ${url.flag}`, hasFiles ? '' : ALL_FLAGS];
  return `it speaks TLS: give ${wanted.filter((flag) => flag !== '').join(', and ')}`;
}

function adviceIn(why: string, { hasFiles, url }: CalledEnd): string | null {
  if (/wrong version number|packet length too long|http request/i.test(why)) {
    const plain = url === undefined ? '' : `give http:// in ${url.flag}`;
    const without = hasFiles ? `leave out ${ALL_FLAGS}` : '';
    return `it does not speak TLS: ${[plain, without].filter((part) => part !== '').join(' and ')}`;
  }
  if (/self-signed|unable to (verify|get)/i.test(why))
    return hasFiles
      ? 'its certificate is not signed by the authority in --tls-ca'
      : `its certificate is signed by the authority of its fleet: give ${ALL_FLAGS}`;
  if (/certificate required|alert (certificate|unknown ca|bad certificate)/i.test(why))
    return 'it refuses the certificate in --tls-cert, or asks for one: give one that its authority signed';
  if (/certificate has expired/i.test(why)) return 'its certificate has expired: issue another one';
  const [, names] = /does not match certificate's altnames: (.*)/i.exec(why) ?? [];
  if (names !== undefined)
    return `its certificate is for other names (${names}): call it by one of those, or issue one with --host for this one`;
  return null;
}

/** Whether the peer is a TLS server, with any certificate. Sends only the TLS handshake. */
function speaksTls(address: string): Promise<boolean> {
  const [, host = '', port = ''] = /^\[?(.*?)\]?:(\d+)$/.exec(address) ?? [];
  if (port === '') return Promise.resolve(false);
  return new Promise((resolve) => {
    const socket = connect({ host, port: Number(port), rejectUnauthorized: false });
    const end = (speaks: boolean): void => {
      socket.destroy();
      resolve(speaks);
    };
    socket.setTimeout(PROBE_MS, () => end(false));
    socket.once('secureConnect', () => end(true));
    // A server that requires a client certificate may answer with a TLS alert, which also proves that it speaks TLS.
    socket.once('error', (error) => end(/alert/i.test(error.message)));
    socket.once('close', () => end(false));
  });
}
