// Demand and supply by kind of hardware, as bars of what Needs want: served, coming and unmet.

import type { SupplyGroup, SupplyRow } from '../../supply-text.ts';
import { html, type VNode } from '../html.ts';

/** Least width of a part of a bar, in percent, so that a small part is visible. */
const MIN_PART_WIDTH = 1.5;

export function SupplyTable({ groups }: { readonly groups: readonly SupplyGroup[] }): VNode {
  return html`<table>
    <tbody id="supply">
      ${groups.map(({ title, needText, isShort, spareText, rows }) => [
        html`<tr class="kind">
          <th colspan="3" scope="rowgroup">
            <strong>${title}</strong> <span class=${isShort ? 'failed' : ''}>${needText}</span>${
              spareText === '' ? '' : `; ${spareText}`
            }
          </th>
        </tr>`,
        ...rows.map(
          (row) =>
            html`<tr>
              <th scope="row">${row.name}</th>
              <td><${StackedBar} row=${row} kind=${isShort ? 'short' : 'enough'} /></td>
              <td>${row.longText}</td>
            </tr>`,
        ),
      ])}
    </tbody>
  </table>`;
}

/** Served, coming and unmet, one behind the other: full only if all that is wanted is served. */
function StackedBar({ row, kind }: { readonly row: SupplyRow; readonly kind: string }): VNode {
  const missing = row.unmet > 0 ? Math.max(MIN_PART_WIDTH, row.unmet * 100) : 0;
  const soon = row.coming > 0 ? Math.max(MIN_PART_WIDTH, row.coming * 100) : 0;
  const now = Math.max(0, Math.min(row.served * 100, 100 - missing - soon));
  const part = (name: string, from: number, width: number): VNode | null =>
    width <= 0
      ? null
      : html`<rect class=${name} x=${`${rounded(from)}%`} width=${`${rounded(width)}%`} height="100%" />`;
  return html`<svg class=${`bar ${kind}`} aria-hidden="true">
    <rect class="track" width="100%" height="100%" rx="3" />
    ${part('fill', 0, now)}${part('coming', now, soon)}${part('unmet', 100 - missing, missing)}
  </svg>`;
}

function rounded(value: number): number {
  return Math.round(value * 100) / 100;
}
