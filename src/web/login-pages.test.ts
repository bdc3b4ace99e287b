// The files of the login page, as a shard serves them to browsers without an identity.

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loginPages } from './index.ts';

describe('the login page', () => {
  const serve = loginPages();
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

  const html = { headers: { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' } };

  it.each(['/', '/machines?state=idle'])(
    'given %s from a browser, then it is the form, with 401',
    async (path) => {
      const response = await fetch(url + path, html);
      expect(response.status).toBe(401);
      expect(response.headers.get('www-authenticate')).toBe('Bearer realm="bigfleet"');
      expect(await response.text()).toContain('<form id="login">');
    },
  );

  it('given the page, then its parts exist, and neither has anything inline or from elsewhere', async () => {
    const page = await (await fetch(url, html)).text();
    const named = [...page.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, path]) => path!);
    expect(named.toSorted()).toEqual(['/login/icon.svg', '/login/login.css', '/login/login.js']);
    expect(page).not.toMatch(/<script[^>]*>[^<]|<style|style=|\son\w+=/);
    for (const path of named) {
      const response = await fetch(url + path);
      const body = (await response.text()).replaceAll('http://www.w3.org/2000/svg', '');
      expect([path, response.status]).toEqual([path, 200]);
      expect(body).not.toMatch(/https?:\/\//);
      expect(body).not.toMatch(/\bas \{|: string\b/);
      const policy = response.headers.get('content-security-policy');
      expect(policy).toContain("default-src 'none'; script-src 'self'");
      expect(policy).not.toContain('unsafe');
    }
  });

  it.each(['/assets/page/main.js', '/login/login.ts', '/login/index.html', '/login/../page/main.js'])(
    'given %s without a wish for a page, then it is not served',
    async (path) => {
      expect((await fetch(url + path)).status).toBe(404);
    },
  );
});
