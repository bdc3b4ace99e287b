// Output of `bigfleet history` and `bigfleet replay` for people, from a journal written for the test.

import { dirname } from 'node:path';
import { describe, expect, it } from 'vitest';
import { timeOf } from '../../src/cli/flags.ts';
import { historyCommand } from '../../src/cli/journal/history.ts';
import { replayCommand } from '../../src/cli/journal/replay.ts';
import { LINE_WIDTH, noPaint } from '../../src/cli/table.ts';
import { keyOf, MachineState, wholeRollup } from '../../src/model/index.ts';
import { needId } from '../../src/shard/planning/queries/need-names.ts';
import { aMachine, aNeed, resources } from '../../testing/support/fleets.ts';
import { ALL_READY, aCycleView, fileAt, Recorded, withPath } from '../../testing/support/journal.ts';

const { Idle, Speculative } = MachineState;
const NEED = aNeed({
  cluster: 'web',
  aggregate: resources({ cpu: 4000 }),
  minUnit: resources({ cpu: 4000 }),
});
const MORE = { ...NEED, aggregate: resources({ cpu: 8000 }) };
const ID = needId(keyOf(NEED));

/** Runs a command on a journal with a short history of one machine, one Need and one cluster. */
function outputOf(command: typeof historyCommand, ...args: readonly string[]) {
  return withPath(async (path) => {
    const file = fileAt(path);
    const recorded = new Recorded(file);
    const { recorder } = recorded;
    const machine = aMachine('m', Speculative, { resources: resources({ cpu: 4000 }) });
    recorded.cycle([
      { kind: 'observe', machine, atMs: 1 },
      { kind: 'demand', delta: wholeRollup('web', [NEED]) },
    ]);
    recorder.event({
      kind: 'action-ended',
      action: {
        ...{
          id: 'a',
          kind: 'Provision',
          machine: 'm',
          provider: 'p',
          cluster: 'web',
          reason: 'phase1.speculative',
        },
        ...{ startedMs: 1, endedMs: 2, outcome: 'provider_error', message: 'no quota', attempts: 1 },
        need: { id: ID, cluster: 'web', group: '', priority: 0 },
      },
    });
    const order = {
      order: 'freeze',
      cluster: null,
      action: null,
      who: 'ann',
      why: 'a look',
      message: 'fleet is frozen.',
    };
    recorder.event({ kind: 'log', level: 'info', event: 'order', fields: order });
    recorder.needsChanged(
      [{ key: keyOf(NEED), priority: 0, reason: 'no-fitting-supply', deficit: resources({ cpu: 4000 }) }],
      recorded.nowMs,
    );
    const waiting = {
      kind: 'Delete',
      machine: 'm',
      cluster: '',
      reason: 'phase3.release',
      why: 'frozen',
    } as const;
    recorder.outcome(null, aCycleView(9, recorded.nowMs), [waiting]);
    recorder.outcome(null, aCycleView(9, recorded.nowMs), [waiting]);
    const idle = aMachine('m', Idle, { resources: resources({ cpu: 4000 }), pricePerHour: 2 });
    const offline = { ...ALL_READY, cannotBind: new Set(['web']) };
    recorded.cycle(
      [
        { kind: 'observe', machine: idle, atMs: 2 },
        { kind: 'demand', delta: wholeRollup('web', [MORE]) },
      ],
      offline,
    );
    recorded.cycle(
      [
        { kind: 'gone', id: 'm' },
        { kind: 'demand', delta: wholeRollup('web', []) },
      ],
      offline,
    );
    file.close();
    let text = '';
    let code = 0;
    const io = {
      out: (more: string) => {
        text += more;
      },
      paint: noPaint,
      exitCode: (n: number) => {
        code = n;
      },
    };
    await command(io).parseAsync([...args, '--data-dir', dirname(path)], { from: 'user' });
    return {
      lines: text
        .trimEnd()
        .split('\n')
        .map((line) => line.slice('2026-03-01T12:00:00.250Z  '.length)),
      text,
      code,
    };
  });
}

function isNarrow(text: string): boolean {
  return text.split('\n').every((line) => line.length <= LINE_WIDTH);
}

const STARTED = 'the shard started (epoch 1) and reads everything again';

