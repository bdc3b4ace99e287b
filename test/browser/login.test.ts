// The login page of a shard over TLS in a real browser, if there is one: what browsers do with cookies and with pages of
// other sites is theirs alone to show.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { BrowserContext } from 'playwright-core';
import { describe, expect, it, onTestFinished } from 'vitest';
import { serveApi } from '../../src/shard/index.ts';
import { loginPages, pageServer } from '../../src/web/index.ts';
import { issueCertificate, makeAuthority } from '../../src/wire/grpc/certificates.ts';
import { FakeShard } from '../../testing/support/fake-shard.ts';
import { findChromium, notRun, openChromium } from './chromium.ts';

const TOKEN = 'token-of-otto-0123456789';
const VIEWER = 'token-of-vera-0123456789';
const ORDER = `fetch('/v1/freezes', {
  method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"why":"w"}',
}).then(({ status }) => status)`;

const found = findChromium();

describe('the login in a browser', { timeout: 120_000 }, () => {
  if (found.path === null) {
    it('given no Chromium, then the output names the check that did not run', () => {
      console.warn(notRun('the login was not tried in a browser', found.why));
    });
    return;
  }
  const { path } = found;

  async function opened() {
    const shard = new FakeShard();
    const url = await servedOverTls(shard);
    const browser = await openChromium(path);
    onTestFinished(() => browser.close());
    const context = await browser.newContext({ ignoreHTTPSErrors: true });
    const page = await context.newPage();
    await page.goto(`${url}/machines?state=idle#top`);
    const login = async (token: string): Promise<void> => {
      await page.fill('#token', token);
      await page.keyboard.press('Enter');
    };
    return { shard, url, context, page, login };
  }

  it('given a token, then the page that was asked for is shown, and orders are in the name of the token', async () => {
    const { shard, page, login, context } = await opened();
    await login('guess');
    await page.waitForSelector('#message:has-text("not valid")');
    expect(await context.cookies()).toEqual([]);
    await login(TOKEN);
    await page.waitForSelector('text=/machines?state=idle');
    expect(page.url()).toMatch(/\/machines\?state=idle#top$/);
    expect(await context.cookies()).toMatchObject([{ httpOnly: true, secure: true, sameSite: 'Strict' }]);
    expect(await page.evaluate(ORDER)).toBe(200);
    expect(shard.orders).toMatchObject([{ kind: 'freeze', who: 'otto' }]);
  });

  async function openedDashboard(token: string) {
    const url = await servedOverTls(new FakeShard(), pageServer());
    const browser = await openChromium(path);
    onTestFinished(() => browser.close());
    const context = await browser.newContext({ ignoreHTTPSErrors: true });
    const page = await context.newPage();
    await page.goto(`${url}/#/controls`);
    await page.fill('#token', token);
    await page.keyboard.press('Enter');
    await page.waitForSelector('#logout');
    return { url, context, page };
  }

  it('given the dashboard of a caller who may view, then orders are off with a reason; of one who may order, they are on', async () => {
    const { page } = await openedDashboard(VIEWER);
    await page.waitForSelector('#freeze-form button:disabled');
    await page.waitForSelector('[data-note=view-only]:has-text("vera may view and not order")');
    await page.click('#logout');
    await page.fill('#token', TOKEN);
    await page.keyboard.press('Enter');
    await page.waitForSelector('#account:has-text("otto")');
    await page.waitForSelector('#freeze-form button:enabled');
    expect(await page.$('[data-note=view-only]')).toBeNull();
  });

  it('given a login that ends under an open dashboard, then the login page takes its place, and leads back', async () => {
    const { url, context, page } = await openedDashboard(TOKEN);
    const other = await context.newPage();
    await other.goto(url);
    await other.click('#logout');
    await page.waitForSelector('#token');
    await page.fill('#token', TOKEN);
    await page.keyboard.press('Enter');
    await page.waitForSelector('#freeze-form');
    expect(page.url()).toMatch(/#\/controls$/);
  });

  it('given another site, then its link leads to the page, and its scripts read and order nothing', async () => {
    const { shard, url, page, login, context } = await opened();
    await login(TOKEN);
    await page.waitForSelector('text=/machines');
    const asked = shard.asked.length;
    const other = await otherSite(context, `<a href="${url}/clusters">go</a>`);
    for (const request of [
      `fetch('${url}/v1/status', { mode: 'no-cors', credentials: 'include' })`,
      `fetch('${url}/v1/status', { credentials: 'include' })`,
      `fetch('${url}/v1/freezes', { method: 'POST', mode: 'no-cors', credentials: 'include', body: '{"who":"a","why":"w"}' })`,
    ])
      expect(await other.evaluate(`${request}.then(() => 'read', () => 'failed')`)).toBe('failed');
    expect([shard.orders, shard.asked.length]).toEqual([[], asked]);
    await other.click('a');
    await other.waitForSelector('text=/clusters');
  });
});

/** Answers with the path, as a page would. */
const PATH_PAGES: NonNullable<Parameters<typeof serveApi>[2]>['pages'] = ({ url }, response) => {
  response.writeHead(200, { 'content-type': 'text/html' }).end(`<p>${url}</p>`);
  return true;
};

async function servedOverTls(shard: FakeShard, pages = PATH_PAGES): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'bigfleet-login-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const fileOf = (name: string, content: string): string => {
    writeFileSync(join(folder, name), content, { mode: 0o600 });
    return join(folder, name);
  };
  const valid = { notBefore: new Date(Date.now() - 60_000), notAfter: new Date(Date.now() + 3_600_000) };
  const authority = makeAuthority({ name: 'ours', ...valid });
  const names = { uris: ['bigfleet://shard/s'], dnsNames: ['localhost'] };
  const leaf = issueCertificate(authority, { name: 's', ...names, ...valid });
  const server = await serveApi(shard, 'localhost:0', {
    tls: {
      cert: fileOf('cert', leaf.certificate),
      key: fileOf('key', leaf.key),
      ca: fileOf('ca', authority.certificate),
    },
    tokensFile: fileOf(
      'tokens',
      `- { name: otto, role: operate, token: ${TOKEN} }\n- { name: vera, role: view, token: ${VIEWER} }`,
    ),
    loginPages: loginPages(),
    pages,
  });
  onTestFinished(() => server.close());
  return server.url;
}

async function otherSite(context: BrowserContext, body: string) {
  const page = await context.newPage();
  await page.route('http://other.example/', (route) => route.fulfill({ contentType: 'text/html', body }));
  await page.goto('http://other.example/');
  return page;
}
