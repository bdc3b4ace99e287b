import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { posix } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PAGE_POLICY, pageFiles, pageServer } from './index.ts';
import { NOTHING_YET } from './live.ts';
import { pageParts } from './view.ts';

describe('the files of the page', () => {
  const files = pageFiles();
  const page = files.get('/')!.body;

  it('given references between files, then all of them exist', () => {
    const named = [...page.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, path]) => path);
    const imported = [...files].flatMap(([path, { body }]) =>
      [...body.matchAll(/^\s*import .*?from '([^']+)'|^} from '([^']+)'/gm)].map(([, a, b]) =>
        posix.join(posix.dirname(path), (a ?? b)!),
      ),
    );
    expect(imported).toContain('/assets/sentences.js');
    expect([...named, ...imported].filter((path) => !files.has(path!))).toEqual([]);
  });

  it('given the parts of the page, then index.html has an element for each', () => {
    const parts = pageParts({ live: NOTHING_YET, trouble: '', notice: '', answer: [], scenarios: [] });
    expect(Object.keys(parts).filter((id) => !page.includes(` id="${id}"`))).toEqual([]);
  });

  it('given the files, then none has inline scripts or styles, or loads anything from elsewhere', () => {
    expect(page).not.toMatch(/<script[^>]*>[^<]|<style|style=|\son\w+=/);
    for (const { body } of files.values())
      expect(body.replaceAll('http://www.w3.org/2000/svg', '')).not.toMatch(/https?:\/\//);
  });

  it('given the scripts, then they have no types', () => {
    expect(files.get('/assets/sentences.js')!.body).not.toMatch(/\binterface\b|import type|: string\b/);
  });
});

describe('serving the page', () => {
  const serve = pageServer();
  const server = createServer((request, response) => {
    if (!serve(request, response)) response.writeHead(404).end();
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
    ['/assets/page/page.css', 'text/css; charset=utf-8'],
    ['/assets/page/icon.svg', 'image/svg+xml'],
  ])('given %s, then its type is %s', async (path, type) => {
    const response = await fetch(url + path);
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe(type);
    expect(response.headers.get('content-security-policy')).toBe(PAGE_POLICY);
    expect(await response.text()).not.toBe('');
  });

  it.each(['/assets/pages.js', '/assets/../package.json', '/assets/page/main.ts'])(
    'given %s, then it is not found',
    async (path) => {
      expect((await fetch(url + path)).status).toBe(404);
    },
  );
});
