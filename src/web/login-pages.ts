// The page with which a browser logs in: a form that sends a token to `POST /v1/login`. A shard answers with it where a
// caller without an identity opens any page, so its files are the only ones that are served to everyone. Given to the
// shard by cli/commands.ts.

import type { IncomingMessage, ServerResponse } from 'node:http';
import { type PageFile, scriptOf, textOf } from './page-files.ts';

/** As strict as that of the other pages; nothing is sent to another host. */
const LOGIN_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; " +
  "base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

interface LoginFiles {
  readonly page: PageFile;
  /** Files of the page by path. */
  readonly parts: ReadonlyMap<string, PageFile>;
}

/** Answers a GET request; false: it is neither for a file of the login page nor for a page. */
export function loginPages(): (request: IncomingMessage, response: ServerResponse) => boolean {
  let files: LoginFiles | undefined;
  return ({ url = '', headers }, response) => {
    // Most shards are never asked by a browser.
    files ??= readFiles();
    const part = files.parts.get(url.split('?', 1)[0]!);
    if (part === undefined && !(headers.accept ?? '').includes('text/html')) return false;
    const { type, body } = part ?? files.page;
    // The page is shown in place of the one that was asked for, whose address stays in the address bar.
    response.writeHead(part === undefined ? 401 : 200, {
      'content-type': type,
      'content-security-policy': LOGIN_POLICY,
      'referrer-policy': 'no-referrer',
      ...(part === undefined ? { 'www-authenticate': 'Bearer realm="bigfleet"' } : {}),
    });
    response.end(body);
    return true;
  };
}

function readFiles(): LoginFiles {
  return {
    page: { type: 'text/html; charset=utf-8', body: textOf('login/index.html') },
    parts: new Map([
      ['/login/login.css', { type: 'text/css; charset=utf-8', body: textOf('login/login.css') }],
      ['/login/login.js', { type: 'text/javascript; charset=utf-8', body: scriptOf('login/login') }],
      ['/login/icon.svg', { type: 'image/svg+xml', body: textOf('page/icon.svg') }],
    ]),
  };
}
