import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { posix } from 'node:path';
import { brotliCompressSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PAGE_POLICY, pageFiles, pageServer } from './index.ts';

/** Bound on the whole page, compressed. */
const MAX_BYTES = 300_000;

describe('the files of the page', () => {
  const files = pageFiles();
  const page = files.get('/')!.body;
  const own = [...files].filter(([path]) => !path.startsWith('/assets/vendor/'));

  it('given references between files, then all of them exist', () => {
    const named = [...page.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, path]) => path!);
    const imported = [...files].flatMap(([path, { body }]) =>
      [...body.matchAll(/\bfrom\s*'([^']+)'/g)].map(([, to]) =>
        to!.startsWith('.') ? posix.join(posix.dirname(path), to!) : to!,
      ),
    );
    expect(imported).toContain('/assets/sentences.js');
    expect(imported).toContain('/assets/vendor/uplot.js');
    expect([...named, ...imported].filter((path) => !files.has(path))).toEqual([]);
  });

  it('given the scripts, then the page names each, so that they are requested at once', () => {
    const scripts = [...files.keys()].filter((path) => path.endsWith('.js'));
    const named = [...page.matchAll(/rel="modulepreload" href="([^"]+)"/g)].map(([, path]) => path);
    expect(new Set(named)).toEqual(new Set(scripts));
    expect(named).toHaveLength(scripts.length);
  });

  it('given the files, then none has inline scripts or styles, or loads anything from elsewhere', () => {
    expect(page).not.toMatch(/<script[^>]*>[^<]|<style|style=|\son\w+=/);
    for (const [path, { body }] of own)
      expect(body.replaceAll('http://www.w3.org/2000/svg', ''), path).not.toMatch(/https?:\/\//);
    for (const [path, { body }] of files) expect(body, path).not.toMatch(/\bimport\s*\(|\beval\(|url\(/);
  });

  it('given the scripts, then they have no types', () => {
    expect(files.get('/assets/sentences.js')!.body).not.toMatch(/\binterface\b|import type|: string\b/);
  });

  it('given all files, then they are below 300 kB compressed', () => {
    const bytes = [...files.values()].reduce((sum, { body }) => sum + brotliCompressSync(body).length, 0);
    expect(bytes).toBeLessThan(MAX_BYTES);
  });

  it('given a demo, then the page says so, and that of another shard does not', () => {
    expect(page).not.toContain('data-demo');
    expect(pageFiles({ isDemo: true }).get('/')!.body).toContain('<html data-demo lang="en">');
  });
});

describe('serving the page', () => {
  const serve = pageServer();
  const server = createServer((request, response) => {
    void serve(request, response).then((isServed) => {
      if (!isServed) response.writeHead(404).end();
    });
  });
  let url = '';

  beforeAll(async () => {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterAll(() => {
    server.close();
    server.closeAllConnections();
  });

  it.each([
    ['/', 'text/html; charset=utf-8'],
    ['/?from=somewhere', 'text/html; charset=utf-8'],
    ['/assets/page/main.js', 'text/javascript; charset=utf-8'],
    ['/assets/vendor/preact.js', 'text/javascript; charset=utf-8'],
    ['/assets/page/page.css', 'text/css; charset=utf-8'],
    ['/assets/page/icon.svg', 'image/svg+xml'],
  ])('given %s, then its type is %s', async (path, type) => {
    const response = await fetch(url + path);
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe(type);
    expect(response.headers.get('content-security-policy')).toBe(PAGE_POLICY);
    expect(await response.text()).not.toBe('');
  });

  it.each(['/assets/pages.js', '/assets/../package.json', '/assets/page/main.ts', '/assets/vendor/x.js'])(
    'given %s, then it is not found',
    async (path) => {
      expect((await fetch(url + path)).status).toBe(404);
    },
  );

  it.each([
    ['br, gzip', 'br'],
    ['gzip', 'gzip'],
    ['br;q=0, gzip', 'gzip'],
    ['identity', null],
  ])(
    'given a reader that accepts %s, then the encoding is %s, and the text the same',
    async (accepted, encoding) => {
      const path = '/assets/sentences.js';
      const response = await fetch(url + path, { headers: { 'accept-encoding': accepted } });
      expect(response.headers.get('content-encoding')).toBe(encoding);
      expect(response.headers.get('vary')).toBe('accept-encoding');
      expect(await response.text()).toBe(pageFiles().get(path)!.body);
    },
  );

  it('given the tag of what the reader has, then nothing is sent again', async () => {
    const first = await fetch(`${url}/`);
    const tag = first.headers.get('etag')!;
    const second = await fetch(`${url}/`, { headers: { 'if-none-match': tag } });
    expect(second.status).toBe(304);
    expect(await second.text()).toBe('');
    const other = await fetch(`${url}/`, { headers: { 'if-none-match': '"other"' } });
    expect(other.status).toBe(200);
  });
});
