// The fleet as a decision sees it: every column and every reading method, and nothing that writes. Types only: at run time
// the engine holds the fleet itself. A method of a table is invisible to the engine until it is named here.

import type { ChangeLog } from '../collections/changelog.ts';
import type { Changes } from '../collections/changes.ts';
import type { Slice, SliceArena } from '../collections/sorted-slices.ts';
import type { ColumnNames, ReadonlyColumns } from '../collections/table.ts';
import type { DemandLedger } from './demand/demand-ledger.ts';
import type { MachineTable } from './machines/machine-table.ts';
import type { ClassTable } from './tables/classes.ts';
import type { DomainTable } from './tables/domains.ts';
import type { KeyTable, NameTable } from './tables/names.ts';
import type { PatternTable } from './tables/patterns.ts';
import type { ProfileTable } from './tables/profiles.ts';
import type { StampTable } from './tables/stamps.ts';
import type { Dimensions, VectorColumn } from './tables/vectors.ts';

/** All columns of a table, and the members named. */
type View<T, Reads extends keyof T = never> = ReadonlyColumns<Pick<T, ColumnNames<T> | Reads>>;

export type SliceView = Readonly<Slice>;
type SlicesView = readonly (SliceView | undefined)[];
type ChangesView = Pick<Changes, 'watch'>;
type ChangeLogView = Pick<ChangeLog, 'since' | 'end'>;
type VectorView = View<VectorColumn, 'stride'>;

interface ClassView extends View<ClassTable, 'size' | 'version'> {
  readonly changes: ChangeLogView;
  readonly attributes: Readonly<ClassTable['attributes']>;
  readonly offered: Readonly<ClassTable['offered']>;
  readonly allocatable: VectorView;
}

interface MachineView
  extends View<
    MachineTable,
    | ('size' | 'count' | 'idOf' | 'slotOf' | 'stateOf' | 'keepOrder' | 'idOrder' | 'useAndPriceOrder')
    | (
        | 'unclaimedSinceAtLeastMs'
        | 'ownedBy'
        | 'inFlightTo'
        | 'countOf'
        | 'unblockedCountOf'
        | 'firstOf'
        | 'counts'
        | 'targeted'
        | 'isProtected'
        | 'protectedCount'
      )
  > {
  readonly stamps: View<StampTable> & Readonly<Pick<StampTable, 'losses'>>;
  readonly arena: View<SliceArena>;
  readonly idleSlices: SlicesView;
  readonly speculativeSlices: SlicesView;
  readonly specialIdle: SliceView;
  readonly configuredSlices: SlicesView;
  readonly idleClocks: SlicesView;
  readonly restocked: ChangeLogView;
  readonly counted: ChangeLogView;
  readonly written: ChangesView;
  readonly supplied: ChangesView;
  boundOf(cluster: number): { readonly configured: SliceView; readonly configuring: SliceView } | undefined;
  targetedAt(key: number): SliceView | undefined;
  targetedKeys(): Iterable<number>;
}

interface DemandView extends View<DemandLedger, 'count' | 'size' | 'rowsOf' | 'keyOf' | 'rowOf'> {
  readonly profiles: Pick<ProfileTable, 'version' | 'entries' | 'entryOf'>;
  readonly aggregate: VectorView;
  readonly minUnit: VectorView;
}

export interface FleetView {
  readonly dimensions: Readonly<Pick<Dimensions, 'count' | 'names' | 'stride' | 'nameOf' | 'vectorOf'>>;
  readonly clusters: Pick<NameTable, 'find' | 'nameOf' | 'size' | 'sorted' | 'placeOf'>;
  readonly keys: Pick<KeyTable, 'keyOf' | 'clusterOf' | 'compare' | 'size'>;
  readonly classes: ClassView;
  readonly patterns: Readonly<
    Pick<PatternTable, 'size' | 'version' | 'patternOf' | 'find' | 'list' | 'maskOf'>
  >;
  readonly domains: Pick<DomainTable, 'by'>;
  readonly changes: ChangesView;
  readonly reshaped: ChangesView;
  readonly machines: MachineView;
  readonly demand: DemandView;
  readonly revision: number;
}
