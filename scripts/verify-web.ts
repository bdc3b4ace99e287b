// `npm run verify:web`: the page of a real demo in a real browser. Starts `bigfleet up` on a free port with a directory
// of its own, opens the page in Chromium, and runs every check; about three minutes. Texts and screenshots of the page
// are left in .cache/web; with `--pictures` those of the documentation are written to docs/pictures. Exit code 0: all checks passed. 1: one failed. 3: there is no Chromium, and nothing was
// checked.

import { rmSync } from 'node:fs';
import { styleText } from 'node:util';
import type { Browser } from 'playwright-core';
import { findChromium, notRun, openChromium } from '../test/browser/chromium.ts';
import { type Demo, type DemoSize, demoDirectory, startDemo } from '../test/browser/demo.ts';
import * as figures from '../test/browser/figures-checks.ts';
import * as form from '../test/browser/form-checks.ts';
import * as history from '../test/browser/history-checks.ts';
import * as orders from '../test/browser/order-checks.ts';
import { takePictures } from '../test/browser/pictures.ts';
import * as scenarios from '../test/browser/scenario-checks.ts';
import { OUTPUT, Stage } from '../test/browser/stage.ts';

const SIZE = { clusters: 4, machines: 200 };

type Check = readonly [name: string, run: (stage: Stage) => Promise<void>];

/** The order matters: demo scenarios change the fleet, and later checks read the result. */
const CHECKS: readonly Check[] = [
  ['figures are those of the API, and costs add up', figures.figuresAreThoseOfTheApi],
  ['the text of the empty page is gone', form.placeholderIsGone],
  ['clusters are those of the API', figures.clustersAreThoseOfTheApi],
  ['a cluster is found by its name', figures.clusterIsFound],
  ['the keyboard reaches everything and shows where it is', form.showsTheFocus],
  ['keys lead to every page', form.keysLeadToEveryPage],
  ['light or dark is remembered', form.remembersTheTheme],
  ['costs are those of the API', figures.costsAreThoseOfTheApi],
  ['answers about a machine and a Need are those of the API', figures.answersAreThoseOfTheApi],
  ['a deploy burst is shown', scenarios.deployBurstIsSeen],
  ['a GPU gang is shown', scenarios.gpuGangIsSeen],
  ['a freeze and its end are shown', scenarios.freezeIsSeenAndEnds],
  ['a freeze by its form and the drain of a machine are ordered', orders.freezeAndDrainAreOrdered],
  ['a spot wave is shown as losses', scenarios.spotWaveIsSeen],
  ['a zone outage is shown as losses, and at its cloud', scenarios.zoneOutageIsSeen],
  ['failures are shown as such', scenarios.failuresAreShownAsSuch],
  ['the timeline has what happened', scenarios.timelineIsFiltered],
  ['a past cycle is shown and decided again', scenarios.cycleIsDecidedAgain],
  ['a Need that is not met is explained', scenarios.unmetNeedIsExplained],
  ['figures are those of the API after all of it', figures.figuresAreThoseOfTheApi],
  [
    'every page is legible in light and dark, and has no serious accessibility violation',
    form.isReadableInLightAndDark,
  ],
  ['no page scrolls horizontally at any width', form.fitsEveryWidth],
  ['names that contain markup are shown as text', form.showsHostileNamesAsText],
  ['a reload keeps the last hour', history.reloadKeepsTheHour],
  ['the browser reports no error', figures.nothingToComplainAbout],
];

/** In `bigfleet up` as it is by default. */
const DEFAULT_CHECKS: readonly Check[] = [
  ['the first decision of a default demo is visible within 5 s', history.firstDecisionIsSeen],
];

const FAST_CHECKS: readonly Check[] = [
  ['the first decision is visible within 5 s', history.firstDecisionIsSeen],
  ['the page is painted within 1 s, with less than 300 kB of files', history.firstPaintIsFast],
  ['a zone is broken, and recovers', scenarios.outageAndRecoveryAreSeen],
  ['the browser reports no error in it', figures.nothingToComplainAbout],
];

/** At this speed an outage of a zone takes 30 s instead of ten minutes. */
const FAST_SIZE = { clusters: 2, machines: 80, speed: 20 };

/** Takes the pictures of the documentation, too. */
const TAKES_PICTURES = process.argv.includes('--pictures');

const { path, why } = findChromium();
if (path === null) {
  console.error(notRun('the page was not opened in a browser', why));
  process.exit(3);
}
rmSync(OUTPUT, { recursive: true, force: true });
const failed = await verified(path);
console.log(`Texts and screenshots of the page are in ${OUTPUT}.`);
const all = CHECKS.length + DEFAULT_CHECKS.length + FAST_CHECKS.length + 1;
console.log(`${all - failed} passed, ${failed} failed`);
process.exit(failed === 0 ? 0 : 1);

/** Returns the number of checks that failed. */
async function verified(chromium: string): Promise<number> {
  const directory = demoDirectory();
  let demo = await startDemo(directory.path, SIZE);
  const browser = await openChromium(chromium);
  try {
    console.log(`The page is at ${demo.url}, in ${chromium} ${browser.version()}.`);
    const stage = await Stage.open(browser, demo);
    const restart = async (): Promise<Demo> => {
      demo = await startDemo(directory.path, { ...SIZE, port: Number(new URL(demo.url).port) });
      return demo;
    };
    // After all others, since the browser reports failed requests while the shard is down.
    const last: Check = ['a restart of the shard is shown', (each) => history.restartIsSeen(each, restart)];
    let failures = 0;
    for (const check of CHECKS) if (!(await passes(check, stage))) failures++;
    if (!(await passes(last, stage))) failures++;
    await stage.close();
    await demo.stop();
    if (TAKES_PICTURES) await pictured(browser);
    failures += await failuresIn({}, DEFAULT_CHECKS, browser);
    return failures + (await failuresIn(FAST_SIZE, FAST_CHECKS, browser));
  } finally {
    await browser.close();
    await demo.stop();
    directory.remove();
  }
}

/** In a demo of their own, which no check has changed. */
async function pictured(browser: Browser): Promise<void> {
  const directory = demoDirectory();
  const demo = await startDemo(directory.path, SIZE);
  try {
    const stage = await Stage.open(browser, demo);
    await takePictures(stage);
    await stage.close();
  } finally {
    await demo.stop();
    directory.remove();
  }
}

/** Runs checks in a demo of their own, and returns the number of those that failed. */
async function failuresIn(size: DemoSize, checks: readonly Check[], browser: Browser): Promise<number> {
  const directory = demoDirectory();
  const demo = await startDemo(directory.path, size);
  try {
    const stage = await Stage.open(browser, demo);
    let failures = 0;
    for (const check of checks) if (!(await passes(check, stage))) failures++;
    await stage.close();
    return failures;
  } finally {
    await demo.stop();
    directory.remove();
  }
}

async function passes([name, run]: Check, stage: Stage): Promise<boolean> {
  const started = performance.now();
  const seconds = (): string => ((performance.now() - started) / 1000).toFixed(1);
  try {
    // A check that failed may have left the page anywhere.
    await stage.goTo('#/');
    await run(stage);
    console.log(`${styleText('green', 'ok  ')} ${name} (${seconds()} s)`);
    return true;
  } catch (error) {
    console.log(`${styleText('red', 'FAIL')} ${name} (${seconds()} s)`);
    console.log(error instanceof Error ? (error.stack ?? error.message) : String(error));
    await stage.record(`failed-${name.replaceAll(/\W+/g, '-')}`);
    return false;
  }
}
