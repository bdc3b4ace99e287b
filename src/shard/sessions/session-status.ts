// How sessions end: statuses with a code of the catalogue, a sentence and, where it helps, the time to wait. Used by
// session.ts and sessions.ts.

import { BigFleetError, type ErrorCode } from '../../model/index.ts';
import { status } from '../../wire/index.ts';
import { FRAME_STALL_MS, MAX_FIRST_FRAME_BYTES } from './limits.ts';
import type { FrameFailure, SessionStatus } from './port.ts';

export function statusFor(code: SessionStatus['code'], error: ErrorCode, detail: string): SessionStatus {
  return { code, details: new BigFleetError(error, detail).message };
}

/** A status for something that may succeed later. */
export function statusForLater(
  code: SessionStatus['code'],
  error: ErrorCode,
  detail: string,
  retryAfterMs: number,
): SessionStatus {
  const wait = `Try again in ${Math.ceil(retryAfterMs / 1000)} s.`;
  return { ...statusFor(code, error, `${detail} ${wait}`), retryAfterMs };
}

export function firstFrameTooLarge(bytes: number): SessionStatus {
  const detail = `The first frame has ${bytes} bytes, the limit before the hello is ${MAX_FIRST_FRAME_BYTES}.`;
  return statusFor(status.RESOURCE_EXHAUSTED, 'BF_FRAME_SIZE', detail);
}

/** `limitBytes`: what a frame may have; the transport takes some more. */
export function frameTooLarge(bytes: number, limitBytes: number): SessionStatus {
  return statusFor(status.RESOURCE_EXHAUSTED, 'BF_FRAME_SIZE', frameSizeText(bytes, limitBytes));
}

export function frameSizeText(bytes: number, limitBytes: number): string {
  return `The frame has ${bytes} bytes, the limit is ${limitBytes} (setting limits.frameBytes).`;
}

/** A frame that began to arrive and will never be read. */
export function frameFailed({ kind, bytes }: FrameFailure): SessionStatus {
  const sizeStatus = (detail: string) => statusFor(status.RESOURCE_EXHAUSTED, 'BF_FRAME_SIZE', detail);
  switch (kind) {
    case 'inflated':
      return sizeStatus(
        `A compressed frame inflates to more than ${bytes} bytes, the limit (setting limits.frameBytes).`,
      );
    case 'overrun':
      return sizeStatus(
        `Incomplete frames of all sessions fill their room, and this one has most of it: ${bytes} bytes.`,
      );
    case 'busy':
      return sizeStatus(`Compressed frames of all sessions fill their room; this one has ${bytes} bytes.`);
    case 'stalled':
      return statusFor(
        status.DEADLINE_EXCEEDED,
        'BF_FRAME_STALLED',
        `A frame of which ${bytes} bytes are here has not grown for ${FRAME_STALL_MS / 1000} s.`,
      );
    case 'malformed':
      return statusFor(
        status.INVALID_ARGUMENT,
        'BF_WIRE_MALFORMED',
        `A compressed frame of ${bytes} bytes cannot be inflated.`,
      );
  }
}
