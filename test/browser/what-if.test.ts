// The what-if box in a real browser, if there is one, on a shard with fixed views and the real engine behind the route:
// the form, the wait for a shard that is busy, a file of changes, and the lists of the answer.

import { describe, expect, it, onTestFinished } from 'vitest';
import { BigFleetError, MachineState } from '../../src/model/index.ts';
import { serveApi } from '../../src/shard/index.ts';
import { needId } from '../../src/shard/planning/queries/need-names.ts';
import { pageServer } from '../../src/web/index.ts';
import { type WhatIfRequest, whatIfOn } from '../../src/whatif/index.ts';
import { FakeShard } from '../../testing/support/fake-shard.ts';
import { aMachine, aNeed, anInput, resources } from '../../testing/support/fleets.ts';
import { findChromium, notRun, openChromium } from './chromium.ts';

const INPUT = anInput(
  [aMachine('m1', MachineState.Speculative, { resources: resources({ cpu: 4 }), pricePerHour: 1 })],
  [aNeed({ aggregate: resources({ cpu: 4 }), minUnit: resources({ cpu: 1 }) })],
);

const found = findChromium();

describe('the what-if box in a browser', { timeout: 120_000 }, () => {
  if (found.path === null) {
    it('given no Chromium, then the output names the check that did not run', () => {
      console.warn(notRun('the what-if box was not tried in a browser', found.why));
    });
    return;
  }
  const { path } = found;

  /** The page Controls of a shard that is busy for as many questions. */
  async function opened({ busy = 0 } = {}) {
    const asked: WhatIfRequest[] = [];
    const server = await serveApi(new FakeShard(), '127.0.0.1:0', {
      tls: null,
      pages: pageServer(),
      whatIf: {
        whatIf: async (request) => {
          asked.push(request);
          if (asked.length <= busy) throw new BigFleetError('BF_WHATIF_BUSY', 'The fleet is being copied.');
          return whatIfOn(INPUT, request, needId);
        },
        export: async () => {},
      },
    });
    onTestFinished(() => server.close());
    const browser = await openChromium(path);
    onTestFinished(() => browser.close());
    const page = await browser.newPage();
    await page.goto(`${server.url}/#/controls`);
    await page.waitForSelector('#what-if-form');
    return { page, asked };
  }

  it('given a shard that copies its fleet first, then the box says so and shows the answer in the end', async () => {
    const { page, asked } = await opened({ busy: 2 });
    await page.click('#what-if-form button');
    await page.waitForSelector('#what-if-waiting:has-text("The fleet is being copied.")');
    await page.waitForSelector('#what-if-answer');
    expect(asked).toHaveLength(3);
    expect(await page.$('#what-if-error')).toBeNull();
  });

  it('given demand of the whole fleet, then it is multiplied, and the actions that differ are listed with links', async () => {
    const { page, asked } = await opened();
    await page.selectOption('#what-if-form [name=change]', 'demand');
    await page.fill('#what-if-form [name=factor]', '0');
    await page.click('#what-if-form button');
    await page.waitForSelector(
      'h3:has-text("Actions that would no longer be taken") + ul a[href="#/machine/m1"]',
    );
    expect(asked[0]!.changes.demand).toMatchObject([{ cluster: ['*'], times: 0 }]);
  });

  it('given a file of changes, then they are asked for, and a refusal names what is wrong in it', async () => {
    const { page, asked } = await opened();
    await page.selectOption('#what-if-form [name=change]', 'document');
    const choose = async (changes: object): Promise<void> => {
      const text = JSON.stringify(changes);
      const buffer = Buffer.from(text);
      await page.setInputFiles('#what-if-form [name=file]', {
        ...{ name: 'changes.json', mimeType: 'application/json', buffer },
      });
      await expect.poll(() => page.inputValue('#what-if-form textarea')).toBe(text);
      await page.click('#what-if-form button');
    };
    await choose({ without: [{ zone: 7 }] });
    await page.waitForSelector('#what-if-error:has-text("changes.without[0].zone")');
    await choose({ without: [{ name: '*' }], options: { sharing: 'off' } });
    await page.waitForSelector('h3:has-text("Needs that would no longer be met") + ul li.failed a');
    expect(asked).toHaveLength(1);
    expect(asked[0]!.changes).toMatchObject({ without: [{ name: ['*'] }], options: { sharing: 'off' } });
  });
});
