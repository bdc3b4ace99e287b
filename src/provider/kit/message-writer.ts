// Writes a protobuf message into one buffer that is used again and again. The generated encoders make several objects
// per field; at half a million records that is the difference between a second and ten.

const WIRE_TYPE_I64 = 1;
const WIRE_TYPE_BYTES = 2;
/** Room for a tag and a length. */
const OVERHEAD = 16;

export class MessageWriter {
  #bytes = Buffer.allocUnsafeSlow(4096);
  #at = 0;

  /** Starts over. */
  reset(): this {
    this.#at = 0;
    return this;
  }

  /** What was written. A view that is good until the next `reset`. */
  get written(): Buffer {
    return this.#bytes.subarray(0, this.#at);
  }

  /** A string; nothing if it is empty. */
  text(field: number, text: string): void {
    if (text === '') return;
    const start = this.open(field, text.length * 3);
    this.#at += this.#bytes.write(text, this.#at);
    this.close(start);
  }

  /** A double; nothing if it is 0. */
  double(field: number, value: number): void {
    if (value === 0) return;
    this.#reserve(OVERHEAD);
    this.#bytes[this.#at++] = (field << 3) | WIRE_TYPE_I64;
    this.#at = this.#bytes.writeDoubleLE(value, this.#at);
  }

  /** A number from 1 to 127; nothing if it is 0. */
  small(field: number, value: number): void {
    if (value === 0) return;
    this.#reserve(OVERHEAD);
    this.#bytes[this.#at++] = field << 3;
    this.#bytes[this.#at++] = value;
  }

  /** A message of two texts, as a host or an entry of a map is. */
  pair(field: number, first: string, second: string): void {
    const start = this.open(field, 0);
    this.text(1, first);
    this.text(2, second);
    this.close(start);
  }

  /** Begins a field of bytes, of which so many are to come at most in the next write; returns what `close` wants. */
  open(field: number, bytes: number): number {
    this.#reserve(bytes + OVERHEAD);
    this.#bytes[this.#at++] = (field << 3) | WIRE_TYPE_BYTES;
    // One byte for the length, as nearly all fields need; close makes room for more.
    return ++this.#at;
  }

  close(start: number): void {
    const length = this.#at - start;
    if (length < 0x80) {
      this.#bytes[start - 1] = length;
      return;
    }
    let lengthBytes = 1;
    while (length >= 2 ** (7 * lengthBytes)) lengthBytes++;
    this.#reserve(OVERHEAD);
    this.#bytes.copyWithin(start - 1 + lengthBytes, start, this.#at);
    this.#at += lengthBytes - 1;
    let rest = length;
    for (let i = start - 1; rest > 0; i++, rest >>>= 7)
      this.#bytes[i] = rest > 0x7f ? (rest & 0x7f) | 0x80 : rest;
  }

  #reserve(bytes: number): void {
    if (this.#at + bytes <= this.#bytes.length) return;
    const larger = Buffer.allocUnsafeSlow(Math.max(this.#bytes.length * 2, this.#at + bytes));
    this.#bytes.copy(larger, 0, 0, this.#at);
    this.#bytes = larger;
  }
}
