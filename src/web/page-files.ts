// Serves the files of the web page for `bigfleet up` (cli/up/up.ts). In a checkout the scripts are TypeScript and their
// types are stripped here; the published package has them built. Nothing is loaded from other hosts.

import { readFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { stripTypeScriptTypes } from 'node:module';

export interface PageFile {
  readonly type: string;
  readonly body: string;
}

/** Scripts and styles come from the server of the page and are never inline; nothing may frame the page. */
export const PAGE_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; " +
  "base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/** The modules of the page's script. feed.ts is missing: it has only types. */
const SCRIPTS = [
  'answer-text',
  'figures',
  'cost-text',
  'supply-text',
  'series',
  'plan-text',
  'loss-text',
  'sentences',
  'live',
  'tree',
  'history-view',
  'view',
  'page/dom',
  'page/main',
];

const isSource = import.meta.url.endsWith('.ts');

/** Every file of the page by its path. */
export function pageFiles(): ReadonlyMap<string, PageFile> {
  return new Map<string, PageFile>([
    ['/', { type: 'text/html; charset=utf-8', body: textOf('page/index.html') }],
    ['/assets/page/page.css', { type: 'text/css; charset=utf-8', body: textOf('page/page.css') }],
    ['/assets/page/icon.svg', { type: 'image/svg+xml', body: textOf('page/icon.svg') }],
    ...SCRIPTS.map((name): [string, PageFile] => [
      `/assets/${name}.js`,
      { type: 'text/javascript; charset=utf-8', body: scriptOf(name) },
    ]),
  ]);
}

/** Answers a request for a file of the page; false if it is for none. */
export function pageServer(): (request: IncomingMessage, response: ServerResponse) => boolean {
  const files = pageFiles();
  return ({ url = '' }, response) => {
    const file = files.get(url.split('?', 1)[0]!);
    if (file === undefined) return false;
    response.writeHead(200, {
      'content-type': file.type,
      'cache-control': 'no-cache',
      'content-security-policy': PAGE_POLICY,
      'referrer-policy': 'no-referrer',
      'x-content-type-options': 'nosniff',
    });
    response.end(file.body);
    return true;
  };
}

export function textOf(name: string): string {
  return readFileSync(new URL(name, import.meta.url), 'utf8');
}

export function scriptOf(name: string): string {
  if (!isSource) return textOf(`${name}.js`);
  const script = withoutWarnings(() => stripTypeScriptTypes(textOf(`${name}.ts`)));
  return script.replace(/(from '\.[^']*)\.ts'/g, "$1.js'");
}

/** Suppresses Node's ExperimentalWarning, which would be printed into the live view. */
function withoutWarnings<T>(work: () => T): T {
  const emitWarning = Reflect.get(process, 'emitWarning') as typeof process.emitWarning;
  process.emitWarning = () => {};
  try {
    return work();
  } finally {
    process.emitWarning = emitWarning;
  }
}
