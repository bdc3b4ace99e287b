import { describe, expect, it } from 'vitest';
import { NEED, record, some } from '../../../../testing/support/actuation-scene.ts';
import { ControllerScene } from '../../../../testing/support/controller-scene.ts';
import { resources } from '../../../../testing/support/fleets.ts';
import { keyOf, MachineState } from '../../../model/index.ts';
import { DEFAULT_CONTROLLER } from '../options.ts';
import { needId } from './need-names.ts';

const { Speculative, Idle } = MachineState;
const THREE = { ...NEED, aggregate: resources({ cpu: 12 }) };

/** One machine to bind and two to buy for a Need of three. */
function scene(dryRun = false): ControllerScene {
  return new ControllerScene({ guardrails: { ...DEFAULT_CONTROLLER.guardrails, dryRun } })
    .open('c1')
    .list([
      record('i', Idle),
      record('s1', Speculative, { pricePerHour: 2 }),
      record('s2', Speculative, { pricePerHour: 3 }),
    ]);
}

describe('the actions that are held back', () => {
  it('given a frozen fleet, then each has its row, its price, and who froze it and why', () => {
    const frozen = scene();
    frozen.order({ kind: 'freeze', scope: { cluster: null, action: null }, who: 'ann', why: 'a look' });
    frozen.demand('c1', THREE).tick();

    const plan = frozen.controller.ask('plan', { limit: 10 });
    const freeze = { id: 'fleet', who: 'ann', why: 'a look' };
    const need = { id: needId(keyOf(NEED)), cluster: 'c1', group: '', priority: 100 };
    const held = { cluster: 'c1', provider: 'p', why: 'frozen', freeze, need, capacityType: 'ON_DEMAND' };
    expect(plan.actions).toMatchObject({
      total: 3,
      items: [
        { ...held, kind: 'Bootstrap', machine: 'i', reason: 'phase1.idle' },
        { ...held, kind: 'Provision', machine: 's1', reason: 'phase1.speculative', pricePerHour: 2 },
        { ...held, kind: 'Provision', machine: 's2', zone: 'za', pricePerHour: 3 },
      ],
    });
    const counts = { why: 'frozen', total: 3, needs: 1, kinds: { Bootstrap: 1, Provision: 2 } };
    expect(plan.heldBack).toEqual([{ ...counts, buysPerHour: 5, releasesPerHour: 0 }]);
    expect(frozen.cycles.at(-1)).toMatchObject({ heldBack: plan.heldBack, waiting: { frozen: 3 } });
    expect(frozen.of('call')).toEqual([]);
  });

  it('given a dry run, then each has that reason, and a machine to release saves its price', () => {
    const dry = scene(true).demand('c1', THREE).tick();
    expect(dry.controller.ask('plan', { limit: 10 })).toMatchObject({
      dryRun: true,
      heldBack: [{ why: 'dry-run', total: 3, buysPerHour: 5, releasesPerHour: 0 }],
    });
    dry.demand('c1').tick(24 * 3_600_000);
    expect(dry.controller.ask('plan', { limit: 10 })).toMatchObject({
      heldBack: [{ why: 'dry-run', kinds: { Delete: 1 }, buysPerHour: 0, releasesPerHour: 1 }],
      actions: { items: [{ kind: 'Delete', machine: 'i', need: null, freeze: null }] },
    });
  });

  it('given one frozen kind, then only that is held back, and nothing after the freeze', () => {
    const frozen = scene();
    frozen.order({ kind: 'freeze', scope: { cluster: null, action: 'Provision' }, who: 'ann', why: 'b' });
    frozen.demand('c1', THREE).tick();
    expect(frozen.controller.ask('plan', { limit: 10 })).toMatchObject({
      heldBack: [{ kinds: { Provision: 2 } }],
      actions: { items: [{ freeze: { id: 'action:Provision' } }, {}] },
    });
    frozen.order({ kind: 'unfreeze', id: 'action:Provision', who: 'ann' });
    frozen.tick();
    expect(frozen.controller.ask('plan', { limit: 10 })).toMatchObject({
      heldBack: [],
      actions: { total: 0 },
    });
  });

  it('given a cluster that is frozen by name, then the plan says that it has no actions', () => {
    const frozen = scene().freeze('c1').demand('c1', THREE).tick();
    expect(frozen.controller.ask('plan', { limit: 10 })).toMatchObject({
      heldBack: [],
      frozenClusters: [{ cluster: 'c1', unmet: 1 }],
    });
  });

  it('given filters or very many actions, then the counts cover all of them', () => {
    const many = new ControllerScene({ guardrails: { ...DEFAULT_CONTROLLER.guardrails, dryRun: true } }).open(
      'c1',
    );
    many
      .list(some(1200))
      .demand('c1', { ...NEED, aggregate: resources({ cpu: 4800 }) })
      .tick();
    const all = many.controller.ask('plan', { limit: 2000 });
    expect([all.actions.items.length, all.actions.total, all.heldBack[0]!.total]).toEqual([1000, 1200, 1200]);
    const one = many.controller.ask('plan', { limit: 10, machine: 'm-3' });
    expect([one.actions.total, one.heldBack[0]!.total]).toEqual([1, 1200]);
    expect(many.controller.ask('plan', { limit: 10, cluster: 'other' }).actions.total).toBe(0);
    expect(many.controller.ask('plan', { limit: 10 }).actions.next).toBe('10');
  });
});
