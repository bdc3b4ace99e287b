import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { postWhileBusy, read } from './api.ts';

const COPYING = { status: 503, body: { error: { code: 'busy', message: 'The fleet is being copied.' } } };
const ANSWER = { status: 200, body: { cost: 1 } };

let asked: number;

/** The answers of the shard in turn; the last one from then on. */
function shardAnswers(...answers: readonly { readonly status: number; readonly body: object }[]): void {
  asked = 0;
  vi.stubGlobal('fetch', async () => {
    const { status, body } = answers[Math.min(asked++, answers.length - 1)]!;
    return new Response(JSON.stringify(body), { status });
  });
}

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

function askedWhileBusy(stop = new AbortController()) {
  const onBusy = vi.fn();
  const answer = postWhileBusy('/v1/whatif', {}, { onBusy, signal: stop.signal }).catch(
    (error: Error) => error.message,
  );
  return { onBusy, answer, stop };
}

describe('a question that the shard is too busy for', () => {
  it('given a copy that is being made, then it is asked again until there is an answer', async () => {
    shardAnswers(COPYING, COPYING, COPYING, ANSWER);
    const { answer, onBusy } = askedWhileBusy();
    await vi.advanceTimersByTimeAsync(500 + 1_000 + 1_999);
    expect(asked).toBe(3);
    expect(onBusy.mock.calls).toEqual([
      ['The fleet is being copied.'],
      ['The fleet is being copied.'],
      ['The fleet is being copied.'],
    ]);
    await vi.advanceTimersByTimeAsync(1);
    expect(await answer).toEqual({ cost: 1 });
  });

  it('given a shard that stays busy, then the refusal is reported in the end', async () => {
    shardAnswers(COPYING);
    const { answer } = askedWhileBusy();
    await vi.advanceTimersByTimeAsync(130_000);
    expect(await answer).toBe('The fleet is being copied.');
    expect(asked).toBeLessThan(40);
  });

  it('given another refusal, then it is not asked again', async () => {
    shardAnswers({ status: 400, body: { error: { code: 'invalid', message: 'No such zone.' } } });
    const { answer, onBusy } = askedWhileBusy();
    expect(await answer).toBe('No such zone.');
    expect(onBusy).not.toHaveBeenCalled();
    expect(asked).toBe(1);
  });

  it('given a reader who has left the page, then it is not asked again', async () => {
    shardAnswers(COPYING);
    const { stop } = askedWhileBusy();
    await vi.advanceTimersByTimeAsync(100);
    stop.abort();
    await vi.advanceTimersByTimeAsync(60_000);
    expect(asked).toBe(1);
  });
});

describe('a login that has ended', () => {
  it('given a request without an identity, then the page is loaded again, which leads to the login', async () => {
    const reload = vi.fn();
    vi.stubGlobal('location', { reload });
    shardAnswers({ status: 401, body: { error: { message: 'Send a token.' } } });
    await expect(read('/v1/status')).rejects.toThrow('Send a token.');
    expect(reload).toHaveBeenCalledTimes(1);
  });

  it('given a refusal for another reason, then the page stays', async () => {
    const reload = vi.fn();
    vi.stubGlobal('location', { reload });
    shardAnswers({ status: 403, body: {} });
    await expect(read('/v1/status')).rejects.toThrow('403');
    expect(reload).not.toHaveBeenCalled();
  });
});
