import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { placeOf } from '../place.ts';
import { Filters } from './filters.ts';
import { html } from './html.ts';
import { rendered } from './testkit.ts';

beforeEach(() => {
  vi.useFakeTimers();
  vi.stubGlobal('location', { hash: '' });
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

/** A page with one text filter; `update` renders it again, as an update of the store does. */
async function shown(hash: string) {
  const { root, show } = rendered();
  const update = async (address: string): Promise<void> => {
    const filters = [{ name: 'cluster', label: 'Cluster' }];
    show(html`<${Filters} place=${placeOf(address)} filters=${filters} />`);
    await vi.advanceTimersByTimeAsync(1_000);
  };
  await update(hash);
  return { field: root.find('input')!, update };
}

describe('a text filter', () => {
  it('given a text that is being typed, then updates of the page leave it, and its end makes it the filter', async () => {
    const { field, update } = await shown('#/needs');
    field.enter('input', 'we');
    await update('#/needs');
    expect(field.value).toBe('we');
    expect(location.hash).toBe('');
    field.enter('change', 'web ');
    expect(location.hash).toBe('#/needs?cluster=web');
    await update(location.hash);
    expect(field.value).toBe('web');
  });

  it('given a draft that has become the filter, then the way back empties the field', async () => {
    const { field, update } = await shown('#/needs');
    field.enter('change', 'web');
    await update('#/needs?cluster=web');
    await update('#/needs');
    expect(field.value).toBe('');
  });
});
