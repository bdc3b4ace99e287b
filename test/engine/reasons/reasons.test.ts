// Why a Need is not met, situation by situation: the reason, the obstacles with their counts, the sentence and the
// advice, all derived by hand. Engine and oracle must agree on every one.

import { describe, expect, it } from 'vitest';
import { adviceOn, obstacleSentences } from '../../../src/cli/decide-obstacles.ts';
import { explain } from '../../../src/engine/index.ts';
import { fleetOf } from '../../../src/fleet/index.ts';
import { keyOf, keyText, MachineState, type NeedKey, unmetText } from '../../../src/model/index.ts';
import { obstacles as obstaclesOnOracle } from '../../../testing/oracle/oracle.ts';
import { anInput } from '../../../testing/support/fleets.ts';
import { onBoth } from '../compare.ts';
import { ONE_CAUSE } from './one-cause.ts';
import { SEVERAL_CAUSES } from './several-causes.ts';
import { BLOCKED, better, FAILURE, row, some } from './situation.ts';

const { Failed, Idle } = MachineState;

const SITUATIONS = [...ONE_CAUSE, ...SEVERAL_CAUSES];

describe('the reason why a Need is not met', () => {
  it('given the table of situations, then it has at least forty', () => {
    expect(SITUATIONS.length).toBeGreaterThanOrEqual(40);
  });

  it.each(SITUATIONS)('given $given, then $reason', (situation) => {
    const { machines, others = [], asked, options = {} } = situation;
    const given = anInput(machines, [...others, asked]);
    const input = { ...given, options: { ...given.options, ...options } };
    const plan = onBoth(input);
    const verdict = plan.verdicts.find(({ key }) => keyText(key) === keyText(keyOf(asked)))!;
    const explanation = explain(fleetOf(input), input.nowMs, input.options, keyOf(asked))!;
    const nameOf = ({ cluster }: NeedKey): string => cluster;
    const counted = Object.entries(explanation.obstacles.machines).filter(([, count]) => count > 0);
    const [advice = ''] = adviceOn(verdict, explanation, plan.verdicts[0]!.priority, nameOf);

    expect({
      reason: verdict.unmet?.reason,
      obstacles: Object.fromEntries(counted),
      own: explanation.obstacles.own,
      why: unmetText(verdict.unmet!.reason, verdict.unmet!.fitting),
      advice,
    }).toEqual({
      reason: situation.reason,
      obstacles: situation.obstacles,
      own: situation.own ?? 0,
      why: situation.why,
      advice: situation.advice,
    });
    expect(explanation.obstacles).toEqual(obstaclesOnOracle(input).get(keyText(keyOf(asked))));
    const listed = obstacleSentences(verdict, explanation, nameOf);
    expect(listed).toHaveLength(counted.length);
    expect(listed.join()).not.toMatch(/undefined|null|NaN/);
  });

  it('given several causes, then the one that would free the most machines is listed first, with the names of rows', () => {
    const asked = row(2);
    const machines = [
      ...some('m', 2, Idle),
      ...some('f', 3, Failed, FAILURE),
      ...some('h', 1, Idle, BLOCKED),
    ];
    const input = anInput(machines, [better, asked]);
    const explanation = explain(fleetOf(input), input.nowMs, input.options, keyOf(asked))!;
    const [, verdict] = onBoth(input).verdicts;
    expect(obstacleSentences(verdict!, explanation, ({ cluster }) => cluster)).toEqual([
      '3 have failed.',
      '2 are claimed by better-ranked rows: best (2 at priority 900).',
      '1 is blocked by back-off, quarantine, freeze or an empty stock.',
    ]);
  });
});
