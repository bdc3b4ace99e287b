// Schemas of the answer to a what-if question. src/whatif/answer.ts has its type; a test compares real answers with these.

import * as z from 'zod';
import { COST_PARTS } from '../../model/index.ts';
import { actionKind, count, NeedRef, Quantities, timeMs, view } from './schema.ts';

const listed = <S extends z.ZodType>(item: S, about: string) =>
  z.object({ total: count, items: z.array(item).describe('At most `limit` of them.') }).describe(about);

const dollars = z.number();

const WhatIfCost = view('WhatIfCost', 'US dollars per hour; amounts are whole micro-dollars.', {
  perHour: dollars.describe('The sum of `byPart`.'),
  byPart: z.record(z.enum(COST_PARTS), dollars).describe('As in `Cost`.'),
  afterActions: dollars.describe('`perHour`, plus what the actions buy, minus what they release.'),
  risk: dollars.describe('Expected loss by interruptions of claimed machines.'),
});

const WhatIfAction = view('WhatIfAction', 'An action that would be decided; nothing is executed.', {
  kind: actionKind,
  machine: z.string().describe('Machines of `stock` are called `what-if-N`.'),
  cluster: z.string(),
  reason: z.string(),
  need: NeedRef.nullable(),
});

const text = z.string().nullable();

const WhatIfVerdict = view('WhatIfVerdict', 'A Need whose verdict would change.', {
  need: NeedRef.describe('By its name and key as they are now.'),
  reason: text.describe('Why it would be unmet; null: it would be met.'),
  why: text,
  missing: Quantities,
  reasonNow: text.describe('Why it is unmet now; null: it is met.'),
  whyNow: text,
});

const counts = z.record(actionKind, count);
const needs = z.object({ met: count, unmet: count });
const disruption = z
  .object({
    preempted: count,
    drained: count,
    lost: count.describe('Configured machines that the changes take away.'),
  })
  .describe('Machines in use; their pods are not known.');

const sides = <S extends z.ZodType>(side: S) => ({ now: side, after: side });

const Settled = view('WhatIfSettled', 'The changed fleet after cycles in which moves take no time.', {
  cycles: count,
  isQuiet: z.boolean().describe('Whether nothing is left to do, and no machine waits for the end of a hold.'),
  remark: text.describe('Why there were fewer cycles than asked for; null: nothing ended them early.'),
  simulatedSeconds: z.number().describe('Time that passed while machines waited for the end of a hold.'),
  bought: count,
  bound: count,
  preempted: count,
  drained: count,
  released: count,
  cost: WhatIfCost,
  costDifference: WhatIfCost.describe('To `cost.now` of the answer.'),
  needs,
  unmet: listed(WhatIfVerdict, 'Met now.'),
  met: listed(WhatIfVerdict, 'Unmet now.'),
});

export const WhatIfAnswerView = view('WhatIfAnswer', 'What would be decided, compared with now.', {
  atMs: timeMs,
  touched: z
    .object({ removed: count, repriced: count, added: count, needs: count })
    .describe('Machines and Needs that the changes are about.'),
  unmatched: z.array(z.string()).describe('Changes that match nothing, by their path.'),
  actions: z.object({
    ...sides(counts),
    added: listed(WhatIfAction, 'Not decided now.'),
    dropped: listed(WhatIfAction, 'Decided now only.'),
  }),
  cost: z.object({ ...sides(WhatIfCost), difference: WhatIfCost }),
  verdicts: z.object({
    ...sides(needs),
    unmet: listed(WhatIfVerdict, 'Met now.'),
    met: listed(WhatIfVerdict, 'Unmet now.'),
    changed: listed(WhatIfVerdict, 'Unmet now and after the changes, for another reason.'),
  }),
  disruption: z.object(sides(disruption)),
  settled: Settled.nullable().describe('null: not asked for.'),
});
