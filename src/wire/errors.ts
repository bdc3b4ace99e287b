// The one error of the byte-level half of this room: bytes that are no protobuf message.
// Where a value is well-formed but not allowed, the conversions beside this file refuse it instead.

import { BigFleetError } from '../model/index.ts';

/** Malformed bytes. `offset` counts from the first byte of the message that was handed in. */
export class WireFormatError extends BigFleetError {
  readonly offset: number;

  constructor(offset: number, expected: string, options: ErrorOptions = {}) {
    super('BF_WIRE_MALFORMED', `At byte ${offset}: expected ${expected}.`, options);
    this.name = 'WireFormatError';
    this.offset = offset;
  }
}
