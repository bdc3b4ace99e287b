// Error answers of the fake API server, in the words of the real one where clients read them.

export interface StatusCause {
  readonly reason: string;
  readonly message: string;
  readonly field?: string;
}

/** An error answer. Thrown by the parts of the fake, sent by api-server.ts. */
export class ApiError extends Error {
  readonly code: number;
  readonly reason: string;
  readonly causes: readonly StatusCause[];
  readonly retryAfterSeconds: number | null;

  constructor(
    code: number,
    reason: string,
    message: string,
    {
      causes = [],
      retryAfterSeconds = null,
    }: { causes?: readonly StatusCause[]; retryAfterSeconds?: number | null } = {},
  ) {
    super(message);
    this.code = code;
    this.reason = reason;
    this.causes = causes;
    this.retryAfterSeconds = retryAfterSeconds;
  }

  /** The Status object of the answer. */
  get status(): Readonly<Record<string, unknown>> {
    const details = {
      ...(this.causes.length === 0 ? {} : { causes: this.causes }),
      ...(this.retryAfterSeconds === null ? {} : { retryAfterSeconds: this.retryAfterSeconds }),
    };
    return {
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Failure',
      message: this.message,
      reason: this.reason,
      ...(Object.keys(details).length === 0 ? {} : { details }),
      code: this.code,
    };
  }
}

export function notFound(resource: string, name: string): ApiError {
  return new ApiError(404, 'NotFound', `${resource} "${name}" not found`);
}

export function conflict(resource: string, name: string): ApiError {
  return new ApiError(
    409,
    'Conflict',
    `Operation cannot be fulfilled on ${resource} "${name}": the object has been modified; please apply your changes to the latest version and try again`,
  );
}

export function invalid(kind: string, name: string, field: string, problem: string): ApiError {
  return new ApiError(422, 'Invalid', `${kind} "${name}" is invalid: ${field}: ${problem}`, {
    causes: [{ reason: 'FieldValueInvalid', message: problem, field }],
  });
}

export function badRequest(message: string): ApiError {
  return new ApiError(400, 'BadRequest', message);
}

export function expired(message: string): ApiError {
  return new ApiError(410, 'Expired', message);
}
