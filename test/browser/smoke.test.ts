// The page of a demo, opened once in a real browser if there is one; `npm run verify:web` checks the rest. Without a
// browser the tests report that the page was not checked, and why.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { findChromium, notRun, openChromium } from './chromium.ts';
import { demoDirectory, startDemo } from './demo.ts';
import { figuresAreThoseOfTheApi, nothingToComplainAbout } from './figures-checks.ts';
import { Stage } from './stage.ts';

const found = findChromium();

describe('the page in a browser', { timeout: 300_000 }, () => {
  if (found.path === null) {
    it('given no Chromium, then the output says what was not run', () => {
      const said = notRun('the page was not opened in a browser', found.why);
      console.warn(said);
      expect(said).toMatch(/^NOT RUN: .+ no Chromium: .+ "npm run browser:install"/);
    });
    return;
  }
  const { path } = found;

  it('given a demo, then it shows the figures of the API and the browser has nothing to complain about', async () => {
    const directory = demoDirectory();
    onTestFinished(directory.remove);
    const demo = await startDemo(directory.path, { clusters: 2, machines: 80 });
    onTestFinished(() => demo.stop());
    const browser = await openChromium(path);
    onTestFinished(() => browser.close());
    const stage = await Stage.open(browser, demo);
    onTestFinished(() => stage.close());
    await figuresAreThoseOfTheApi(stage);
    // They are requested after the first figures.
    await stage.until('there is a button for each story', ({ stories }) => stories.length === 4);
    await nothingToComplainAbout(stage);
  });
});

describe('a Chromium', () => {
  function folder(): string {
    const path = mkdtempSync(join(tmpdir(), 'bigfleet-chromium-'));
    onTestFinished(() => rmSync(path, { recursive: true }));
    return path;
  }

  it.runIf(process.platform === 'linux')('given none in the path, then it is said to be missing', () => {
    expect(findChromium({ PATH: folder() })).toMatchObject({
      path: null,
      why: expect.stringContaining('no chromium'),
    });
  });

  it('given a program of its name in the path, then it is found', () => {
    const path = join(folder(), 'chromium-browser');
    writeFileSync(path, '#!/bin/sh\n', { mode: 0o755 });
    expect(findChromium({ PATH: join(path, '..') }).path).toBe(path);
  });

  it('given a variable that names no program, then nothing else is taken for it', () => {
    const path = join(folder(), 'none');
    expect(findChromium({ ...process.env, BIGFLEET_CHROMIUM: path })).toEqual({
      path: null,
      why: `BIGFLEET_CHROMIUM names ${path}, which is not a program`,
    });
  });
});
