// Answers requests for the files of the dashboard: compressed, with an entity tag, and under a policy that allows no
// other host. Files are read on the first request, so that a shard whose page is never opened does not pay for it. Used
// by `bigfleet shard` (cli/commands.ts) and `bigfleet up` (cli/up/up.ts).

import { createHash } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { promisify } from 'node:util';
import { brotliCompress, gzip, constants as zlib } from 'node:zlib';
import { type PageFile, type PageOptions, pageFiles } from './page-files.ts';

/** Scripts and styles come from the server of the page and are never inline; nothing may frame the page. */
export const PAGE_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; " +
  "base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/** By the name in Accept-Encoding, best first; each compresses on a thread of the pool. */
const ENCODERS = {
  br: (body: string) => promisify(brotliCompress)(body, { params: { [zlib.BROTLI_PARAM_QUALITY]: 9 } }),
  gzip: (body: string) => promisify(gzip)(body),
  identity: async (body: string) => Buffer.from(body),
} as const;

type Encoding = keyof typeof ENCODERS;

interface Encoded {
  readonly body: Buffer;
  readonly tag: string;
}

/** False: the request is for no file of the page. */
export type PageServer = (request: IncomingMessage, response: ServerResponse) => Promise<boolean>;

export function pageServer(options: PageOptions = {}): PageServer {
  let files: ReadonlyMap<string, PageFile> | undefined;
  const bodies = new Map<string, Promise<Encoded>>();
  const encoded = (path: string, { body }: PageFile, encoding: Encoding): Promise<Encoded> => {
    const key = `${encoding} ${path}`;
    let made = bodies.get(key);
    if (made === undefined) {
      made = ENCODERS[encoding](body).then((bytes) => ({ body: bytes, tag: tagOf(bytes) }));
      bodies.set(key, made);
    }
    return made;
  };
  return async ({ method, url = '', headers }, response) => {
    if (method !== 'GET') return false;
    files ??= pageFiles(options);
    const path = url.split('?', 1)[0]!;
    const file = files.get(path);
    if (file === undefined) return false;
    const encoding = encodingFor(String(headers['accept-encoding'] ?? ''));
    const { body, tag } = await encoded(path, file, encoding);
    response.setHeader('cache-control', 'no-cache');
    response.setHeader('etag', tag);
    response.setHeader('vary', 'accept-encoding');
    if (headers['if-none-match'] === tag) {
      response.writeHead(304).end();
      return true;
    }
    response.writeHead(200, {
      'content-type': file.type,
      'content-length': body.length,
      ...(encoding === 'identity' ? {} : { 'content-encoding': encoding }),
      'content-security-policy': PAGE_POLICY,
      'referrer-policy': 'no-referrer',
      'x-content-type-options': 'nosniff',
    });
    response.end(body);
    return true;
  };
}

function encodingFor(accepted: string): Encoding {
  const names = accepted
    .split(',')
    .map((part) => part.trim().split(';'))
    .filter(([, ...parameters]) => !parameters.some((parameter) => /^\s*q=0(\.0*)?\s*$/.test(parameter)))
    .map(([name]) => name);
  if (names.includes('br')) return 'br';
  return names.includes('gzip') ? 'gzip' : 'identity';
}

function tagOf(body: Buffer): string {
  return `"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"`;
}
