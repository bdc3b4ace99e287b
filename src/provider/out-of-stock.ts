// The error by which a backend reports that a host cannot be bought now because the cloud has none left. Thrown by
// `Backend.create`; recognized by kit/running-transitions.ts.

/**
 * Thrown by `Backend.create` when the cloud has none left of this instance type in this zone. Shards then block the whole
 * offering for a while, instead of trying one quota slot after another. The message is for the person on call.
 */
export class OutOfStockError extends Error {
  /** Identifies the error also if it was made by another copy of this package. */
  readonly code = 'BF_OUT_OF_STOCK';

  constructor(message = 'the cloud has none left', options?: ErrorOptions) {
    super(message, options);
    this.name = 'OutOfStockError';
  }
}

/** Whether a backend threw an `OutOfStockError`. */
export function isOutOfStock(error: unknown): error is OutOfStockError {
  return error instanceof Error && 'code' in error && error.code === 'BF_OUT_OF_STOCK';
}
