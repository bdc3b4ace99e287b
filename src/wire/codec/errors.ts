// The error of the byte-level files of this folder: bytes that are not a protobuf message. Values that are well-formed
// but not allowed are refused by the conversions (need.ts, machine.ts).

import { BigFleetError } from '../../model/index.ts';

/** Malformed bytes. `offset` is relative to the first byte of the message passed in. */
export class WireFormatError extends BigFleetError {
  readonly offset: number;

  constructor(offset: number, expected: string, options: ErrorOptions = {}) {
    super('BF_WIRE_MALFORMED', `At byte ${offset}: expected ${expected}.`, options);
    this.name = 'WireFormatError';
    this.offset = offset;
  }
}
