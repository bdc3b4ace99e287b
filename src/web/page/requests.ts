// What the pages ask and order of the shard: a hook that keeps an answer current, and the orders of buttons.

import { useEffect, useRef, useState } from 'preact/hooks';
import { isBusy, post, read, remove } from './api.ts';
import { store } from './store.ts';

/** Author of orders from the page, for the log of the shard. */
const WHO = 'web page';
/** A page waits this many times as long as its last answer took, so that it uses a small part of the shard's time. */
const REST = 10;

/** Sends an order and shows its answer. `who` and the reason are recorded by the shard. */
export async function order(path: string, why?: string): Promise<void> {
  const signed = path.startsWith('/v1/') ? { who: WHO, why: why ?? 'button on the page' } : {};
  await shown(() => post<{ message?: string }>(path, signed));
}

/** `forSeconds`: ends by itself after this time; absent: when it is lifted. */
export async function freeze(
  scope: { cluster?: string; action?: string; forSeconds?: number },
  why: string,
): Promise<void> {
  await shown(() => post<{ message?: string }>('/v1/freezes', { ...scope, who: WHO, why }));
}

export async function unfreeze(id: string): Promise<void> {
  const path = `/v1/freezes/${encodeURIComponent(id)}?who=${encodeURIComponent(WHO)}`;
  await shown(() => remove<{ message?: string }>(path));
}

/** Ends the login of the browser. Without it the shard refuses to be read, and the page becomes the login. */
export async function logout(): Promise<void> {
  await shown(async () => {
    await post('/v1/logout', {});
    const { name } = await read<{ name: string | null }>('/v1/whoami');
    return { message: `Logged out. The certificate of this browser still identifies it as ${name}.` };
  });
}

async function shown(send: () => Promise<{ message?: string }>): Promise<void> {
  try {
    store.notify((await send()).message ?? 'Done.');
  } catch (error) {
    store.notify(error instanceof TypeError ? 'The shard did not answer.' : (error as Error).message);
  }
}

export interface Data<T> {
  /** undefined before the first answer; afterwards the last one, also while it is read again. */
  readonly value: T | undefined;
  /** Why the last request failed; '' if it did not. */
  readonly error: string;
  /** Why the shard does not answer yet, where it has to be asked again. */
  readonly waiting?: string;
}

/**
 * The answer to a GET, read again with every update of the store, at the pace that the shard can keep; null: none. An answer
 * is dropped when the path changes, unless what it is `about` stays the same.
 */
export function useData<T>(path: string | null, about: string | null = path): Data<T> {
  const [data, setData] = useState<Data<T> & { readonly about: string | null }>({
    ...{ value: undefined, error: '', about: null },
  });
  const [tick, setTick] = useState(0);
  const pace = useRef({ path: '' as string | null, isBusy: false, nextMs: 0 });
  useEffect(() => store.listen(() => setTick(store.state.tick)), []);
  // An update of the store asks for a new answer.
  useEffect(() => {
    const { current } = pace;
    const isNew = current.path !== path;
    if (path === null || (!isNew && (current.isBusy || Date.now() < current.nextMs))) return;
    const startedMs = Date.now();
    current.path = path;
    current.isBusy = true;
    const settle = (change: Data<T>): void => {
      // The page may have moved on to another place meanwhile.
      if (current.path !== path) return;
      current.isBusy = false;
      current.nextMs = Date.now() + REST * (Date.now() - startedMs);
      setData({ ...change, about });
    };
    read<T>(path).then(
      (value) => settle({ value, error: '' }),
      (error: Error) => {
        const value = data.about === about ? data.value : undefined;
        settle(
          isBusy(error) ? { value, error: '', waiting: error.message } : { value, error: error.message },
        );
      },
    );
  }, [path, tick]);
  return data.about === about ? data : NOT_READ;
}

const NOT_READ = { value: undefined, error: '' } as const;
