// Routes about what would be: what-if questions, and the fleet as a scenario for `bigfleet decide`. Part of the table in
// routes.ts. Nothing is executed, so the right to read is enough.

import * as z from 'zod';
import { BigFleetError } from '../../model/index.ts';
import { validate } from '../../runtime/validation.ts';
import type { Listed, WhatIfAnswer } from '../../whatif/index.ts';
import { WHAT_IF_REQUEST } from '../../whatif/request.ts';
import { firstWithin, jsonBytes } from '../planning/queries/pages.ts';
import { WhatIfAnswerView } from '../views/what-if.ts';
import type { WhatIfPort } from '../views.ts';
import { PAGE_BYTES } from './inputs.ts';
import { Refusal } from './refusal.ts';
import { type Route, type RouteHooks, route } from './route.ts';
import { streamed } from './streamed.ts';

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
      return withinBytes(await answered(() => portOf(hooks).whatIf(request.value)));
    },
  }),
  route({
    method: 'GET',
    path: '/v1/export',
    access: 'read',
    summary:
      'The fleet as a scenario, of any size; `bigfleet decide` and `bigfleet whatif` read up to 512 MiB.',
    answer: {
      contentType: JSON_TYPE,
      description: 'A scenario document, with a machine or a Need per line.',
    },
    handle: async ({ hooks, response, countUntil }) => {
      const port = portOf(hooks);
      const { readerWaitMs } = hooks;
      const parts = { response, contentType: JSON_TYPE, readerWaitMs, countUntil };
      await streamed(parts, (write) => answered(() => port.export(write)));
      return null;
    },
  }),
];

/** Lists of an answer, and the bytes of each if the whole is too long. */
const LISTS = 7;
const LIST_BYTES = PAGE_BYTES / LISTS;

/** With long names, `limit` items of each list may exceed the size of an answer; `total` counts all of them. */
function withinBytes(answer: WhatIfAnswer): WhatIfAnswer {
  if (jsonBytes(answer) <= PAGE_BYTES) return answer;
  const { actions, verdicts, settled } = answer;
  const cut = <T>({ total, items }: Listed<T>): Listed<T> => ({
    total,
    items: firstWithin(items, items.length, LIST_BYTES),
  });
  const changes = { unmet: cut(verdicts.unmet), met: cut(verdicts.met), changed: cut(verdicts.changed) };
  return {
    ...answer,
    actions: { ...actions, added: cut(actions.added), dropped: cut(actions.dropped) },
    verdicts: { ...verdicts, ...changes },
    settled: settled && { ...settled, unmet: cut(settled.unmet), met: cut(settled.met) },
  };
}

function portOf({ whatIf }: RouteHooks): WhatIfPort {
  if (whatIf !== null) return whatIf;
  throw new Refusal(503, 'This shard answers no what-if questions.');
}

/** Errors of the thread that has the replica as refusals. */
export async function answered<T>(ask: () => Promise<T>): Promise<T> {
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
