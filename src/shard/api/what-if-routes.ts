// Routes about what would be: what-if questions, and the fleet as a scenario for `bigfleet decide`. Part of the table in
// routes.ts. Nothing is executed, so the right to read is enough.

import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import * as z from 'zod';
import { BigFleetError } from '../../model/index.ts';
import { validate } from '../../runtime/validation.ts';
import { WHAT_IF_REQUEST } from '../../whatif/request.ts';
import { WhatIfAnswerView } from '../views/what-if.ts';
import type { WhatIfPort } from '../views.ts';
import { Refusal } from './refusal.ts';
import { type Route, type RouteHooks, route } from './route.ts';

const JSON_TYPE = 'application/json';

export const WHAT_IF_ROUTES: readonly Route[] = [
  route({
    method: 'POST',
    path: '/v1/whatif',
    access: 'read',
    summary: 'What would be decided with other machines, prices, demand or policies.',
    body: z.strictObject({
      changes: z
        .record(z.string(), z.unknown())
        .nullish()
        .describe('`without`, `prices`, `probabilities`, `stock`, `demand`, `priorities`, `options`.'),
      settle: z
        .union([z.boolean(), z.int()])
        .nullish()
        .describe('Decide until nothing is left to do; a number: the most cycles.'),
      limit: z.int().nullish().describe('Items of each list, 0 to 200; 20 by default.'),
    }),
    answer: WhatIfAnswerView,
    handle: async ({ hooks, body }) => {
      const request = validate(WHAT_IF_REQUEST, body);
      if (!request.ok)
        throw new Refusal(400, request.problems.map(({ path, message }) => `${path}: ${message}`).join('\n'));
      return await answered(() => portOf(hooks).whatIf(request.value));
    },
  }),
  route({
    method: 'GET',
    path: '/v1/export',
    access: 'read',
    summary: 'The fleet as a scenario that `bigfleet decide` and `bigfleet whatif` read, of any size.',
    answer: {
      contentType: JSON_TYPE,
      description: 'A scenario document, with a machine or a Need per line.',
    },
    handle: async ({ hooks, response }) => {
      const port = portOf(hooks);
      await started(response, (write) => answered(() => port.export(write)));
      return null;
    },
  }),
];

function portOf({ whatIf }: RouteHooks): WhatIfPort {
  if (whatIf !== null) return whatIf;
  throw new Refusal(503, 'This shard answers no what-if questions.');
}

async function answered<T>(ask: () => Promise<T>): Promise<T> {
  try {
    return await ask();
  } catch (error) {
    if (!(error instanceof BigFleetError)) throw error;
    const message = error.message.replace(/^BF_\w+: /, '');
    if (error.code === 'BF_WHATIF_BUSY') throw new Refusal(503, message, { 'retry-after': '1' }, 'busy');
    if (error.code === 'BF_WHATIF_UNKNOWN') throw new Refusal(400, message);
    throw error;
  }
}

/**
 * Resolves when the first piece is written, or the document has ended: what follows may take longer than an answer may. A
 * reader that is slow is waited for, so that memory is bounded by a piece; a failure after that cuts the document off.
 */
async function started(
  response: ServerResponse,
  run: (write: (piece: string) => Promise<void>) => Promise<void>,
): Promise<void> {
  const first = Promise.withResolvers<void>();
  const write = async (piece: string): Promise<void> => {
    if (response.destroyed) throw new Error('The reader has gone.');
    if (!response.headersSent) response.writeHead(200, { 'content-type': JSON_TYPE });
    const isFull = !response.write(piece);
    first.resolve();
    if (isFull) await Promise.race([once(response, 'drain'), once(response, 'close')]);
  };
  run(write).then(
    () => {
      response.end();
      first.resolve();
    },
    (error: unknown) => {
      if (response.headersSent) response.destroy();
      first.reject(error);
    },
  );
  await first.promise;
}
