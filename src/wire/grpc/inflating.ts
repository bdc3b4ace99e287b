// Inflates compressed messages of gRPC streams a few at a time. A message of a hundred kilobytes can inflate to a hundred
// megabytes; grpc-js inflates those of all streams at the same time, each up to the size of the largest message.
// Neighbour: server.ts lets grpc-js use this.

import { promisify } from 'node:util';
import { gunzip, inflate } from 'node:zlib';

/** Maximum number of messages inflated concurrently; each may need the memory of the largest message. */
const AT_A_TIME = 2;

const ENCODINGS = { gzip: promisify(gunzip), deflate: promisify(inflate) } as const;
export type Encoding = keyof typeof ENCODINGS;

export function isEncoding(name: string): name is Encoding {
  return Object.hasOwn(ENCODINGS, name);
}

/**
 * `large`: beyond `maxBytes`. `malformed`: not valid bytes of the encoding. `busy`: beyond `maxWaitingBytes`.
 * `unwanted`: its stream has ended.
 */
export type Inflated = Buffer | 'large' | 'malformed' | 'busy' | 'unwanted';

export interface Deflated {
  readonly bytes: Buffer;
  readonly encoding: Encoding;
  /** Limit of the inflated message. */
  readonly maxBytes: number;
  /** Called when the message leaves the queue, before it is inflated. */
  readonly isWanted: () => boolean;
}

export class Inflater {
  readonly #maxWaitingBytes: number;
  readonly #turns: (() => void)[] = [];
  #underWay = 0;
  #waitingBytes = 0;

  /** `maxWaitingBytes` bounds the compressed bytes of all messages that are queued or being inflated. */
  constructor(maxWaitingBytes: number) {
    this.#maxWaitingBytes = maxWaitingBytes;
  }

  async inflate({ bytes, encoding, maxBytes, isWanted }: Deflated): Promise<Inflated> {
    if (this.#waitingBytes + bytes.length > this.#maxWaitingBytes) return 'busy';
    this.#waitingBytes += bytes.length;
    try {
      await this.#turn();
      return isWanted() ? await inflated(bytes, encoding, maxBytes) : 'unwanted';
    } finally {
      this.#waitingBytes -= bytes.length;
      const next = this.#turns.shift();
      // The permit passes to the next waiter, so `#underWay` is unchanged.
      if (next === undefined) this.#underWay--;
      else next();
    }
  }

  async #turn(): Promise<void> {
    if (this.#underWay >= AT_A_TIME) await new Promise<void>((resolve) => this.#turns.push(resolve));
    else this.#underWay++;
  }
}

async function inflated(bytes: Buffer, encoding: Encoding, maxBytes: number): Promise<Inflated> {
  try {
    return await ENCODINGS[encoding](bytes, { maxOutputLength: maxBytes });
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE' ? 'large' : 'malformed';
  }
}
