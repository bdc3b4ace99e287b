// Behaviours of List and revision, listed by harness/registry.ts: filters, caps, and cursors that a shard can rely on
// to miss nothing.

import { MachineState } from '../../../model/index.ts';
import type { Machine, MachineList } from '../../../wire/gen/bigfleet/v1alpha1/provider.ts';
import { type Behaviour, inArea } from '../harness/behaviour.ts';
import { textOfCursor } from '../harness/calls.ts';
import { demand, differ, hasState } from '../harness/expect.ts';
import type { Trial } from '../harness/trial.ts';

const behaviour = inArea('lists', 'core', 'core');
const { Speculative, Idle, Configured } = MachineState;
const STATES = Object.values(MachineState);

export const LISTS: readonly Behaviour[] = [
  behaviour('B901', 'states filter, and several states are their union', async (trial) => {
    await trial.idle();
    await trial.configured();
    const byState = new Map<MachineState, readonly string[]>();
    for (const state of STATES) {
      const { machines } = await trial.list({ states: [state] });
      for (const machine of machines) hasState(`${machine.id} in a List of one state`, machine, state);
      isDistinct(machines);
      byState.set(state, idsOf(machines));
    }
    const wanted = [Speculative, Idle, Configured];
    const { machines } = await trial.list({ states: wanted });
    isDistinct(machines);
    isSameSet(
      'List of three states',
      wanted.flatMap((state) => byState.get(state)!),
      idsOf(machines),
    );
  }),
  behaviour('B902', 'a cap is never exceeded, and none means all', async (trial) => {
    const all = idsOf((await trial.list()).machines);
    for (const max of [1, 2, 3]) {
      const { machines } = await trial.list({ max });
      demand(machines.length <= max, `at most ${max} machines`, `${machines.length}`);
      demand(machines.length > 0, `some machine under a cap of ${max}`, 'none');
      isDistinct(machines);
      isWithin(`List(max ${max})`, all, idsOf(machines));
    }
    const uncapped = (await trial.list({ max: 0 })).machines.length;
    demand(uncapped === all.length, `${all.length} machines without a cap`, `${uncapped}`);
  }),
  behaviour('B903', 'a transition shows in the delta', async (trial) => {
    const before = await trial.cursor();
    const id = await trial.idle();
    isMoved(before, await trial.cursor());
    holds(await trial.list({ since: before }), [id]);
  }),
  behaviour('B904', 'without a change the delta is empty', async (trial) => {
    await trial.cursor();
    await trial.idle();
    isEmpty(await trial.list({ since: await trial.cursor() }));
  }),
  behaviour('B905', 'every delta holds all that changed after its cursor', async (trial) => {
    const changed: string[] = [];
    const cursors = [await trial.cursor()];
    const settled = async (id: string) => {
      changed.push(id);
      cursors.push(await trial.cursor());
    };
    const first = await trial.idle();
    await settled(first);
    await settled(await trial.idle());
    await trial.configure(first, trial.binding());
    await settled(first);
    await trial.drain(first, 5);
    await settled(first);
    differ(
      'revisions after four changes',
      cursors.map((cursor) => Buffer.from(cursor).toString('latin1')),
    );
    for (const [k, since] of cursors.entries()) holds(await trial.list({ since }), changed.slice(k));
  }),
  behaviour('B906', 'a cursor that the provider never returned means the full list', async (trial) => {
    const all = (await trial.list()).machines.length;
    const junk: readonly [name: string, since: Uint8Array][] = [
      ['an empty cursor', new Uint8Array(0)],
      ['a text', bytes('not-a-cursor')],
      ['binary', Uint8Array.from([0, 255, 1, 254, 2, 253])],
      ['4 KiB of junk', Uint8Array.from({ length: 4096 }, (_, i) => (i * 31 + 7) % 256)],
    ];
    for (const [name, since] of junk) await isFull(trial, name, since, all);
  }),
  behaviour('B907', 'a capped delta is part of the whole delta', async (trial) => {
    const since = await trial.cursor();
    const ids = await trial.several(5, () => trial.idle());
    const whole = await trial.list({ since });
    holds(whole, ids);
    await pagesFit(trial, 2, since, idsOf(whole.machines));
  }),
  behaviour('B908', 'time alone changes nothing', async (trial) => {
    const since = await trial.cursor();
    const until = performance.now() + trial.timings.quietMs;
    for (let isOver = false; ; ) {
      isEmpty(await trial.list({ since }));
      if (isOver) return;
      isOver = performance.now() >= until;
      await trial.pause(trial.timings.pollMs * 4);
    }
  }),
  behaviour('B909', 'a cursor is read to the letter', async (trial) => {
    await trial.idle();
    const cursor = await trial.cursor();
    const all = (await trial.list()).machines;
    isEmpty(await trial.list({ since: cursor }));
    const spoilt: readonly [name: string, since: Uint8Array][] = [
      ['the cursor and "!"', Buffer.concat([cursor, bytes('!')])],
      ['"~" and the cursor', Buffer.concat([bytes('~'), cursor])],
      ['the cursor and 00 FF', Buffer.concat([cursor, Uint8Array.from([0, 255])])],
      // Inputs that lenient number parsers accept.
      ['the cursor and a space', Buffer.concat([cursor, bytes(' ')])],
      ['a line end and the cursor', Buffer.concat([bytes('\n'), cursor])],
    ];
    for (const [name, since] of spoilt) await isFull(trial, name, since, all.length);
    const flipped = Uint8Array.from(cursor);
    flipped[flipped.length - 1]! ^= 1;
    const { machines } = await trial.list({ since: flipped });
    isWithin('List since a flipped cursor', idsOf(all), idsOf(machines));
  }),
];

