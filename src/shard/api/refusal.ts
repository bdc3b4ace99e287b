// Errors of the API: an HTTP status and a code word for programs. Thrown by the files of this folder; http-app.ts
// sends them.

import { excerpt } from '../../model/index.ts';

const CODES = {
  400: 'bad_request',
  401: 'unauthenticated',
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

/** Texts of callers and providers are shortened where they are quoted; this bounds messages of all other errors. */
const MAX_MESSAGE_BYTES = 4_000;

/** Orders are small: the longest has four texts of 1,000 characters. */
export const MAX_BODY_BYTES = 64 * 1024;

type RefusalStatus = keyof typeof CODES;

/** Thrown while a request is handled; any other error becomes a 500, but for those of fastify in `refusalOf`. */
export class Refusal extends Error {
  readonly status: RefusalStatus;
  readonly code: string;
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    status: RefusalStatus,
    message: string,
    headers: Readonly<Record<string, string>> = {},
    code: string = CODES[status],
  ) {
    super(excerpt(message, MAX_MESSAGE_BYTES));
    this.name = 'Refusal';
    this.status = status;
    this.code = code;
    this.headers = headers;
  }
}

/** Errors that fastify itself throws, before a handler runs. */
const FASTIFY_ERRORS: Readonly<Record<string, (message: string) => Refusal>> = {
  FST_ERR_BAD_URL: (message) =>
    new Refusal(400, `The path is not percent-encoded correctly: ${excerpt(message)}.`),
  FST_ERR_CTP_BODY_TOO_LARGE: () =>
    new Refusal(413, `The request has more than ${MAX_BODY_BYTES} bytes.`, { connection: 'close' }),
  FST_ERR_CTP_INVALID_MEDIA_TYPE: () =>
    new Refusal(415, 'Send a JSON object with "content-type: application/json".'),
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: () =>
    new Refusal(400, 'The body is not as long as Content-Length.', { connection: 'close' }),
};

export function refusalOf(error: unknown): Refusal {
  if (error instanceof Refusal) return error;
  if (!(error instanceof Error)) return new Refusal(500, String(error));
  const code = 'code' in error ? String(error.code) : '';
  return Object.hasOwn(FASTIFY_ERRORS, code)
    ? FASTIFY_ERRORS[code]!(error.message)
    : new Refusal(500, error.message);
}
