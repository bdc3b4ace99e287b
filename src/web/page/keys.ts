// Keys of the dashboard: `/` goes to the search, `g` and a letter to a page, `?` shows them all. Keys that are typed into
// a field, or pressed with a modifier, are the browser's.

/** By the letter after `g`. */
export const PAGES = [
  { key: 'o', page: 'overview', title: 'Overview' },
  { key: 'n', page: 'needs', title: 'Needs' },
  { key: 'm', page: 'machines', title: 'Machines' },
  { key: 'c', page: 'clusters', title: 'Clusters' },
  { key: 't', page: 'timeline', title: 'Timeline' },
  { key: 'd', page: 'cost', title: 'Cost' },
  { key: 's', page: 'controls', title: 'Controls' },
] as const;

/** How long after `g` a letter is expected. */
const SEQUENCE_MS = 1_500;

export interface KeyActions {
  readonly search: () => void;
  readonly go: (page: string) => void;
  readonly help: () => void;
}

export function listenToKeys({ search, go, help }: KeyActions): void {
  let pressedMs = Number.NEGATIVE_INFINITY;
  document.addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
    const isSecond = Date.now() - pressedMs < SEQUENCE_MS;
    pressedMs = Number.NEGATIVE_INFINITY;
    const page = PAGES.find(({ key }) => key === event.key);
    if (isSecond && page !== undefined) go(page.page);
    else if (event.key === 'g') pressedMs = Date.now();
    else if (event.key === '/') search();
    else if (event.key === '?') help();
    else return;
    event.preventDefault();
  });
}

function isTyping(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && target.matches('input, select, textarea');
}
