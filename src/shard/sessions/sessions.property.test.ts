// Invariants of sessions and outstanding requests, over any sequence of connections, frames, stalls and effects.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { JOINING } from '../../../testing/support/session-defaults.ts';
import { bench, nodeState, type Operator, rollupOf } from '../../../testing/support/sessions.ts';
import type { ControllerEvent } from '../events.ts';

const CLUSTERS = ['c0', 'c1'];

type Step =
  | { readonly kind: 'hello'; readonly cluster: number }
  | { readonly kind: 'leave' | 'stall' | 'drain' | 'garbage'; readonly which: number }
  | { readonly kind: 'rollup'; readonly which: number; readonly rows: number }
  | { readonly kind: 'answer'; readonly which: number; readonly ask: number }
  | { readonly kind: 'ask' | 'withdraw'; readonly cluster: number; readonly ask: number }
  | { readonly kind: 'node'; readonly cluster: number }
  | { readonly kind: 'wait'; readonly ms: number };

const which = fc.nat(7);
const cluster = fc.nat(CLUSTERS.length - 1);
const ask = fc.nat(2);
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('hello' as const), cluster }) },
  fc.record({ kind: fc.constantFrom('leave' as const, 'stall', 'drain', 'drain', 'garbage'), which }),
  fc.record({ kind: fc.constant('rollup' as const), which, rows: fc.constantFrom(0, 1, 12, 13) }),
  fc.record({ kind: fc.constant('answer' as const), which, ask }),
  { weight: 2, arbitrary: fc.record({ kind: fc.constantFrom('ask' as const, 'withdraw'), cluster, ask }) },
  fc.record({ kind: fc.constant('node' as const), cluster }),
  fc.record({ kind: fc.constant('wait' as const), ms: fc.constantFrom(0, 1000, 61_000) }),
);

const idOf = (cluster: number, ask: number): string => `${cluster}${ask}`.padStart(16, '0');

/** Asserts that opened and closed alternate, numbers only grow, and no cluster has two sessions at a time. */
function checkSessions(events: readonly ControllerEvent[]): Map<string, number> {
  const open = new Map<string, number>();
  let last = 0;
  for (const event of events) {
    if (event.kind === 'session-opened') {
      expect(open.has(event.cluster)).toBe(false);
      expect(event.session).toBeGreaterThan(last);
      last = event.session;
      open.set(event.cluster, event.session);
    } else if (event.kind === 'session-closed') {
      expect(open.get(event.cluster)).toBe(event.session);
      open.delete(event.cluster);
    }
  }
  return open;
}

describe('sessions', () => {
  it('given any sequence of events, then opened and closed match, and outstanding requests are sent on every new session', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 50 }), async (steps) => {
        const { sessions, greet, clock, events } = await bench();
        const operators: Operator[] = [];
        /** Requests that are neither answered nor withdrawn, as the controller knows it. */
        const open = new Set<string>();
        const pick = (which: number): Operator | undefined => operators[which % operators.length];
        for (const step of steps) {
          if (step.kind === 'wait') await clock.advance(step.ms);
          else if (step.kind === 'hello') {
            const operator = greet(CLUSTERS[step.cluster]!);
            operators.push(operator);
            const asked = operator.got('bootstrapRequest').map(({ requestId }) => requestId);
            expect(asked.toSorted()).toEqual(
              [...open].filter((id) => id.at(-2) === `${step.cluster}`).toSorted(),
            );
          } else if (step.kind === 'node') {
            sessions.sendNodeState(CLUSTERS[step.cluster]!, nodeState('m1'));
          } else if ('which' in step) {
            const operator = pick(step.which);
            if (step.kind === 'leave') operator?.link.closed();
            if (step.kind === 'stall' && operator !== undefined) operator.room = 0;
            if (step.kind === 'drain') operator?.drain();
            if (step.kind === 'garbage') operator?.link.receive(new Uint8Array([0xff]));
            if (step.kind === 'rollup') operator?.rollup(rollupOf('c0', step.rows));
            if (step.kind === 'answer') operator?.answer(idOf(0, step.ask));
          } else {
            const [cluster, request] = [CLUSTERS[step.cluster]!, idOf(step.cluster, step.ask)];
            if (step.kind === 'withdraw') {
              sessions.withdrawBootstrap({ kind: 'withdraw-bootstrap', cluster, request });
              open.delete(request);
              continue;
            }
            const need = { cluster, fingerprint: 'f', group: '' };
            sessions.askBootstrap({
              kind: 'ask-bootstrap',
              cluster,
              request,
              machine: 'm1',
              need,
              requirements: [],
              joining: JOINING,
            });
            open.add(request);
          }
          for (const event of events) if (event.kind === 'bootstrap-answered') open.delete(event.request);
          events.splice(0, events.length, ...events.filter(({ kind }) => kind !== 'bootstrap-answered'));
          const connected = sessions.sessions.map(({ cluster, session }) => [cluster, session] as const);
          expect(checkSessions(events)).toEqual(new Map(connected));
        }
        sessions.close();
        expect(checkSessions(events).size).toBe(0);
        expect(clock.waiting).toBe(0);
      }),
    );
  });
});
