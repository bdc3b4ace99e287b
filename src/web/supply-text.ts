// Supply against demand, by kind of hardware, for the live views and `bigfleet get status`: what is served, on its way
// and missing of what Needs want, and how much of what serves them is used. A bar shows parts of what is wanted, so
// that it is full only when all of it is served; capacity beyond that is shown as a spare share, never as a fuller bar.

import type { Hardware, Status } from './feed.ts';
import { amount, amountsOf, byInterest, count, counted, measured, resourceName } from './figures.ts';
import { heldOnPurpose } from './plan-text.ts';

export interface SupplyGroup {
  /** `General`, `With gpu`. */
  readonly title: string;
  /** `5 of 81 Needs unmet`, `81 Needs met`, `81 Needs met by plan`. */
  readonly needText: string;
  /** A Need of this kind is not served now, so no part of a view may look as if all were well. */
  readonly isShort: boolean;
  /** `86 % used`; '' where nothing serves. */
  readonly usedText: string;
  /** `86 % of 4,888 cores used, 684 cores spare`. */
  readonly spareText: string;
  readonly rows: readonly SupplyRow[];
}

export interface SupplyRow {
  readonly resource: string;
  /** `cpu`, `gpu`. */
  readonly name: string;
  readonly isAccelerator: boolean;
  /** Shares of what is wanted, which add up to 1; all 0 if nothing is wanted. */
  readonly served: number;
  readonly coming: number;
  readonly unmet: number;
  /** `3,812 of 4,204 cores`. */
  readonly shortText: string;
  /** `3,812 of 4,204 cores served, 312 coming, 80 unmet`; `312 coming or held back` under a freeze or in a dry run. */
  readonly longText: string;
}

/** Kinds of hardware that a Need wants or that machines offer. */
export function supplyGroups({
  hardware,
  cycle,
}: Pick<Status, 'hardware'> & Partial<Pick<Status, 'cycle'>>): readonly SupplyGroup[] {
  // Verdicts count on the plan, so a plan that is not carried out looks like machines that are coming.
  const isHeld = heldOnPurpose(cycle?.heldBack ?? []).some(({ needs }) => needs > 0);
  return hardware
    .filter(({ needs, resources }) => needs > 0 || Object.keys(resources).length > 0)
    .map((each) => {
      const rows = byInterest(Object.keys(each.resources)).map((resource) => rowOf(resource, each, isHeld));
      const isPlanned = isHeld && rows.some(({ coming }) => coming > 0);
      return {
        title: titleOf(each, rows),
        needText: needText(each, isPlanned),
        isShort: each.unmetNeeds > 0 || isPlanned,
        ...usedText(each, rows),
        rows,
      };
    });
}

function titleOf({ kind }: Hardware, rows: readonly SupplyRow[]): string {
  if (kind === 'general') return 'General';
  const names = new Set(rows.filter(({ isAccelerator }) => isAccelerator).map(({ name }) => name));
  return kind === 'accelerated' && names.size > 0 ? `With ${[...names].join(', ')}` : kind;
}

function needText({ needs, unmetNeeds }: Hardware, isPlanned: boolean): string {
  // Needs that only the plan would meet are not served either, and are not counted.
  if (unmetNeeds > 0)
    return `${isPlanned ? 'at least ' : ''}${count(unmetNeeds)} of ${counted(needs, 'Need')} unmet`;
  return needs === 0 ? 'nothing wanted' : `${counted(needs, 'Need')} met${isPlanned ? ' by plan' : ''}`;
}

/** By the resource that machines of the kind are bought for: the accelerator, or cores. */
function usedText(
  { resources }: Hardware,
  rows: readonly SupplyRow[],
): Pick<SupplyGroup, 'usedText' | 'spareText'> {
  const main = rows.find(({ isAccelerator }) => isAccelerator) ?? rows[0];
  const { offered = 0, used = 0 } = main === undefined ? {} : resources[main.resource]!;
  if (main === undefined || offered === 0) return { usedText: '', spareText: '' };
  const { resource, name } = main;
  const share = percent(used / offered);
  const noun = (value: number) =>
    resource === 'cpu' ? measured(resource, value) : `${amount(resource, value)} ${name}`;
  return {
    usedText: `${share} % used`,
    spareText: `${share} % of ${noun(offered)} used, ${noun(offered - used)} spare`,
  };
}

/** Rounds to whole percent; 100 only for a share of at least 1. */
function percent(share: number): number {
  if (share >= 1) return 100;
  return Math.min(99, Math.round(share * 100));
}

function rowOf(resource: string, { kind, resources }: Hardware, isHeld: boolean): SupplyRow {
  const { wanted, served, coming, unmet } = resources[resource]!;
  const shareOf = (part: number): number => (wanted <= 0 ? 0 : Math.min(1, part / wanted));
  const shown = amountsOf(resource, wanted, [served, coming, unmet]);
  const unit = resource === 'cpu' ? (shown.total === '1' ? 'core' : 'cores') : shown.unit;
  const shortText = `${shown.parts[0]} of ${shown.total}${unit === '' ? '' : ` ${unit}`}`;
  const rest = [
    coming > 0 ? `${shown.parts[1]} coming${isHeld ? ' or held back' : ''}` : '',
    unmet > 0 ? `${shown.parts[2]} unmet` : '',
  ].filter((text) => text !== '');
  return {
    resource,
    name: resourceName(resource),
    // Names below a vendor's domain; those below kubernetes.io are ordinary resources.
    isAccelerator: kind === 'accelerated' && /(?<!kubernetes\.io)\//.test(resource),
    ...{ served: shareOf(served), coming: shareOf(coming), unmet: shareOf(unmet) },
    shortText,
    longText: [`${shortText} served`, ...rest].join(', '),
  };
}
