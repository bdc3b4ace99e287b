// Small parts that the pages share: sections, tables, chips, bars, links and pagers.

import { cutText } from '../figures.ts';
import { clusterLink, machineLink, needLink } from '../place.ts';
import { STATES } from '../sentences.ts';
import { type ComponentChildren, html, type VNode } from './html.ts';

interface SectionProps {
  readonly id: string;
  readonly title: string;
  /** `wide`: over all columns. */
  readonly kind?: 'wide' | '';
  readonly aside?: ComponentChildren;
  readonly children?: ComponentChildren;
}

export function Section({ id, title, kind = '', aside, children }: SectionProps): VNode {
  return html`<section class=${kind} aria-labelledby=${`${id}-title`}>
    <div class="section-head">
      <h2 id=${`${id}-title`}>${title}</h2>
      ${aside === undefined ? null : html`<div class="aside">${aside}</div>`}
    </div>
    ${children}
  </section>`;
}

export function Quiet({ children }: { readonly children?: ComponentChildren }): VNode {
  return html`<p class="quiet">${children}</p>`;
}

/** A bar without a label: the figure is shown beside it. */
export function Bar({ share, kind = '' }: { readonly share: number; readonly kind?: string }): VNode {
  const width = `${Math.round(Math.max(0, Math.min(1, share)) * 1000) / 10}%`;
  return html`<svg class=${`bar ${kind}`} aria-hidden="true">
    <rect class="track" width="100%" height="100%" rx="3" />
    <rect class="fill" width=${width} height="100%" rx="3" />
  </svg>`;
}

export function MachineLink({ id }: { readonly id: string }): VNode {
  return html`<a class="name" href=${machineLink(id)}>${id}</a>`;
}

export function ClusterLink({ name }: { readonly name: string }): VNode | null {
  return name === '' ? null : html`<a class="name" href=${clusterLink(name)}>${name}</a>`;
}

export function NeedLink({ id }: { readonly id: string }): VNode {
  return html`<a class="name" href=${needLink(id)}>${id}</a>`;
}

export function StateChip({ state }: { readonly state: string }): VNode {
  const known = STATES.find((each) => each.state === state);
  return html`<span class=${`chip state-${state.toLowerCase()}`} title=${known?.what ?? ''}>
    ${known?.label ?? state.toLowerCase()}
  </span>`;
}

interface TableProps {
  readonly id?: string;
  /** Of the columns; a title that starts with `#` is right-aligned, for figures. */
  readonly titles: readonly string[];
  readonly rows: readonly (readonly ComponentChildren[])[];
  readonly empty: string;
}

/** A table that scrolls inside its section where it is wider than that. */
export function Table({ id, titles, rows, empty }: TableProps): VNode {
  if (rows.length === 0) return html`<${Quiet}>${empty}<//>`;
  const isFigure = titles.map((title) => title.startsWith('#'));
  const cssClass = (i: number): string => (isFigure[i] === true ? 'figure' : '');
  return html`<div class="scroll" tabindex="0" role="region" aria-label=${titles.join(' ').replaceAll('#', '')}>
    <table>
      <thead>
        <tr>${titles.map((title, i) => html`<th scope="col" class=${cssClass(i)}>${title.replace('#', '')}</th>`)}</tr>
      </thead>
      <tbody id=${id}>
        ${rows.map(
          (cells) =>
            html`<tr>
              ${cells.map((cell, i) =>
                i === 0
                  ? html`<th scope="row" class=${cssClass(i)}>${cell}</th>`
                  : html`<td class=${cssClass(i)}>${cell}</td>`,
              )}
            </tr>`,
        )}
      </tbody>
    </table>
  </div>`;
}

/** Names with their values. */
export function Facts({
  facts,
}: {
  readonly facts: readonly (readonly [string, ComponentChildren])[];
}): VNode {
  const given = facts.filter(([, value]) => value !== '' && value !== null && value !== undefined);
  return html`<dl class="facts">
    ${given.map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}
  </dl>`;
}

interface LinesProps {
  readonly id?: string;
  readonly lines: readonly { readonly mood?: string; readonly text: ComponentChildren }[];
  readonly empty: string;
  readonly rest?: string;
}

/** A list of sentences; `mood` is `failed`, `doing` or `done`. */
export function Lines({ id, lines, empty, rest = '' }: LinesProps): VNode {
  return html`<ul class="lines" id=${id}>
    ${lines.map(({ mood = '', text }) => html`<li class=${mood}>${text}</li>`)}
    ${lines.length === 0 && empty !== '' ? html`<li class="quiet">${empty}</li>` : null}
    ${rest === '' ? null : html`<li class="quiet">${rest}</li>`}
  </ul>`;
}

export function restText(shown: number, total: number, noun: string, order: string): string {
  return cutText(shown, total, noun, order);
}

interface TileProps {
  readonly name: string;
  readonly value: string;
  readonly about?: string;
  readonly mood?: string;
  readonly href?: string;
}

/** One figure of the overview. */
export function Tile({ name, value, about = '', mood = '', href }: TileProps): VNode {
  const body = html`<span class="tile-name">${name}</span>
    <strong class=${mood}>${value}</strong>
    <span class="tile-about">${about}</span>`;
  return href === undefined
    ? html`<div class="tile">${body}</div>`
    : html`<a class="tile" href=${href}>${body}</a>`;
}
