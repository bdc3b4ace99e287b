// The thread of what-if questions, with a controller that feeds a small ledger.

import { afterEach, describe, expect, it, vi } from 'vitest';
import { aMachine, aNeed, anInput, resources } from '../../../testing/support/fleets.ts';
import { fleetOf } from '../../fleet/index.ts';
import { keyOf, MachineState } from '../../model/index.ts';
import { requireValid } from '../../runtime/validation.ts';
import { WHAT_IF_REQUEST } from '../../whatif/request.ts';
import type { ControllerPort } from '../events.ts';
import type { MachineLedger } from '../inventory/machine-ledger.ts';
import { needId } from '../planning/queries/need-names.ts';
import { ReplicaFeed } from '../planning/replica-feed.ts';
import type { ShardEvent } from '../views.ts';
import { newPacing, Pacing } from './pacing.ts';
import { WhatIfService } from './what-if-service.ts';

const INPUT = anInput(
  [aMachine('m1', MachineState.Speculative, { resources: resources({ cpu: 4 }), pricePerHour: 1 })],
  [aNeed({ aggregate: resources({ cpu: 4 }), minUnit: resources({ cpu: 1 }) })],
);
const NEED_ID = needId(keyOf(INPUT.needs[0]!));
const requestOf = (document: object) =>
  requireValid(WHAT_IF_REQUEST, document, 'BF_INPUT_INVALID', 'request');
const REQUEST = requestOf({ changes: { without: [{ name: '*' }] } });

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const clean of cleanups.splice(0)) await clean();
});

function scene({
  hasDecided = true,
  pacing = newPacing(),
  /** Parts of the replica that are the last one of it; by default all. */
  wholeParts = Number.POSITIVE_INFINITY,
  limits = {},
} = {}) {
  const fleet = fleetOf(INPUT);
  const ledger = { fleet, ownerOf: () => 'cloud', particularsOf: () => ({ host: null }) };
  const feed = new ReplicaFeed(ledger as unknown as MachineLedger, 0);
  const { nowMs: atMs, options } = INPUT;
  let parts = 0;
  const ask = vi.fn(async () => {
    const part = feed.next(atMs, hasDecided ? { atMs, options } : null);
    return { ...part, isWhole: part.isWhole && ++parts <= wholeParts };
  });
  const listeners = new Set<(event: ShardEvent) => void>();
  const listen = (listener: (event: ShardEvent) => void): (() => void) => {
    listeners.add(listener);
    return () => listeners.delete(listener);
  };
  const service = new WhatIfService({ ask, listen } as unknown as ControllerPort, pacing, limits);
  cleanups.push(() => service.close());
  return { service, ask, listeners };
}

function started(how: Parameters<typeof scene>[0] = {}): WhatIfService {
  return scene(how).service;
}

const CYCLE = { kind: 'cycle' } as ShardEvent;

const MOST_TRIES = 2000;

/** The answer once the fleet has been copied. */
async function patiently<T>(ask: () => Promise<T>, untilNot = 'being copied'): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await ask();
    } catch (error) {
      if (!String(error).includes(untilNot) || tries === MOST_TRIES) throw error;
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  }
}

/** Asks while a cycle of the controller runs, lets each wait of the thread end alone, and counts them. */
async function askedDuringCycle<T>(pacing: Int32Array, ask: () => Promise<T>): Promise<[T, number]> {
  Atomics.store(pacing, Pacing.Running, 1);
  let isAnswered = false;
  let waits = 0;
  const asked = ask().finally(() => {
    isAnswered = true;
  });
  while (!isAnswered) {
    waits += Atomics.notify(pacing, Pacing.Running);
    await new Promise((resolve) => setImmediate(resolve));
  }
  Atomics.store(pacing, Pacing.Running, 0);
  Atomics.notify(pacing, Pacing.Running);
  return [await asked, waits];
}

