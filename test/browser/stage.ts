// An open page in Chromium, with everything the browser reports meanwhile: console errors, exceptions, failed requests.
// Opened by smoke.test.ts and `npm run verify:web`, which pass it to the checks of this folder.

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import type { Demo } from './demo.ts';
import { pageText, type Reading, readPage } from './reading.ts';
import { RecordedEvents } from './recorded-events.ts';

/** Texts and screenshots of the page, for people; not in git. */
export const OUTPUT = join('.cache', 'web');
/** Upper bound for something to become visible on a slow machine. */
const PATIENCE_MS = 60_000;
const LOOK_AGAIN_MS = 200;

export class Stage {
  readonly page: Page;
  readonly recorded: RecordedEvents;
  readonly demo: Demo;
  /** Everything the browser reported, as text. */
  readonly complaints: string[] = [];

  private constructor(page: Page, demo: Demo) {
    this.page = page;
    this.demo = demo;
    this.recorded = new RecordedEvents(demo.url);
    page.on('console', (message) => {
      if (message.text().includes('503') && isAskedAgain(message.location().url)) return;
      if (['error', 'warning'].includes(message.type()))
        this.complaints.push(`console: ${message.text()} (${message.location().url})`);
    });
    page.on('pageerror', (error) => this.complaints.push(`thrown: ${error.message}`));
    page.on('requestfailed', (request) => {
      const why = request.failure()?.errorText ?? '';
      // A reload ends the event stream and the requests of the page before it.
      if (why === 'net::ERR_ABORTED') return;
      this.complaints.push(`failed: ${request.url()}: ${why}`);
    });
    page.on('request', (request) => {
      if (!request.url().startsWith(demo.url)) this.complaints.push(`elsewhere: ${request.url()}`);
    });
    page.on('response', (response) => {
      if (response.status() === 503 && isAskedAgain(response.url())) return;
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

  /** Goes to a page of the dashboard, such as `#/needs?unmet=true`, as a link does. */
  async goTo(hash: string): Promise<void> {
    await this.page.evaluate(`location.hash = ${JSON.stringify(hash)}`);
  }

  async read(): Promise<Reading> {
    return await readPage(this.page);
  }

  /** Polls the page until the condition holds, and returns the last reading. */
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

  /** Saves the text and a screenshot of the page under this name. */
  async record(name: string): Promise<void> {
    mkdirSync(OUTPUT, { recursive: true });
    writeFileSync(join(OUTPUT, `${name}.txt`), `${await pageText(this.page)}\n`);
    await this.page.screenshot({ path: join(OUTPUT, `${name}.png`), fullPage: true });
  }

  async close(): Promise<void> {
    this.recorded.close();
    await this.page.context().close();
  }
}

/** The page repeats a what-if question until the shard has copied its fleet; the browser reports each 503 before that. */
function isAskedAgain(url: string): boolean {
  return url.endsWith('/v1/whatif');
}
