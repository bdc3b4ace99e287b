// The frame of the dashboard: navigation, search, theme, notices, and the page that the address names.

import { useEffect, useErrorBoundary, useState } from 'preact/hooks';
import { type Place, placeOf, placeOfName } from '../place.ts';
import { html, type VNode } from './html.ts';
import { listenToKeys, PAGES } from './keys.ts';
import { logout } from './requests.ts';
import { type PageState, store } from './store.ts';
import { nextTheme, setTheme, themeLabel, useTheme } from './theme.ts';
import { ClusterPage, Clusters } from './views/clusters.ts';
import { Controls } from './views/controls.ts';
import { CostPage } from './views/cost.ts';
import { CyclePage } from './views/cycle.ts';
import { Machine } from './views/machine.ts';
import { Machines } from './views/machines.ts';
import { Need } from './views/need.ts';
import { Needs } from './views/needs.ts';
import { Overview } from './views/overview.ts';
import { Timeline } from './views/timeline.ts';

/** The navigation entry of pages that are not in it. */
const PARENTS: Readonly<Record<string, string>> = {
  ...{ need: 'needs', machine: 'machines', cluster: 'clusters', cycle: 'timeline' },
};

export function App(): VNode {
  const [place, setPlace] = useState<Place>(placeOf(location.hash));
  const [, setUpdate] = useState(0);
  const [isHelp, setIsHelp] = useState(false);
  useEffect(() => {
    const moved = (): void => {
      setPlace(placeOf(location.hash));
      scrollTo(0, 0);
    };
    addEventListener('hashchange', moved);
    listenToKeys({
      search: () => document.getElementById('search')?.focus(),
      go: (page) => {
        location.hash = `#/${page === 'overview' ? '' : page}`;
      },
      help: () => setIsHelp((shown) => !shown),
    });
    return store.listen(() => setUpdate((before) => before + 1));
  }, []);
  const { state } = store;
  const current = PARENTS[place.page] ?? place.page;
  useEffect(() => {
    const title = PAGES.find(({ page }) => page === current)?.title ?? 'BigFleet';
    document.title = [...place.parts, title, 'BigFleet'].join(' · ');
  }, [place]);
  return html`<div class="app">
    <a class="skip" href="#content" onClick=${skip}>Skip to the content</a>
    <header>
      <h1><a href="#/">BigFleet</a></h1>
      <nav aria-label="Pages">
        ${PAGES.map(
          ({ page, title, key }) =>
            html`<a href=${`#/${page === 'overview' ? '' : page}`} title=${`g ${key}`}
              aria-current=${page === current ? 'page' : undefined}>${title}</a>`,
        )}
      </nav>
      <${Search} />
      <${Account} caller=${state.caller} />
      <${Theme} />
    </header>
    <p id="trouble" role="status">${state.trouble}</p>
    <p id="notice" role="status">${state.notice}</p>
    ${isHelp ? html`<${Help} close=${() => setIsHelp(false)} />` : null}
    <div id="content" tabindex="-1"><${Guarded} key=${[place.page, ...place.parts].join('/')} place=${place} /></div>
  </div>`;
}

/** The address is that of a page, so the link of the frame must not change it. */
function skip(event: Event): void {
  event.preventDefault();
  document.getElementById('content')?.focus();
}

/** One page that fails must not take the frame along: the others stay within reach, and the reader sees what failed. */
function Guarded({ place }: { readonly place: Place }): VNode {
  const [error, reset] = useErrorBoundary((thrown: unknown) => console.error(thrown));
  if (error === undefined) return html`<${Page} place=${place} />`;
  return html`<section role="alert">
    <h2>This page cannot be shown</h2>
    <p>${String(error)}</p>
    <p><button type="button" onClick=${reset}>Try again</button> <a href="#/">Overview</a></p>
  </section>`;
}

function Page({ place }: { readonly place: Place }): VNode {
  const { state } = store;
  const nowMs = state.live.status?.nowMs ?? 0;
  const key = [place.page, ...place.parts].join('/');
  switch (place.page) {
    case 'overview':
      return html`<${Overview} state=${state} />`;
    case 'needs':
      return html`<${Needs} place=${place} nowMs=${nowMs} />`;
    case 'need':
      return html`<${Need} key=${key} place=${place} nowMs=${nowMs} />`;
    case 'machines':
      return html`<${Machines} place=${place} />`;
    case 'machine':
      return html`<${Machine} key=${key} place=${place} nowMs=${nowMs} />`;
    case 'clusters':
      return html`<${Clusters} place=${place} />`;
    case 'cluster':
      return html`<${ClusterPage} key=${key} place=${place} nowMs=${nowMs} />`;
    case 'timeline':
      return html`<${Timeline} place=${place} live=${state.live} />`;
    case 'cycle':
      return html`<${CyclePage} key=${key} place=${place} nowMs=${nowMs} />`;
    case 'cost':
      return html`<${CostPage} place=${place} />`;
    case 'controls':
      return html`<${Controls} state=${state} />`;
    default:
      return html`<section><h2>There is no page ${place.page}</h2><p><a href="#/">Overview</a></p></section>`;
  }
}

/** A machine or a Need by its name, or any text that machines are searched for. */
function Search(): VNode {
  const submit = (event: Event): void => {
    event.preventDefault();
    const input = document.getElementById('search') as HTMLInputElement;
    const name = input.value.trim();
    if (name === '') return;
    location.hash = placeOfName(name);
    input.value = '';
    input.blur();
  };
  return html`<form id="search-form" role="search" onSubmit=${submit}>
    <input id="search" type="search" aria-label="Find a machine or a Need" placeholder="Find a machine or a Need  /"
      autocomplete="off" spellcheck=${false} />
  </form>`;
}

/** Who is logged in; nothing on loopback without TLS, where the shard knows no names. */
function Account({ caller }: { readonly caller: PageState['caller'] }): VNode | null {
  if (caller === null || caller.name === null) return null;
  return html`<div id="account">
    <span class="account-name">${caller.name}${caller.role === 'view' ? ', may view' : ''}</span>
    <button type="button" id="logout" onClick=${() => void logout()}>Log out</button>
  </div>`;
}

function Theme(): VNode {
  const theme = useTheme();
  return html`<button type="button" id="theme" title="Light, dark, or as the system prefers"
    onClick=${() => setTheme(nextTheme(theme))}>${themeLabel(theme)}</button>`;
}

function Help({ close }: { readonly close: () => void }): VNode {
  return html`<section id="help" aria-label="Keys">
    <dl class="facts">
      ${[
        ['/', 'find a machine or a Need'],
        ...PAGES.map(({ key, title }) => [`g ${key}`, title]),
        ['?', 'show or hide this'],
      ].map(([keys, what]) => html`<div><dt><kbd>${keys}</kbd></dt><dd>${what}</dd></div>`)}
    </dl>
    <button type="button" onClick=${close}>Close</button>
  </section>`;
}
