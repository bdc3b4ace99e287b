// Why a Need is not met, situation by situation: the reason, what keeps machines from it with the counts, the sentence and the
// advice, all worked out by hand. Engine and oracle must agree on every one.

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

describe('why a Need is not met', () => {
  it('has at least forty situations', () => {
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

  it('given several causes, then the list begins with the one that would free the most, with names', () => {
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