describe('bigfleet history', () => {
  it('given a machine, then it prints its changes and actions with reasons', async () => {
    expect((await outputOf(historyCommand, 'machine', 'm')).lines).toEqual([
      STARTED,
      'is on record: Speculative, on-demand standard in za at $1.00 an hour',
      'failed to buy m for web: its provider refused (no quota)',
      'to release m was decided and held back: it is frozen',
      'Speculative → Idle; is now on-demand standard in za at $2.00 an hour: not',
      'by an action of this shard',
      'its provider no longer has it; it was Idle',
    ]);
  });

  it('given a Need, then it prints what it wanted and why it was not met', async () => {
    expect((await outputOf(historyCommand, 'need', ID)).lines).toEqual([
      STARTED,
      'its cluster wants cpu 4 at priority 0',
      'failed to buy m for web: its provider refused (no quota)',
      `Need ${ID} is not met: no machine that matches holds its largest`,
      'pod (4 cores missing)',
      'its cluster wants cpu 8, before cpu 4',
      'its cluster no longer reports it',
    ]);
  });

  it('given a cluster, then it prints its changes, including orders for the whole fleet', async () => {
    expect((await outputOf(historyCommand, 'cluster', 'web')).lines).toEqual([
      STARTED,
      'its demand changed: 1 Need, before 0',
      'failed to buy m for web: its provider refused (no quota)',
      'freeze by ann (a look): fleet is frozen.',
      `Need ${ID} is not met: no machine that matches holds its largest`,
      'pod (4 cores missing)',
      'its demand changed, 1 Need as before',
      'no machine can join now',
      'its demand changed: 0 Needs, before 1',
    ]);
  });

  it('given an entry longer than a line, then it continues below itself', async () => {
    const { text } = await outputOf(historyCommand, 'cluster', 'web');
    expect(isNarrow(text)).toBe(true);
    expect(text).toContain(`\n${' '.repeat('2026-03-01T12:00:00.250Z  '.length)}pod (4 cores`);
  });

  it('given a range of time, then only its entries are printed', async () => {
    const { text, code } = await outputOf(historyCommand, 'machine', 'm', '--to', '1970-01-01T00:00:01Z');
    expect(text).toBe('The journal has nothing about machine m in that time.\n');
    expect(code).toBe(1);
    expect(
      (await outputOf(historyCommand, 'machine', 'm', '--from', '1970-01-01T00:16:42Z')).lines,
    ).toHaveLength(3);
  });

  it('given -o json, then entries have all their fields', async () => {
    const items = JSON.parse((await outputOf(historyCommand, 'need', ID, '-o', 'json')).text) as object[];
    expect(items[1]).toMatchObject({
      kind: 'need-changed',
      before: null,
      after: { aggregate: { cpu: 4000 } },
    });
  });

  it('given a text that is not the id of a Need, then it is refused', async () => {
    await expect(outputOf(historyCommand, 'need', 'web')).rejects.toThrow(
      expect.objectContaining({ code: 'BF_USAGE' }),
    );
  });
});

describe('bigfleet replay', () => {
  it('given a journal, then it prints for every cycle whether the replay has the same digest', async () => {
    const { lines, text, code } = await outputOf(replayCommand);
    expect(code).toBe(0);
    expect(text).toMatch(/^epoch 1\n/);
    expect(lines[1]).toMatch(/^cycle 1 {2}ok {2}[0-9a-f]{16} {2}1 buy$/);
    expect(lines).toHaveLength(5);
    expect(isNarrow(text)).toBe(true);
  });

  it('given --plan without a cycle, or a cycle that is not in the journal, then it is refused', async () => {
    await expect(outputOf(replayCommand, '--plan')).rejects.toThrow(
      expect.objectContaining({ code: 'BF_USAGE' }),
    );
    await expect(outputOf(replayCommand, '--cycle', '77')).rejects.toThrow(
      expect.objectContaining({ code: 'BF_JOURNAL_RANGE' }),
    );
  });
});

describe('timeOf', () => {
  it('given a time or an age, then it is the time in milliseconds', () => {
    expect(timeOf('1970-01-01T00:00:02Z')).toBe(2000);
    expect(timeOf('10m', 1_000_000)).toBe(400_000);
    for (const text of ['', '10', '-5m', 'yesterday', '5'])
      expect(() => timeOf(text)).toThrow('It must be a time');
  });
});
