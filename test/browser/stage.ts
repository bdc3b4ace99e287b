// A page that is open in Chromium, with everything a browser complains about while it is: errors on the console, scripts
// that throw, requests that fail.

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import type { Demo } from './demo.ts';
import { ShardNews } from './news.ts';
import { pageText, type Reading, readPage } from './reading.ts';

/** Texts and pictures of the page, for people to look at; not in git. */
export const OUTPUT = join('.cache', 'web');
/** How long something may take to become visible on a slow machine. */
const PATIENCE_MS = 60_000;
const LOOK_AGAIN_MS = 200;

export class Stage {
  readonly page: Page;
  readonly news: ShardNews;
  readonly demo: Demo;
  /** What the browser complained about, in words. */
  readonly complaints: string[] = [];

  private constructor(page: Page, demo: Demo) {
    this.page = page;
    this.demo = demo;
    this.news = new ShardNews(demo.url);
    page.on('console', (message) => {
      if (['error', 'warning'].includes(message.type()))
        this.complaints.push(`console: ${message.text()} (${message.location().url})`);
    });
    page.on('pageerror', (error) => this.complaints.push(`thrown: ${error.message}`));
    page.on('requestfailed', (request) => {
      const why = request.failure()?.errorText ?? '';
      // A reload ends what the page before it was listening to.
      if (request.url().includes('/v1/events') && why === 'net::ERR_ABORTED') return;
      this.complaints.push(`failed: ${request.url()}: ${why}`);
    });
    page.on('response', (response) => {
      if (response.status() >= 400) this.complaints.push(`${response.status()}: ${response.url()}`);
    });
  }

  static async open(browser: Browser, demo: Demo, options: BrowserContextOptions = {}): Promise<Stage> {
    const context = await browser.newContext({ viewport: { width: 1400, height: 1000 }, ...options });
    const stage = new Stage(await context.newPage(), demo);
    await stage.page.goto(demo.url);
    await stage.until('the page shows machines', ({ machines }) => Object.keys(machines).length > 0);
    return stage;
  }

  async read(): Promise<Reading> {
    return await readPage(this.page);
  }

  /** Looks at the page until it is so, and returns what it read. */
  async until(
    what: string,
    holds: (reading: Reading) => boolean | Promise<boolean>,
    withinMs = PATIENCE_MS,
  ): Promise<Reading> {
    const lastMs = Date.now() + withinMs;
    for (;;) {
      const reading = await this.read();
      if (await holds(reading)) return reading;
      if (Date.now() > lastMs)
        throw new Error(`after ${withinMs} ms still not: ${what}; the page shows ${JSON.stringify(reading)}`);
      await new Promise((resolve) => setTimeout(resolve, LOOK_AGAIN_MS));
    }
  }

  /** Keeps the text and a picture of the page under this name. */
  async record(name: string): Promise<void> {
    mkdirSync(OUTPUT, { recursive: true });
    writeFileSync(join(OUTPUT, `${name}.txt`), `${await pageText(this.page)}\n`);
    await this.page.screenshot({ path: join(OUTPUT, `${name}.png`), fullPage: true });
  }

  async close(): Promise<void> {
    this.news.close();
    await this.page.context().close();
  }
}