const bytes = (text: string) => new TextEncoder().encode(text);

function idsOf(machines: readonly Machine[]): readonly string[] {
  return machines.map(({ id }) => id);
}

export function isDistinct(machines: readonly Machine[]): void {
  const distinct = new Set(idsOf(machines)).size;
  demand(distinct === machines.length, 'every id once', `${machines.length} records of ${distinct} machines`);
}

function isWithin(what: string, all: readonly string[], ids: readonly string[]): void {
  const known = new Set(all);
  const strange = ids.filter((id) => !known.has(id));
  demand(strange.length === 0, `${what} to be part of the whole`, `also ${strange.slice(0, 3).join(', ')}`);
}

export function isSameSet(what: string, expected: readonly string[], came: readonly string[]): void {
  isWithin(what, expected, came);
  const found = new Set(came);
  const missing = expected.filter((id) => !found.has(id));
  demand(missing.length === 0, `${what} to be complete`, `${missing.length} missing, such as ${missing[0]}`);
}

function isMoved(before: Uint8Array, after: Uint8Array): void {
  demand(
    !Buffer.from(before).equals(after),
    'a new revision after a change',
    `still ${textOfCursor(before)}`,
  );
}

function isEmpty({ machines }: Pick<MachineList, 'machines'>): void {
  const some = idsOf(machines).slice(0, 3).join(', ');
  demand(
    machines.length === 0,
    'an empty delta of an unchanged fleet',
    `${machines.length} machines: ${some}`,
  );
}

function holds({ machines }: Pick<MachineList, 'machines'>, ids: readonly string[]): void {
  const found = new Set(idsOf(machines));
  const missing = ids.filter((id) => !found.has(id));
  demand(missing.length === 0, 'the delta to hold all that changed', `no ${missing.join(', ')}`);
}

async function isFull(trial: Trial, name: string, since: Uint8Array, count: number): Promise<void> {
  const { machines } = await trial.list({ since });
  demand(machines.length === count, `the full list of ${count} since ${name}`, `${machines.length} machines`);
}

/**
 * Follows capped pages by the cursor each returns. If that is the head, the second page is empty and no more can be
 * checked; if it continues, the pages together must be the complete list.
 */
export async function pagesFit(
  trial: Trial,
  max: number,
  since: Uint8Array,
  whole: readonly string[],
): Promise<void> {
  const seen: Machine[] = [];
  let cursor = since;
  for (let page = 0; ; page++) {
    const { machines, revision } = await trial.list({ max, since: cursor });
    demand(machines.length <= max, `a page of at most ${max}`, `${machines.length} machines`);
    seen.push(...machines);
    isDistinct(seen);
    isWithin('the pages', whole, idsOf(seen));
    const isOver = machines.length === 0 || Buffer.from(cursor).equals(revision) || revision.length === 0;
    if (isOver && page <= 1) return;
    if (isOver) break;
    cursor = revision;
  }
  isSameSet('continued pages', whole, idsOf(seen));
}
