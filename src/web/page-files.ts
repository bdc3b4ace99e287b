// The files of the dashboard by path: the page, its style, its scripts, and the modules of the three libraries that it
// uses. In a checkout the scripts are TypeScript and their types are stripped here; the published package has them
// built. Nothing is loaded from other hosts. page-server.ts answers requests with them.

import { existsSync, readFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { posix } from 'node:path';

export interface PageFile {
  readonly type: string;
  readonly body: string;
}

export interface PageOptions {
  /** The page belongs to a demo, which has `/up/stories`; other shards do not, and a request for it would fail. */
  readonly isDemo?: boolean;
}

/**
 * Modules of libraries by the name that scripts import, with their files below node_modules. Browsers resolve no such
 * names, and an import map would be an inline script, so the names are replaced by paths when a file is read.
 */
const VENDOR: Readonly<Record<string, string>> = {
  preact: 'preact/dist/preact.mjs',
  'preact/hooks': 'preact/hooks/dist/hooks.mjs',
  htm: 'htm/dist/htm.mjs',
  'htm/preact': 'htm/preact/index.mjs',
  uplot: 'uplot/dist/uPlot.esm.js',
};

const TYPES = {
  html: 'text/html; charset=utf-8',
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml',
  script: 'text/javascript; charset=utf-8',
};

const isSource = import.meta.url.endsWith('.ts');

/** Every file of the page by its path. */
export function pageFiles({ isDemo = false }: PageOptions = {}): ReadonlyMap<string, PageFile> {
  const scripts = new Map<string, PageFile>();
  addScript('page/main', scripts);
  for (const [name, file] of Object.entries(VENDOR))
    scripts.set(vendorPath(name), { type: TYPES.script, body: withPaths(vendorText(file)) });
  return new Map<string, PageFile>([
    ['/', { type: TYPES.html, body: pageHtml([...scripts.keys()], isDemo) }],
    ['/assets/page/page.css', { type: TYPES.css, body: textOf('page/page.css') }],
    ['/assets/vendor/uplot.css', { type: TYPES.css, body: vendorText('uplot/dist/uPlot.min.css') }],
    ['/assets/page/icon.svg', { type: TYPES.svg, body: textOf('page/icon.svg') }],
    ...scripts,
  ]);
}

/** The page names its modules, so that the browser requests all of them at once and not level by level. */
function pageHtml(scripts: readonly string[], isDemo: boolean): string {
  const links = scripts.map((path) => `<link rel="modulepreload" href="${path}" />`).join('\n    ');
  const html = textOf('page/index.html').replace('<!-- modules -->', links);
  return isDemo ? html.replace('<html ', '<html data-demo ') : html;
}

/** Adds a script and those that it imports. */
function addScript(name: string, scripts: Map<string, PageFile>): void {
  const path = `/assets/${name}.js`;
  if (scripts.has(path)) return;
  const body = withPaths(scriptOf(name));
  scripts.set(path, { type: TYPES.script, body });
  for (const [, imported] of body.matchAll(/\bfrom '(\.[^']+)\.js'/g))
    addScript(posix.join(posix.dirname(name), imported!), scripts);
}

function withPaths(script: string): string {
  return script.replaceAll(/\b(from\s*)(["'])([a-z/]+)\2/g, (found, from: string, _, name: string) =>
    name in VENDOR ? `${from}'${vendorPath(name)}'` : found,
  );
}

function vendorPath(name: string): string {
  return `/assets/vendor/${name.replace('/', '-')}.js`;
}

/** Reads a file of a library from the nearest node_modules that has it: npm may have hoisted it. */
function vendorText(file: string): string {
  let folder = new URL('.', import.meta.url);
  for (;;) {
    const place = new URL(`node_modules/${file}`, folder);
    // The maps of the sources are not served.
    if (existsSync(place))
      return readFileSync(place, 'utf8').replace(/\n\/\/# sourceMappingURL=\S+\s*$/, '\n');
    const parent = new URL('..', folder);
    if (parent.href === folder.href) throw new Error(`The package of ${file} is not installed.`);
    folder = parent;
  }
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
