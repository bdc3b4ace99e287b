// Routes about past cycles, which the journal has: what a cycle decided, and the same cycle decided again. Part of the
// table in routes.ts. Nothing is executed, so the right to read is enough.

import * as z from 'zod';
import { BigFleetError, type ErrorCode } from '../../model/index.ts';
import { CyclePlanView, CycleRedecisionView } from '../views/cycles.ts';
import type { PastCyclesPort } from '../views.ts';
import { positionIn, withCursor } from './cursor.ts';
import { cycleNumber, filters, PAGE_BYTES, paging } from './inputs.ts';
import { Refusal } from './refusal.ts';
import { type Route, type RouteHooks, route } from './route.ts';

/** Items of each list of a cycle that is decided again: by default, and at most. */
const REDECIDE_LIMIT = 100;
const MAX_REDECIDE_LIMIT = 1_000;

const params = z.object({ n: cycleNumber });
const { epoch } = filters;

export const CYCLE_ROUTES: readonly Route[] = [
  route({
    method: 'GET',
    path: '/v1/cycles/{n}',
    access: 'read',
    summary: 'What a past cycle decided, started and held back, from the journal.',
    params,
    query: z.strictObject({ epoch, ...paging }),
    answer: CyclePlanView,
    handle: async ({ hooks, params: { n }, query }) => {
      const after = query.after === undefined ? undefined : positionIn(['decided'], query.after).position;
      const ask = { cycle: n, epoch: query.epoch, limit: query.limit, after, maxBytes: PAGE_BYTES };
      const plan = await answered(() => pastCycles(hooks).plan(ask));
      return { ...plan, actions: withCursor('decided', plan.actions) };
    },
  }),
  route({
    method: 'POST',
    path: '/v1/cycles/{n}/redecide',
    access: 'read',
    summary: 'Decides a past cycle again on its recorded input, and compares; nothing is executed.',
    params,
    body: z.strictObject({
      epoch: z
        .int()
        .nonnegative()
        .nullish()
        .describe('Epoch of the start of the shard; by default the newest one that had such a cycle.'),
      limit: z
        .int()
        .min(0)
        .max(MAX_REDECIDE_LIMIT)
        .nullish()
        .describe(`Items of each list, 0 to ${MAX_REDECIDE_LIMIT}; ${REDECIDE_LIMIT} by default.`),
    }),
    answer: CycleRedecisionView,
    handle: ({ hooks, params: { n }, body }) => {
      const ask = { cycle: n, epoch: body.epoch ?? undefined, limit: body.limit ?? REDECIDE_LIMIT };
      return answered(() => pastCycles(hooks).redecide(ask));
    },
  }),
];

/** Refuses where the shard keeps no journal. */
export function pastCycles({ cycles }: RouteHooks): PastCyclesPort {
  if (cycles !== null) return cycles;
  throw new Refusal(
    409,
    'This shard keeps no journal, so it does not know past cycles: see journal.enabled.',
  );
}

const REFUSALS: Partial<Record<ErrorCode, (message: string) => Refusal>> = {
  BF_JOURNAL_RANGE: (message) => new Refusal(404, message),
  BF_JOURNAL_UNREADABLE: (message) => new Refusal(503, message),
  BF_REDECIDE_BUSY: (message) => new Refusal(503, message, { 'retry-after': '1' }, 'busy'),
  BF_REDECIDE_LATE: (message) => new Refusal(504, message),
};

async function answered<T>(ask: () => Promise<T>): Promise<T> {
  try {
    return await ask();
  } catch (error) {
    const refusal = error instanceof BigFleetError ? REFUSALS[error.code] : undefined;
    if (refusal === undefined) throw error;
    throw refusal((error as Error).message.replace(/^BF_\w+: /, ''));
  }
}
