// Attempts of one call of client.ts: each has a timeout, and between two is a backoff. The only retry loop of Get and
// List; for mutations `CallLimits.mutationAttempts` switches it off where the caller has its own.

import { backoffMs } from '../../runtime/backoff.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Random } from '../../runtime/random.ts';
import type { CallLimits } from './call-limits.ts';
import { asProviderError, type CallName, ProviderError, type ProviderErrorKind } from './errors.ts';
import type { AttemptLimits } from './transport.ts';

/** The outcome of one attempt, for metrics and logs. */
export interface Attempt {
  readonly call: CallName;
  /** '' for a List. */
  readonly machineId: string;
  /** From 1. */
  readonly number: number;
  readonly outcome: 'ok' | ProviderErrorKind;
  readonly tookMs: number;
  /** null: there is no further attempt. */
  readonly nextInMs: number | null;
}

export interface AttemptsParts {
  readonly clock: Clock;
  readonly random: Random;
  readonly limits: CallLimits;
  readonly onAttempt: (attempt: Attempt) => void;
}

interface Subject {
  readonly call: CallName;
  readonly machineId: string;
}

export class Attempts {
  readonly #parts: AttemptsParts;

  constructor(parts: AttemptsParts) {
    this.#parts = parts;
  }

  /**
   * Calls `make` once per attempt until one succeeds, fails with an error that is not safe to retry, or the attempts or
   * the deadline are exhausted.
   */
  async run<T>(
    subject: Subject,
    make: (limits: AttemptLimits) => Promise<T>,
    signal?: AbortSignal,
  ): Promise<T> {
    const { clock, random, limits, onAttempt } = this.#parts;
    const isList = subject.call === 'list';
    const isRead = isList || subject.call === 'get';
    const attempts = isRead ? limits.readAttempts : limits.mutationAttempts;
    const end = clock.now() + (isList ? limits.listMs : limits.callMs);
    for (let number = 1; ; number++) {
      const started = clock.now();
      const left = end - started;
      const timeoutMs = isList ? left : Math.min(left, limits.attemptMs);
      const report = (outcome: Attempt['outcome'], nextInMs: number | null): void =>
        onAttempt({ ...subject, number, outcome, tookMs: clock.now() - started, nextInMs });
      try {
        const answer = await this.#attempt(subject.call, make, timeoutMs, signal);
        report('ok', null);
        return answer;
      } catch (cause) {
        const error = asProviderError(cause, subject.call);
        const wait = backoffMs(random, limits.backoff, number);
        const isLast = !error.isRetrySafe || number >= attempts || clock.now() + wait >= end;
        report(error.kind, isLast ? null : wait);
        if (isLast) throw error;
        await this.#wait(subject.call, wait, signal);
      }
    }
  }

  /** One attempt. A result after the timeout or the caller's abort is dropped, even if the transport ignores both. */
  async #attempt<T>(
    call: CallName,
    make: (limits: AttemptLimits) => Promise<T>,
    timeoutMs: number,
    signal: AbortSignal | undefined,
  ): Promise<T> {
    const controller = new AbortController();
    const { promise: givenUp, reject } = Promise.withResolvers<never>();
    const giveUp = (kind: ProviderErrorKind, detail: string): void => {
      reject(new ProviderError(kind, call, detail));
      controller.abort();
    };
    const onAbort = (): void => giveUp('cancelled', 'The caller gave up.');
    if (signal?.aborted === true) throw new ProviderError('cancelled', call, 'The caller gave up.');
    signal?.addEventListener('abort', onAbort, { once: true });
    const stop = this.#parts.clock.after(timeoutMs, () =>
      giveUp('deadline', `There was no answer within ${timeoutMs} ms.`),
    );
    try {
      return await Promise.race([make({ signal: controller.signal, timeoutMs }), givenUp]);
    } finally {
      stop();
      signal?.removeEventListener('abort', onAbort);
    }
  }

  #wait(call: CallName, ms: number, signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      const onAbort = (): void => {
        stop();
        reject(new ProviderError('cancelled', call, 'The caller gave up.'));
      };
      const stop = this.#parts.clock.after(ms, () => {
        signal?.removeEventListener('abort', onAbort);
        resolve();
      });
      if (signal?.aborted === true) onAbort();
      else signal?.addEventListener('abort', onAbort, { once: true });
    });
  }
}
