// Offerings of a backend: refused with all problems at once; a refresh updates only the fields that may change.

import { describe, expect, it } from 'vitest';
import {
  createOf,
  filter,
  HeldBackend,
  hostOf,
  offering,
  scene,
  turns,
  walk,
} from '../../../testing/support/provider-kit.ts';
import { MachineState } from '../../model/index.ts';
import type { Offering } from '../backend.ts';
import { OfferingCheck, OfferingsError } from './offering-check.ts';

function offeringProblems(offerings: readonly Offering[], requireZone: boolean) {
  const check = new OfferingCheck(offerings, requireZone);
  check.check(0, offerings.length);
  return check.problems;
}

describe('validation of offerings', () => {
  it('given valid offerings, then there are no problems', () => {
    const spot = offering('b', { capacityType: 4, interruptionProbability: 0.1, host: hostOf('b') });
    expect(offeringProblems([offering('a'), spot], true)).toEqual([]);
  });

  it.each([
    ['no id', { id: '' }, 'BF_MACHINE_ID_EMPTY'],
    ['a very long id', { id: 'x'.repeat(254) }, 'BF_MACHINE_LIMIT'],
    ['a very long zone', { zone: 'z'.repeat(64) }, 'BF_MACHINE_LIMIT'],
    ['a very long label', { labels: new Map([['k', 'v'.repeat(64)]]) }, 'BF_MACHINE_LIMIT'],
    ['no instance type', { instanceType: '' }, 'BF_OFFERING_TYPE'],
    ['no capacity type', { capacityType: 0 }, 'BF_MACHINE_CAPACITY_TYPE_UNKNOWN'],
    ['an unknown capacity type', { capacityType: 9 as 4 }, 'BF_MACHINE_CAPACITY_TYPE_UNKNOWN'],
    ['a negative price', { pricePerHour: -1 }, 'BF_MACHINE_PRICE'],
    ['a price that is not a number', { pricePerHour: Number.NaN }, 'BF_MACHINE_PRICE'],
    ['a probability above 1', { interruptionProbability: 1.5 }, 'BF_MACHINE_PROBABILITY'],
    ['a probability that is not a number', { interruptionProbability: Number.NaN }, 'BF_MACHINE_PROBABILITY'],
    ['spot that is never interrupted', { capacityType: 4 }, 'BF_MACHINE_PROBABILITY'],
    ['a host without a name', { host: { provider: 'p', ref: '' } }, 'BF_MACHINE_HOST_MISSING'],
    ['a negative amount', { resources: new Map([['cpu', -1]]) }, 'BF_QUANTITY_NEGATIVE'],
    ['half a byte', { allocatable: new Map([['memory', 0.5]]) }, 'BF_QUANTITY_SYNTAX'],
    ['an amount above the exact range', { resources: new Map([['cpu', 2 ** 60]]) }, 'BF_QUANTITY_OVERFLOW'],
    ['a resource without a name', { resources: new Map([['', 1]]) }, 'BF_RESOURCE_NAME'],
    [
      'a label with the name of a field',
      { labels: new Map([['capacity-type', 'spot']]) },
      'BF_OFFERING_LABEL',
    ],
  ] as const)('given %s, then that is the only problem', (_name, changes, code) => {
    expect(offeringProblems([offering('a', changes)], false).map((problem) => problem.code)).toEqual([code]);
  });

  it('given a missing zone, then it is a problem if zones are required or another offering has one', () => {
    const nowhere = offering('a', { zone: '' });
    expect(offeringProblems([nowhere], false)).toEqual([]);
    expect(offeringProblems([nowhere], true)).toMatchObject([{ code: 'BF_OFFERING_ZONE' }]);
    expect(offeringProblems([nowhere, offering('b')], false)).toMatchObject([
      { code: 'BF_OFFERING_ZONE', path: 'offerings[0](a).zone' },
    ]);
  });

  it('given several invalid offerings, when a provider opens, then all problems are reported', async () => {
    const backend = new HeldBackend([offering('a', { pricePerHour: -1 }), offering('b'), offering('b')]);
    const error = await scene({ backend }).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(OfferingsError);
    expect((error as OfferingsError).problems.map(({ code, path }) => `${code} ${path}`)).toEqual([
      'BF_MACHINE_PRICE offerings[0](a).pricePerHour',
      'BF_OFFERING_DUPLICATE offerings[2](b).id',
    ]);
  });
});

