// An answer other than the one asked for: a status of HTTP and a word that programs can tell apart.

import { excerpt } from '../../model/index.ts';

const CODES = {
  400: 'bad_request',
  403: 'forbidden',
  404: 'not_found',
  405: 'method_not_allowed',
  409: 'refused',
  413: 'too_large',
  415: 'not_json',
  500: 'internal',
  503: 'unavailable',
  504: 'timeout',
} as const;

/** Parts that a caller or a provider wrote are cut before; this holds for whatever else an error may say. */
const MAX_MESSAGE_BYTES = 4_000;

type RefusalStatus = keyof typeof CODES;

/** Throw it while answering; any other error becomes a 500. */
export class Refusal extends Error {
  readonly status: RefusalStatus;
  readonly code: string;
  readonly headers: Readonly<Record<string, string>>;

  constructor(status: RefusalStatus, message: string, headers: Readonly<Record<string, string>> = {}) {
    super(excerpt(message, MAX_MESSAGE_BYTES));
    this.name = 'Refusal';
    this.status = status;
    this.code = CODES[status];
    this.headers = headers;
  }
}

export function refusalOf(error: unknown): Refusal {
  if (error instanceof Refusal) return error;
  return new Refusal(500, error instanceof Error ? error.message : String(error));
}
