// Rows that the ledger cannot count: the rest of their cluster's demand is served, and the cluster keeps its machines.

import { describe, expect, it } from 'vitest';
import { record } from '../../../testing/support/actuation-scene.ts';
import { ControllerScene, NO_HOLD, SETTLED_MS } from '../../../testing/support/controller-scene.ts';
import { aNeed, resources, stampOf } from '../../../testing/support/fleets.ts';
import { MachineState } from '../../model/index.ts';

const { Configured, Idle } = MachineState;

/** Sixteen resource names, cpu among them. */
const SIXTEEN = resources({
  cpu: 4,
  ...Object.fromEntries(Array.from({ length: 15 }, (_, i) => [`r${i}`, 1])),
});
const ordinary = aNeed({ cluster: 'c1', priority: 100 });
const odd = aNeed({
  cluster: 'c1',
  priority: 100,
  group: 'odd',
  aggregate: resources({ 'example.com/odd\n': 1 }),
});

function sceneWith(...machines: Parameters<typeof record>[]): ControllerScene {
  const records = machines.map(([id, state, given]) => record(id, state, { resources: SIXTEEN, ...given }));
  return new ControllerScene(NO_HOLD).list(records).open('c1');
}

function drained(scene: ControllerScene): readonly string[] {
  return scene.of('call').flatMap(({ request, machine }) => (request.command === 'drain' ? [machine] : []));
}

describe('rows beyond the limit of the ledger', () => {
  it('given a resource too many, then the other rows are served and one log line has the number of the rest', () => {
    const scene = sceneWith(['m', Idle]).demand('c1', odd, ordinary).tick();
    expect(scene.of('ask-bootstrap').map(({ machine }) => machine)).toEqual(['m']);
    const line = { cluster: 'c1', count: 1, resource: 'example.com/odd\\u000a' };
    expect(scene.logged('rows-set-aside')).toEqual([line]);
    scene.demand('c1', odd, ordinary).tick(SETTLED_MS);
    expect(scene.logged('rows-set-aside')).toEqual([line]);
    expect(scene.logged('entry-refused')).toEqual([]);
  });

  it('given machines that no row counts on, then they stay while a row is set aside', () => {
    const scene = sceneWith(
      ['a', Configured, { cluster: 'c1', stamp: stampOf(ordinary) }],
      ['b', Configured, { cluster: 'c1', stamp: stampOf(ordinary) }],
    );
    scene.demand('c1', odd, ordinary).tick(SETTLED_MS);
    expect(drained(scene)).toEqual([]);
    scene.demand('c1', ordinary).tick(SETTLED_MS);
    expect(drained(scene)).toEqual(['b']);
    expect(scene.logged('rows-set-aside').map(({ count }) => count)).toEqual([1, 0]);
  });

  it('given a row that is set aside, then it is shown as unmet, with its reason and its machines', () => {
    const scene = sceneWith(['a', Configured, { cluster: 'c1', stamp: stampOf(odd) }]);
    scene.demand('c1', odd, ordinary).tick();
    const { items } = scene.controller.ask('needs', { onlyUnmet: true, limit: 10 });
    const aside = items.find(({ group }) => group === 'odd');
    expect(aside).toMatchObject({ reason: 'set-aside', claimed: 1, wants: {}, missing: {} });
    expect(scene.controller.ask('status', {})).toMatchObject({ shortfalls: 2 });
  });
});