describe('the thread of what-if questions', () => {
  it('answers about the ledger of the controller', async () => {
    // Given
    const service = started();
    // When
    const { touched, actions } = await patiently(() => service.whatIf(REQUEST));
    // Then
    expect(touched.removed).toBe(1);
    expect(actions).toMatchObject({ now: { Provision: 1 }, after: { Provision: 0 } });
  });

  it('refuses a question while another one is being answered', async () => {
    // Given
    const service = started();
    await patiently(() => service.whatIf(REQUEST));
    // When
    const first = service.whatIf(REQUEST);
    // Then
    await expect(service.whatIf(REQUEST)).rejects.toMatchObject({ code: 'BF_WHATIF_BUSY' });
    await expect(first).resolves.toMatchObject({ settled: null });
  });

  it('waits for the end of a cycle before each phase of each decision of a fleet that settles', async () => {
    // Given
    const pacing = newPacing();
    const service = started({ pacing });
    await patiently(() => service.whatIf(REQUEST));
    const [, waitsOfDecision] = await askedDuringCycle(pacing, () =>
      service.whatIf(requestOf({ changes: {} })),
    );
    // When
    const [{ settled }, waits] = await askedDuringCycle(pacing, () =>
      service.whatIf(requestOf({ changes: {}, settle: true })),
    );
    // Then each further cycle has at least these phases: credit, acquire, preempt, reclaim, plan
    expect(settled).toMatchObject({ cycles: 2, isQuiet: true, bought: 1, bound: 1 });
    expect(waits - waitsOfDecision).toBeGreaterThanOrEqual(2 * 5);
  });

  it('given that the time to settle is over, then it answers with the cycles so far and says so', async () => {
    // Given
    const service = started({ limits: { settleMs: 0 } });
    // When
    const { settled } = await patiently(() => service.whatIf(requestOf({ changes: {}, settle: true })));
    // Then
    expect(settled).toMatchObject({ cycles: 0, isQuiet: false, bought: 0 });
    expect(settled!.remark).toContain('The time for an answer was over');
  });

  it('follows the ledger after each cycle, except while a question is answered', async () => {
    // Given
    const { service, ask, listeners } = scene();
    const [listener] = await patiently(() => service.whatIf(REQUEST)).then(() => [...listeners]);
    const part = ask.getMockImplementation()!;
    const parts = async (): Promise<void> => await new Promise((resolve) => setImmediate(resolve));
    ask.mockClear().mockImplementationOnce(async () => ({ ...(await part()), isWhole: false }));
    // When
    listener!(CYCLE);
    await parts();
    // Then the first part was not the last one
    expect(ask).toHaveBeenCalledTimes(2);
    listener!(CYCLE);
    await parts();
    expect(ask).toHaveBeenCalledTimes(3);
    ask.mockClear();
    const answer = service.whatIf(REQUEST);
    listener!(CYCLE);
    expect(ask).not.toHaveBeenCalled();
    await answer;
    ask.mockClear();
    listener!({ kind: 'log' } as ShardEvent);
    expect(ask).not.toHaveBeenCalled();
  });

  it('given that its thread has ended, then it follows no longer', async () => {
    // Given
    const { service, listeners } = scene();
    await patiently(() => service.whatIf(REQUEST));
    expect(listeners.size).toBe(1);
    // When
    await service.close();
    // Then
    expect(listeners.size).toBe(0);
  });

  it('given a replica that does not become whole again, then it is busy instead of asking it', async () => {
    // Given
    const service = started({ wholeParts: 1, limits: { updateMs: 20 } });
    // When
    const answer = patiently(() => service.whatIf(REQUEST));
    // Then
    await expect(answer).rejects.toMatchObject({ code: 'BF_WHATIF_BUSY' });
    await expect(answer).rejects.toThrow('changes faster than it is copied');
  });

  it('finds what keeps machines from a Need, and waits for the end of a cycle after each phase', async () => {
    // Given
    const pacing = newPacing();
    const service = started({ pacing });
    await patiently(() => service.findings(NEED_ID));
    // When
    const [found, waits] = await askedDuringCycle(pacing, () => service.findings(NEED_ID));
    // Then the phases are normalise, credit, acquire and preempt
    expect(found).toMatchObject({
      verdict: { satisfied: true },
      ids: { own: ['m1'], failed: [], blocked: [] },
    });
    expect(waits).toBeGreaterThanOrEqual(4);
  });

  it('given a Need that the replica does not have, or no decision, then it finds nothing', async () => {
    const service = started();
    await expect(patiently(() => service.findings('c1/0000000000'))).resolves.toBeNull();
    const undecided = started({ hasDecided: false });
    await expect(patiently(() => undecided.findings(NEED_ID))).resolves.toBeNull();
  });

  it('given a question that is being answered, then it is busy for a Need, too', async () => {
    // Given
    const service = started();
    await patiently(() => service.whatIf(REQUEST));
    // When
    const first = service.whatIf(REQUEST);
    // Then
    await expect(service.findings(NEED_ID)).rejects.toMatchObject({ code: 'BF_WHATIF_BUSY' });
    await first;
  });

  it('has no answer before the first decision', async () => {
    const service = started({ hasDecided: false });
    await expect(patiently(() => service.whatIf(REQUEST))).rejects.toMatchObject({ code: 'BF_WHATIF_BUSY' });
  });

  it('exports a scenario in pieces', async () => {
    // Given
    const service = started();
    let text = '';
    // When
    await patiently(() =>
      service.export(async (piece) => {
        text += piece;
      }),
    );
    // Then
    expect(JSON.parse(text)).toMatchObject({ machines: [{ id: 'm1' }], needs: [{}] });
  });

  it('given an export whose reader does not read, then questions are answered, and the export goes on afterwards', async () => {
    // Given
    const service = started();
    await patiently(() => service.whatIf(REQUEST));
    const hasBegun = Promise.withResolvers<void>();
    const isRead = Promise.withResolvers<void>();
    let text = '';
    const exported = service.export(async (piece) => {
      hasBegun.resolve();
      await isRead.promise;
      text += piece;
    });
    await hasBegun.promise;
    // When
    const { touched } = await patiently(() => service.whatIf(REQUEST), 'is being answered');
    // Then
    expect(touched.removed).toBe(1);
    await expect(service.export(async () => {})).rejects.toThrow('Another export');
    isRead.resolve();
    await exported;
    expect(JSON.parse(text)).toMatchObject({ machines: [{ id: 'm1' }], needs: [{}] });
  });

  it('given an export whose reader is given up, then the next question is answered', async () => {
    // Given
    const service = started();
    const givenUp = patiently(() =>
      service.export(async () => {
        throw new Error('The reader does not read.');
      }),
    );
    await expect(givenUp).rejects.toThrow('does not read');
    // Then
    await expect(service.whatIf(REQUEST)).resolves.toMatchObject({ settled: null });
  });
});
