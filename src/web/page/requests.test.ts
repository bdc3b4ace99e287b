import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { html } from './html.ts';
import { useData } from './requests.ts';
import { rendered } from './testkit.ts';

let answers: Map<string, (text: string) => void>;

beforeEach(() => {
  vi.useFakeTimers();
  answers = new Map();
  vi.stubGlobal('fetch', (path: string) => {
    const { promise, resolve } = Promise.withResolvers<Response>();
    answers.set(path, (text) => resolve(new Response(JSON.stringify(text))));
    return promise;
  });
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

function Answer({ path, about }: { readonly path: string; readonly about?: string }) {
  return html`<p>${useData<string>(path, about).value ?? 'none'}</p>`;
}

/** Shows the answer to a path, as it is after all that can happen without the shard. */
function shown() {
  const { root, show } = rendered();
  const ask = async (path: string, about?: string): Promise<string> => {
    show(html`<${Answer} path=${path} about=${about} />`);
    await vi.advanceTimersByTimeAsync(1_000);
    return root.textContent;
  };
  const answer = async (path: string, text: string): Promise<string> => {
    answers.get(path)!(text);
    await vi.advanceTimersByTimeAsync(1_000);
    return root.textContent;
  };
  return { ask, answer };
}

describe('an answer of the shard on a page', () => {
  it('given another filter, then the answer to the one before is gone at once', async () => {
    const { ask, answer } = shown();
    expect(await ask('/by-cluster')).toBe('none');
    expect(await answer('/by-cluster', 'web')).toBe('web');
    expect(await ask('/by-zone')).toBe('none');
    expect(await answer('/by-zone', 'zone-a')).toBe('zone-a');
  });

  it('given another path about the same thing, then the answer stays until the next one is there', async () => {
    const { ask, answer } = shown();
    await ask('/since-1', 'span');
    await answer('/since-1', 'old');
    expect(await ask('/since-2', 'span')).toBe('old');
    expect(await answer('/since-2', 'new')).toBe('new');
  });
});
