// Faults that tests inject into the fake API server: slow answers, errors, closed and cut watches, expired tokens.

/** One HTTP request, as far as a fault may depend on it. */
export interface RequestFacts {
  readonly method: string;
  readonly path: string;
  /** 'get', 'list', 'watch', 'create', …. */
  readonly verb: string;
  /** With subresource: 'pods/eviction'. '' for paths that are no resource. */
  readonly resource: string;
  readonly query: URLSearchParams;
}

/** What happens instead of the ordinary answer. */
export type FaultAnswer =
  | { readonly status: number; readonly body?: string; readonly retryAfterSeconds?: number }
  /** The connection is closed without an answer. */
  | 'reset'
  /** There is never an answer. */
  | 'hang';

export interface FaultRule {
  readonly when: (request: RequestFacts) => boolean;
  readonly answer: FaultAnswer;
  /** How many requests it applies to. Default: all. */
  readonly times?: number;
}

/** Settings that a test may change at any time. */
export interface FaultSettings {
  /** Probability that a watch is closed normally after an event. */
  closeWatchChance: number;
  /** Probability that the connection of a watch is cut in the middle of an event. */
  cutWatchChance: number;
  /** Delay of each answer, and of the start of each watch. */
  delayMs: number;
  /** How a watch from a version that is too old is answered: API servers do both. */
  goneForm: 'event' | 'http';
  /** Added to the clock for all timestamps that the API server writes. */
  clockSkewMs: number;
  /** 0: none. Real API servers send one each minute. */
  bookmarkMs: number;
}

const NO_FAULTS: Readonly<FaultSettings> = {
  closeWatchChance: 0,
  cutWatchChance: 0,
  delayMs: 0,
  goneForm: 'event',
  clockSkewMs: 0,
  bookmarkMs: 60_000,
};

export class Faults {
  readonly settings: FaultSettings = { ...NO_FAULTS };
  readonly #rules: { readonly rule: FaultRule; left: number }[] = [];

  /** Returns a function that ends the fault. */
  add(rule: FaultRule): () => void {
    const entry = { rule, left: rule.times ?? Number.POSITIVE_INFINITY };
    this.#rules.push(entry);
    return () => {
      entry.left = 0;
    };
  }

  /** The answer of the first rule that applies; undefined: the ordinary answer. */
  take(request: RequestFacts): FaultAnswer | undefined {
    const entry = this.#rules.find(({ rule, left }) => left > 0 && rule.when(request));
    if (entry === undefined) return undefined;
    entry.left--;
    return entry.rule.answer;
  }

  clear(): void {
    this.#rules.length = 0;
    Object.assign(this.settings, NO_FAULTS);
  }
}