describe('a refresh of offerings', () => {
  it('given new prices, sizes, labels and machines, then only those are updated, each with a new revision', async () => {
    const given = await scene({ backend: new HeldBackend(2) });
    const bound = await walk(given, 'm-0', 'Configured');
    const { revision } = await given.provider.list(filter());
    given.backend.offerings = [
      offering('m-0', {
        pricePerHour: 9,
        interruptionProbability: 0.5,
        resources: new Map([['cpu', 1000]]),
        allocatable: new Map([['cpu', 900]]),
        labels: new Map([['rack', 'r2']]),
        instanceType: 'other',
        zone: 'other',
        capacityType: 1,
        host: hostOf('other'),
      }),
      offering('m-9'),
    ];
    expect(await given.provider.refresh()).toEqual({ added: 1, changed: 1, unchanged: 0 });
    expect(await given.provider.get({ id: 'm-0' })).toEqual({
      ...bound,
      pricePerHour: 9,
      interruptionProbability: 0.5,
      resources: { resources: new Map([['cpu', '1']]) },
      allocatable: { resources: new Map([['cpu', '900m']]) },
      labels: new Map([['rack', 'r2']]),
    });
    const delta = await given.provider.list(filter({ sinceRevision: revision }));
    expect(delta.machines.map(({ id }) => id).sort()).toEqual(['m-0', 'm-9']);
    expect((await given.provider.get({ id: 'm-1' })).state).toBe(MachineState.Speculative);
  });

  it('given only another order of labels and another zone, then the revision is unchanged', async () => {
    const labels = [
      ['a', '1'],
      ['b', '2'],
    ] as const;
    const given = await scene({ backend: new HeldBackend([offering('m-0', { labels: new Map(labels) })]) });
    const { revision } = await given.provider.list(filter());
    given.backend.offerings = [offering('m-0', { labels: new Map(labels.toReversed()), zone: 'other' })];
    expect(await given.provider.refresh()).toEqual({ added: 0, changed: 0, unchanged: 1 });
    expect((await given.provider.list(filter())).revision).toEqual(revision);
  });

  it('given an invalid offering, then all are refused and the previous ones are kept', async () => {
    const given = await scene({ backend: new HeldBackend(1) });
    const before = await given.provider.list(filter());
    given.backend.offerings = [offering('m-0', { pricePerHour: 5 }), offering('m-1', { pricePerHour: -1 })];
    await expect(given.provider.refresh()).rejects.toBeInstanceOf(OfferingsError);
    expect(await given.provider.list(filter())).toEqual(before);
  });

  it('given a transition in progress, then it completes and the offering is updated', async () => {
    const given = await scene({ backend: new HeldBackend(1) });
    await given.provider.create(createOf('m-0'));
    given.backend.offerings = [offering('m-0', { pricePerHour: 5 })];
    await given.provider.refresh();
    given.backend.last.succeed();
    await turns();
    expect(await given.provider.get({ id: 'm-0' })).toMatchObject({
      state: MachineState.Idle,
      pricePerHour: 5,
    });
  });

  it('given a backend that does not answer, then the refresh fails after 30 s', async () => {
    const given = await scene();
    let signal: AbortSignal | undefined;
    given.backend.describe = (given?: AbortSignal) => {
      signal = given;
      return new Promise(() => {});
    };
    const refused = expect(given.provider.refresh()).rejects.toThrow('within 30 s');
    await given.clock.advance(30_000);
    await refused;
    expect(signal?.aborted).toBe(true);
  });
});
