// Filters of a page. They are kept in its address, so that a view can be linked to and the way back works; the next page
// of a list is part of the address too.

import { useEffect, useState } from 'preact/hooks';
import { linkTo, type Place } from '../place.ts';
import { html, type VNode } from './html.ts';

export interface Filter {
  readonly name: string;
  readonly label: string;
  /** Choices by value; without them it is a text field. '' means all. */
  readonly choices?: readonly (readonly [value: string, label: string])[];
  readonly hint?: string;
}

function go(page: string, parts: readonly string[], query: Place['query']): void {
  location.hash = linkTo(page, parts, query);
}

/** A change of a filter starts the list over. */
export function Filters({
  place,
  filters,
}: {
  readonly place: Place;
  readonly filters: readonly Filter[];
}): VNode {
  const { page, parts, query } = place;
  const set = (name: string, value: string): void => {
    const { after: _, ...rest } = query;
    go(page, parts, { ...rest, [name]: value.trim() });
  };
  return html`<form class="filters" role="search" onSubmit=${(event: Event) => event.preventDefault()}>
    ${filters.map(
      ({ name, label, choices, hint }) =>
        html`<label>
          <span>${label}</span>
          ${
            choices === undefined
              ? html`<${TextFilter} name=${name} value=${query[name] ?? ''} hint=${hint ?? ''} set=${set} />`
              : html`<select name=${name} onChange=${(event: Event) => set(name, (event.target as HTMLSelectElement).value)}>
                  ${choices.map(([value, text]) => html`<option value=${value} selected=${value === (query[name] ?? '')}>${text}</option>`)}
                </select>`
          }
        </label>`,
    )}
  </form>`;
}

interface TextFilterProps {
  readonly name: string;
  /** That of the address. */
  readonly value: string;
  readonly hint: string;
  readonly set: (name: string, value: string) => void;
}

/** Keeps a draft until it is part of the address: meanwhile the page is rendered again about once a second. */
function TextFilter({ name, value, hint, set }: TextFilterProps): VNode {
  const [draft, setDraft] = useState<string | null>(null);
  useEffect(() => setDraft(null), [value]);
  const typed = (event: Event): string => (event.target as HTMLInputElement).value;
  const commit = (event: Event): void => {
    setDraft(typed(event).trim());
    set(name, typed(event));
  };
  return html`<input name=${name} value=${draft ?? value} placeholder=${hint} autocomplete="off" spellcheck=${false}
    onInput=${(event: Event) => setDraft(typed(event))} onChange=${commit} />`;
}

interface PagerProps {
  readonly place: Place;
  readonly next: string | null;
  readonly text: string;
}

/** Links to the first and the next page of a list. */
export function Pager({ place: { page, parts, query }, next, text }: PagerProps): VNode {
  const { after, ...rest } = query;
  return html`<p class="pager">
    <span>${text}</span>
    ${after === undefined ? null : html`<a href=${linkTo(page, parts, rest)}>First page</a>`}
    ${next === null ? null : html`<a rel="next" href=${linkTo(page, parts, { ...rest, after: next })}>Next page</a>`}
  </p>`;
}

/** The address of a list in the API, with these of the filters. */
export function apiPath(
  path: string,
  query: Place['query'],
  names: readonly string[],
  more: Readonly<Record<string, string>> = {},
): string {
  const given = names.flatMap((name) => (query[name] ? [[name, query[name]] as [string, string]] : []));
  return `${path}?${new URLSearchParams([...given, ...Object.entries(more)])}`;
}
