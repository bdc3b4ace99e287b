import { dirname } from 'node:path';
import { describe, expect, it } from 'vitest';
import { historyCommand } from '../../src/cli/journal/history.ts';
import { noPaint } from '../../src/cli/table.ts';
import type { ActionView, LossView } from '../../src/shard/views.ts';
import { fileAt, Recorded, withPath } from '../../testing/support/journal.ts';

const LOSER = { id: 'batch/00000000aa', cluster: 'batch', group: '', priority: 10 };
const TAKER = { id: 'ml/00000000bb', cluster: 'ml', group: 'g', priority: 900 };

const PREEMPTED: ActionView = {
  ...{ id: 'a', kind: 'Preempt', machine: 'm', provider: 'p', zone: 'za', capacityType: 'SPOT' },
  ...{ cluster: 'batch', need: TAKER, from: LOSER, leaving: null, reason: 'phase2.inversion' },
  ...{ startedMs: 1, acceptedMs: 2, endedMs: 3, outcome: 'success', errorClass: null },
  ...{ message: '', attempts: 1 },
};

function aLoss(machine: string): LossView {
  return {
    ...{ atMs: 1_001_000, loss: 'failed', machine, provider: 'p', zone: 'za', capacityType: 'SPOT' },
    ...{
      was: 'CONFIGURED',
      cluster: 'batch',
      need: LOSER,
      errorClass: 'host-failed',
      error: 'the host died',
    },
  };
}

/** Output of `bigfleet history` for a journal in which one machine was preempted and others were lost. */
function history(losses: number, ...args: readonly string[]): Promise<string> {
  return withPath(async (path) => {
    const file = fileAt(path);
    const recorded = new Recorded(file);
    recorded.cycle([]);
    recorded.recorder.event({ kind: 'action-ended', action: PREEMPTED });
    for (let i = 0; i < losses; i++) recorded.recorder.loss(aLoss(`m-${i}`));
    recorded.recorder.flush();
    file.close();
    let text = '';
    const out = (more: string): void => {
      text += more;
    };
    const io = { out, paint: noPaint, exitCode: () => {} };
    await historyCommand(io).parseAsync([...args, '--data-dir', dirname(path)], { from: 'user' });
    return text.replaceAll(/\n +/g, ' ');
  });
}

describe('bigfleet history', () => {
  it('given a machine that was preempted, then the history of the Need that lost it names the row that got it', async () => {
    const line =
      'preempted m (spot, za) from batch/00000000aa for ml/00000000bb: priority 900 goes before 10';
    expect(await history(0, 'need', LOSER.id)).toContain(line);
    expect(await history(0, 'need', TAKER.id)).toContain(line);
    expect(await history(0, 'need', 'batch/00000000cc')).toContain('nothing about');
  });

  it.each([
    ['machine', 'm-0'],
    ['cluster', 'batch'],
    ['need', LOSER.id],
  ])(
    'given a machine that was lost, then the history of its %s has the loss with its error',
    async (...subject) => {
      expect(await history(1, ...subject)).toContain(
        'lost m-0 (spot, za) of p, which served batch for batch/00000000aa: the host died',
      );
    },
  );

  it('given many machines that were lost together, then they are one line with their number', async () => {
    const text = await history(40, 'cluster', 'batch');
    expect(text).toContain('lost 40 machines in zone za of p within 1 s (batch 40): the host died');
    expect(text).not.toContain('m-7');
    expect(await history(40, 'machine', 'm-7')).toContain('lost m-7');
  });
});
