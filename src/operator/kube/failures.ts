// Turns failed requests into `KubeError`s whose message says what failed, where, and what to do. Used by http-client.ts
// and, for errors inside a watch, by reflector-loop.ts.

import { printable } from '../../model/index.ts';
import { KubeError } from './client.ts';
import type { KubeStatus } from './objects.ts';

/** Longest text of an API server that is repeated in a message. */
const MAX_TEXT = 500;

export interface Attempt {
  readonly method: string;
  /** Path without the query, which may hold long continue tokens. */
  readonly path: string;
  /** Address of the API server. */
  readonly server: string;
  /** Where the credentials come from. */
  readonly credentials: string;
}

/** The error of an answer with a status of 400 or more. */
export function answerError(
  attempt: Attempt,
  status: number,
  body: string,
  retryAfter: string | undefined,
): KubeError {
  const told = parseStatus(body);
  const said = told?.message ?? body;
  const causes = told?.details?.causes ?? [];
  const reason = told?.reason ?? '';
  const what = `${attempt.method} ${attempt.path} at ${attempt.server}: ${status}${reason === '' ? '' : ` ${reason}`}`;
  const text = said.trim() === '' ? '' : `: ${cut(said)}`;
  const advice = adviceFor(status, attempt);
  return new KubeError(`${what}${text}${advice === '' ? '' : `. ${advice}`}`, {
    status,
    reason,
    causes,
    retryAfterMs: retryAfterMs(retryAfter, told),
  });
}

/** The error of an `ERROR` event of a watch, whose object is a Status. */
export function watchError(path: string, status: KubeStatus): KubeError {
  const code = typeof status.code === 'number' ? status.code : 500;
  return new KubeError(`watch of ${path}: ${code} ${status.reason ?? ''}: ${cut(status.message ?? '')}`, {
    status: code,
    reason: status.reason ?? '',
    causes: status.details?.causes ?? [],
    retryAfterMs: retryAfterMs(undefined, status),
  });
}

function parseStatus(body: string): KubeStatus | null {
  try {
    const value = JSON.parse(body) as Partial<KubeStatus> | null;
    if (typeof value !== 'object' || value === null || value.kind !== 'Status') return null;
    const text = (field: unknown): string | undefined => (typeof field === 'string' ? field : undefined);
    const message = text(value.message);
    const reason = text(value.reason);
    const causes = Array.isArray(value.details?.causes) ? value.details.causes : [];
    const seconds = value.details?.retryAfterSeconds;
    return {
      kind: 'Status',
      ...(message === undefined ? {} : { message }),
      ...(reason === undefined ? {} : { reason }),
      details: {
        causes: causes.filter((cause) => typeof cause === 'object' && cause !== null),
        ...(typeof seconds === 'number' ? { retryAfterSeconds: seconds } : {}),
      },
    };
  } catch {
    return null;
  }
}

/** The header wins: proxies in front of the API server set it alone. Only seconds are used by API servers. */
function retryAfterMs(header: string | undefined, status: KubeStatus | null): number | null {
  if (header !== undefined && /^\d{1,6}$/.test(header)) return Number(header) * 1000;
  const seconds = status?.details?.retryAfterSeconds;
  return seconds === undefined || !(seconds > 0) ? null : seconds * 1000;
}

function adviceFor(status: number, { credentials, path }: Attempt): string {
  switch (status) {
    case 401:
      return `The API server does not accept ${credentials}: it has expired, was revoked, or belongs to another cluster; renew it`;
    case 403:
      return 'Grant that right to the user or service account that the message names; "bigfleet operator manifests" prints a ClusterRole with every right that the operator needs';
    case 404:
      return path.startsWith('/apis/bigfleet.lucy.sh/')
        ? 'If the CRDs are not installed: bigfleet operator manifests | kubectl apply -f -'
        : '';
    default:
      return '';
  }
}

/** What to do, by the code of a connection that failed. */
const CONNECTION_ADVICE: readonly (readonly [RegExp, string])[] = [
  [/ECONNREFUSED/, 'nothing listens there: check the address and that the API server runs'],
  [/ENOTFOUND|EAI_AGAIN/, 'the name cannot be resolved: check it and the DNS of this machine'],
  [
    /ETIMEDOUT|EHOSTUNREACH|ENETUNREACH/,
    'the address cannot be reached: check routes, firewalls and network policies',
  ],
  [
    /CERT_HAS_EXPIRED/,
    'the certificate of the API server has expired, or the clock of this machine is wrong',
  ],
  [
    /CERT_NOT_YET_VALID/,
    'the certificate of the API server is not valid yet: check the clock of this machine',
  ],
  [
    /SELF_SIGNED|UNABLE_TO_(VERIFY|GET)|CERT_SIGNATURE/,
    'its certificate is not signed by the authority of this connection: check certificate-authority, or that the address belongs to this cluster',
  ],
  [/ALTNAME/, 'its certificate is for other names: use one of those, or set tls-server-name'],
  [
    /WRONG_VERSION_NUMBER|PACKET_LENGTH_TOO_LONG|HTTP_REQUEST|EPROTO/,
    'it does not speak TLS as expected: check http or https in the address, and the client certificate',
  ],
  [/ALERT|BAD_CERTIFICATE/, 'it refuses the client certificate: renew it'],
  [
    /ECONNRESET|EPIPE|socket hang up/,
    'the connection broke before the answer; the request may have taken effect',
  ],
];

/** The error of a request that got no answer. */
export function connectionError(attempt: Attempt, cause: unknown): KubeError {
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : '';
  const message = cause instanceof Error ? cause.message : String(cause);
  const advice = CONNECTION_ADVICE.find(([pattern]) => pattern.test(code) || pattern.test(message))?.[1];
  const why = advice === undefined ? '' : ` (${advice})`;
  return new KubeError(`${attempt.method} ${attempt.path} at ${attempt.server}: ${cut(message)}${why}`, {
    status: 0,
    reason: code === '' ? 'ConnectionFailed' : code,
    cause,
  });
}

export function timeoutError(attempt: Attempt, ms: number): KubeError {
  return new KubeError(
    `${attempt.method} ${attempt.path} at ${attempt.server}: no answer within ${ms / 1000} s; the request may have taken effect. Check the load of the API server and the network`,
    { status: 0, reason: 'Timeout' },
  );
}

export function tooLargeError(attempt: Attempt, bytes: number): KubeError {
  return new KubeError(
    `${attempt.method} ${attempt.path} at ${attempt.server}: the answer exceeds ${bytes} bytes and was not read`,
    { status: 0, reason: 'ResponseTooLarge' },
  );
}

export function malformedError(attempt: Attempt, what: string, text: string): KubeError {
  return new KubeError(
    `${attempt.method} ${attempt.path} at ${attempt.server}: ${what}: ${JSON.stringify(cut(text, 80))}. Check that the address is that of an API server`,
    { status: 0, reason: 'Malformed' },
  );
}

function cut(text: string, most = MAX_TEXT): string {
  const line = printable(text.trim());
  return line.length > most ? `${line.slice(0, most)}…` : line;
}
