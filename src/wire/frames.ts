// Opens one frame of an operator session. A roll-up stays bytes, because most roll-ups repeat the last one and
// rollup.ts can tell without decoding; the other payloads are small and are decoded here.
// Session requests reach this file raw: see `rawBytes` in service.ts.

import { WIRE, WireCursor } from './cursor.ts';
import { decodeStrict } from './decode.ts';
import { BootstrapBlobResponse, Hello, ReclaimAck } from './gen/bigfleet/v1alpha1/shard.ts';

export type OperatorFrame =
  | { readonly kind: 'hello'; readonly value: Hello }
  | { readonly kind: 'rollup'; readonly bytes: Uint8Array }
  | { readonly kind: 'bootstrapResponse'; readonly value: BootstrapBlobResponse }
  | { readonly kind: 'reclaimAck'; readonly value: ReclaimAck }
  /** No payload this version knows. Not an error: the session logs it and goes on. */
  | { readonly kind: 'unknown' };

const FIELD = { hello: 1, rollup: 2, bootstrapResponse: 3, reclaimAck: 4 } as const;

/**
 * Follows the protobuf rules for a oneof: the last member on the wire wins, and a member that is repeated with
 * no other in between is merged, which for embedded messages means that their bytes are joined.
 * `bytes` of a roll-up is a view into `frame` wherever there is nothing to join.
 */
export function readOperatorFrame(frame: Uint8Array): OperatorFrame {
  const cursor = new WireCursor().reset(frame, 0, frame.length);
  let member = 0;
  let base = 0;
  let pieces: Uint8Array[] = [];
  while (cursor.next()) {
    if (cursor.type !== WIRE.bytes || cursor.field > FIELD.reclaimAck) continue;
    if (cursor.field !== member) {
      member = cursor.field;
      base = cursor.valueStart;
      pieces = [];
    }
    pieces.push(frame.subarray(cursor.valueStart, cursor.pos));
  }
  const payload = pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces);
  switch (member) {
    case FIELD.hello:
      return { kind: 'hello', value: decodeStrict(Hello, payload, base) };
    case FIELD.rollup:
      return { kind: 'rollup', bytes: payload };
    case FIELD.bootstrapResponse:
      return { kind: 'bootstrapResponse', value: decodeStrict(BootstrapBlobResponse, payload, base) };
    case FIELD.reclaimAck:
      return { kind: 'reclaimAck', value: decodeStrict(ReclaimAck, payload, base) };
    default:
      return { kind: 'unknown' };
  }
}
