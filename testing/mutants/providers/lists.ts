// Defects of lists: filters and limits that are not applied, wrong cursors. Listed in provider.ts.

import type { ProviderRpc } from '../../../src/provider/index.ts';
import type { ListFilter, MachineList } from '../../../src/wire/gen/bigfleet/v1alpha1/provider.ts';
import { RpcError, status } from '../../../src/wire/index.ts';
import { inCalls, type Mutant } from './mutant.ts';

type List = (filter: ListFilter) => Promise<MachineList>;

/** Wraps the kit's List. */
function listing(make: (list: List) => List): Mutant['build'] {
  return inCalls((kit): ProviderRpc => ({ ...kit, list: make(kit.list) }));
}

const NO_CURSOR = new Uint8Array(0);
const isDelta = ({ sinceRevision }: ListFilter) => sinceRevision.length > 0;
const textOf = (cursor: Uint8Array) => Buffer.from(cursor).toString('latin1');
const CURSOR = /^[0-9a-z]+\.[0-9]+$/;

export const LIST_MUTANTS: readonly Mutant[] = [
  {
    name: 'the states filter is ignored',
    area: 'lists',
    named: ['ListFiltersByState', 'B901'],
    build: listing((list) => (filter) => list({ ...filter, states: [] })),
  },
  {
    name: 'only the first state of the filter counts',
    area: 'lists',
    named: ['B901'],
    build: listing((list) => (filter) => list({ ...filter, states: filter.states.slice(0, 1) })),
  },
  {
    name: 'max_results is ignored',
    area: 'lists',
    named: ['ListMaxResults', 'B902', 'B907', 'B1103'],
    build: listing((list) => (filter) => list({ ...filter, maxResults: 0 })),
  },
  {
    name: 'a full list ends at 300',
    area: 'scale',
    named: ['B1101'],
    build: listing((list) => async (filter) => {
      const { machines, revision } = await list(filter);
      return { machines: machines.slice(0, 300), revision };
    }),
  },
  {
    name: 'a capped list has the same head every time',
    area: 'fencing',
    named: ['B302'],
    build: listing((list) => async (filter) => {
      if (isDelta(filter) || filter.maxResults <= 0) return await list(filter);
      const { machines, revision } = await list({ ...filter, maxResults: 0 });
      return { machines: machines.slice(0, filter.maxResults), revision };
    }),
  },
  {
    name: 'a list repeats a machine',
    area: 'lists',
    named: ['B901', 'B902'],
    build: listing((list) => async (filter) => {
      const { machines, revision } = await list(filter);
      return {
        machines: machines.length < 2 ? machines : [machines[0]!, machines[0]!, ...machines.slice(2)],
        revision,
      };
    }),
  },
  {
    name: 'the revision never moves',
    area: 'lists',
    named: ['ListRevisionAdvances', 'B903', 'B905'],
    build: listing((list) => {
      let first: Uint8Array | undefined;
      return async (filter) => {
        const { machines, revision } = await list(filter);
        first ??= revision;
        return { machines, revision: first };
      };
    }),
  },
  {
    name: 'machines change without a reason',
    area: 'lists',
    named: ['B904', 'B908', 'B909', 'B1102'],
    build: listing((list) => async (filter) => {
      const found = await list(filter);
      if (!isDelta(filter) || found.machines.length > 100) return found;
      const { machines } = await list({ ...filter, sinceRevision: NO_CURSOR, maxResults: 1 });
      const isNew = machines.every(({ id }) => found.machines.every((other) => other.id !== id));
      return isNew ? { ...found, machines: [...found.machines, ...machines] } : found;
    }),
  },
  {
    name: 'cursors are ignored',
    area: 'lists',
    named: ['B904', 'B908', 'B909', 'B1102'],
    build: listing((list) => (filter) => list({ ...filter, sinceRevision: NO_CURSOR })),
  },
  {
    name: 'a delta loses a change',
    area: 'lists',
    named: ['B905', 'B907', 'B1102'],
    build: listing((list) => async (filter) => {
      const { machines, revision } = await list(filter);
      return {
        machines:
          CURSOR.test(textOf(filter.sinceRevision)) && machines.length > 1 ? machines.slice(0, -1) : machines,
        revision,
      };
    }),
  },
  {
    name: 'a garbage cursor is an error',
    area: 'lists',
    named: ['B906', 'B909'],
    build: listing((list) => async (filter) => {
      if (!isDelta(filter) || CURSOR.test(textOf(filter.sinceRevision))) return await list(filter);
      throw new RpcError(status.INVALID_ARGUMENT, 'no cursor');
    }),
  },
  {
    name: 'a cursor is read leniently',
    area: 'lists',
    named: ['B909'],
    build: listing((list) => (filter) => {
      const [sinceRevision] = /^[0-9a-z]+\.[0-9]+/.exec(textOf(filter.sinceRevision)) ?? [];
      return list(
        sinceRevision === undefined ? filter : { ...filter, sinceRevision: Buffer.from(sinceRevision) },
      );
    }),
  },
  {
    name: 'no revisions at all',
    area: 'durability',
    named: ['B1005'],
    build: listing((list) => async (filter) => ({ ...(await list(filter)), revision: NO_CURSOR })),
  },
];
