// The routes about what would be, on a shard with a fixed answer.

import { connect } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { FakeShard } from '../../../testing/support/fake-shard.ts';
import { aMachine, aNeed, anInput, resources } from '../../../testing/support/fleets.ts';
import { AnswerCheck, type OpenApi } from '../../../testing/support/openapi.ts';
import { BigFleetError, MachineState } from '../../model/index.ts';
import { requireValid } from '../../runtime/validation.ts';
import { type WhatIfAnswer, type WhatIfRequest, whatIfOn } from '../../whatif/index.ts';
import { WHAT_IF_REQUEST } from '../../whatif/request.ts';
import { needId } from '../planning/queries/need-names.ts';
import type { WhatIfPort } from '../views.ts';
import { serveApi } from './serve.ts';

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const clean of cleanups.splice(0).reverse()) await clean();
});

const INPUT = anInput(
  [aMachine('m1', MachineState.Speculative, { resources: resources({ cpu: 4 }), pricePerHour: 1 })],
  [aNeed({ aggregate: resources({ cpu: 4 }), minUnit: resources({ cpu: 1 }) })],
);

const SETTLED = requireValid(WHAT_IF_REQUEST, { settle: true }, 'BF_INPUT_INVALID', 'request');

async function served(port: Partial<WhatIfPort> = {}, readerWaitMs = 60_000) {
  const asked: WhatIfRequest[] = [];
  const whatIf: WhatIfPort = {
    whatIf: async (request) => {
      asked.push(request);
      return whatIfOn(INPUT, request, needId);
    },
    export: async (write) => {
      await write('{"now": ');
      await write('0}');
    },
    ...port,
  };
  const server = await serveApi(new FakeShard(), '127.0.0.1:0', { tls: null, whatIf, readerWaitMs });
  cleanups.push(() => server.close());
  const ask = (body: object) =>
    fetch(`${server.url}/v1/whatif`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
  return { asked, ask, url: server.url };
}

describe('POST /v1/whatif', () => {
  it('answers with all that the document describes, and nothing else', async () => {
    // Given
    const { ask, url } = await served();
    const document = (await (await fetch(`${url}/v1/openapi.json`)).json()) as OpenApi;
    // When
    const answer = await (await ask({ changes: { without: [{ name: '*' }] }, settle: true })).json();
    // Then
    expect(new AnswerCheck(document).problems('/v1/whatif', 'post', answer)).toEqual([]);
    expect(answer).toMatchObject({ touched: { removed: 1 }, verdicts: { unmet: { total: 1 } } });
  });

  it('refuses changes with all problems and their paths', async () => {
    // Given
    const { ask, asked } = await served();
    // When
    const answer = await ask({ changes: { without: [{}], prices: [{ match: { name: 'a' } }] }, limit: 500 });
    // Then
    expect(answer.status).toBe(400);
    const { error } = (await answer.json()) as { error: { message: string } };
    for (const path of ['changes.without[0]', 'changes.prices[0]', 'limit'])
      expect(error.message).toContain(`${path}: `);
    expect(asked).toEqual([]);
  });

  it('given a shard to remove, then it says that there is one only', async () => {
    // Given
    const { ask, asked } = await served();
    // When
    const answer = await ask({ changes: { without: [{ shard: 'shard-1' }] } });
    // Then
    expect(answer.status).toBe(400);
    expect(await answer.text()).toMatch(
      /changes\.without\[0\]\.shard: .*until a coordinator exists.*provider, zone, capacityType.*labels/,
    );
    expect(asked).toEqual([]);
  });

  it.each([
    ['BF_WHATIF_BUSY', 503, 'busy'],
    ['BF_WHATIF_UNKNOWN', 400, 'bad_request'],
  ] as const)('given %s, then it answers %d', async (code, status, word) => {
    // Given
    const { ask } = await served({
      whatIf: async () => {
        throw new BigFleetError(code, 'Reason.');
      },
    });
    // When
    const answer = await ask({});
    // Then
    expect(answer.status).toBe(status);
    expect(answer.headers.get('retry-after')).toBe(status === 503 ? '1' : null);
    expect(await answer.json()).toMatchObject({ error: { code: word } });
  });
});

describe('GET /v1/needs/{cluster}/{hash} of a large fleet', () => {
  it('given a replica that is busy, then it answers like a what-if question', async () => {
    // Given
    const shard = new FakeShard();
    shard.answers.explain = () => {
      throw new BigFleetError('BF_WHATIF_BUSY', 'The fleet is being copied.');
    };
    const server = await serveApi(shard, '127.0.0.1:0', { tls: null });
    cleanups.push(() => server.close());
    // When
    const answer = await fetch(`${server.url}/v1/needs/ml/00ff00ff00`);
    // Then
    expect(answer.status).toBe(503);
    expect(answer.headers.get('retry-after')).toBe('1');
    expect(await answer.json()).toMatchObject({
      error: { code: 'busy', message: expect.stringContaining('The fleet is being copied.') },
    });
  });
});

describe('a long answer to POST /v1/whatif', () => {
  it('given names as long as they may be, then each list is cut, and counts all', async () => {
    // Given
    const name = '\u0001'.repeat(253);
    const need = { id: name, cluster: name, group: '\u0001'.repeat(1024), priority: 1 };
    const actions = {
      total: 500,
      items: Array(200).fill({
        kind: 'Reclaim',
        machine: name,
        cluster: name,
        reason: 'phase3.excess',
        need,
      }),
    };
    const verdicts = {
      total: 500,
      items: Array(200).fill({ need, reason: null, why: null, missing: {}, reasonNow: null, whyNow: null }),
    };
    const real = whatIfOn(INPUT, SETTLED, needId);
    const lists = { unmet: verdicts, met: verdicts };
    const { ask } = await served({
      whatIf: async () => ({
        ...real,
        actions: { ...real.actions, added: actions, dropped: actions },
        verdicts: { ...real.verdicts, ...lists, changed: verdicts },
        settled: { ...real.settled!, ...lists },
      }),
    });
    // When
    const text = await (await ask({ limit: 200 })).text();
    // Then
    expect(Buffer.byteLength(text)).toBeLessThan(1_000_000);
    const answer = JSON.parse(text) as WhatIfAnswer;
    const { added, dropped } = answer.actions;
    const { unmet, met, changed } = answer.verdicts;
    for (const list of [added, dropped, unmet, met, changed, answer.settled!.unmet, answer.settled!.met]) {
      expect(list.total).toBe(500);
      expect(list.items.length).toBeGreaterThan(5);
    }
  });
});

describe('GET /v1/export', () => {
  it.each(['nothing', 'a little at a time'])(
    'given a reader that reads %s, then the export ends when the waits for it are over',
    async (what) => {
      // Given
      const ended = Promise.withResolvers<unknown>();
      const { url } = await served(
        {
          export: async (write) => {
            try {
              for (;;) await write('x'.repeat(1 << 20));
            } catch (error) {
              ended.resolve(error);
              throw error;
            }
          },
        },
        50,
      );
      // When
      const socket = connect(Number(new URL(url).port), '127.0.0.1');
      cleanups.push(() => socket.destroy());
      socket.on('error', () => {});
      socket.write('GET /v1/export HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n');
      socket.pause();
      const reading = setInterval(() => void socket.read(1 << 16), 1);
      if (what === 'nothing') clearInterval(reading);
      // Then
      const error = await ended.promise;
      clearInterval(reading);
      expect(String(error)).toContain('The reader does not read.');
    },
  );

  it('sends the pieces in order', async () => {
    const { url } = await served();
    expect(await (await fetch(`${url}/v1/export`)).json()).toEqual({ now: 0 });
  });

  it('given as many exports as there may be requests, then the next request is refused until one of them ends', async () => {
    // Given
    const ends: (() => void)[] = [];
    const { url } = await served({
      export: async (write) => {
        await write('[');
        await new Promise<void>((resolve) => ends.push(resolve));
        await write(']');
      },
    });
    const exports = await Promise.all(Array.from({ length: 64 }, () => fetch(`${url}/v1/export`)));
    // When
    const refused = await fetch(`${url}/v1/status`);
    ends.pop()!();
    await Promise.race(exports.map((each) => each.text()));
    const accepted = await fetch(`${url}/v1/status`);
    for (const end of ends) end();
    // Then
    expect([refused.status, accepted.status]).toEqual([503, 200]);
  });

  it('given a failure after the first piece, then the document is cut off', async () => {
    // Given
    const { url } = await served({
      export: async (write) => {
        await write('{');
        throw new Error('gone');
      },
    });
    // Then
    await expect(fetch(`${url}/v1/export`).then((answer) => answer.text())).rejects.toThrow();
  });
});
