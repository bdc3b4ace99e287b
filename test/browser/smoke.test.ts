// The page of a demo, opened once in a real browser if there is one; `npm run verify:web` checks the rest. Without a
// browser the tests report that the page was not checked, and why.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { findChromium, notRun, openChromium } from './chromium.ts';
import { demoDirectory, startDemo } from './demo.ts';
import { figuresAreThoseOfTheApi, nothingToComplainAbout } from './figures-checks.ts';
import { placeholderIsGone } from './form-checks.ts';
import { Stage } from './stage.ts';

const found = findChromium();

describe('the dashboard in a browser', { timeout: 300_000 }, () => {
  if (found.path === null) {
    it('given no Chromium, then the output names the check that did not run', () => {
      const said = notRun('the page was not opened in a browser', found.why);
      console.warn(said);
      expect(said).toMatch(/^NOT RUN: .+ no Chromium: .+ "npm run browser:install"/);
    });
    return;
  }
  const { path } = found;

  it('given a demo, then it shows the figures of the API and the browser reports no error', async () => {
    const directory = demoDirectory();
    onTestFinished(directory.remove);
    const demo = await startDemo(directory.path, { clusters: 2, machines: 80 });
    onTestFinished(() => demo.stop());
    const browser = await openChromium(path);
    onTestFinished(() => browser.close());
    const stage = await Stage.open(browser, demo);
    onTestFinished(() => stage.close());
    await figuresAreThoseOfTheApi(stage);
    await placeholderIsGone(stage);
    // They are requested after the first figures.
    await stage.until('there is a button for each demo scenario', ({ scenarios }) => scenarios.length === 4);
    await nothingToComplainAbout(stage);
  });
});

describe('the search for Chromium', () => {
  function folder(): string {
    const path = mkdtempSync(join(tmpdir(), 'bigfleet-chromium-'));
    onTestFinished(() => rmSync(path, { recursive: true }));
    return path;
  }

  it.runIf(process.platform === 'linux')('given none in PATH, then it is reported as missing', () => {
    expect(findChromium({ PATH: folder() })).toMatchObject({
      path: null,
      why: expect.stringContaining('no chromium'),
    });
  });

  it('given a program of that name in PATH, then it is found', () => {
    const path = join(folder(), 'chromium-browser');
    writeFileSync(path, '#!/bin/sh\n', { mode: 0o755 });
    expect(findChromium({ PATH: join(path, '..') }).path).toBe(path);
  });

  it('given a variable that names no program, then PATH is not searched', () => {
    const path = join(folder(), 'none');
    expect(findChromium({ ...process.env, BIGFLEET_CHROMIUM: path })).toEqual({
      path: null,
      why: `BIGFLEET_CHROMIUM names ${path}, which is not a program`,
    });
  });
});
