// A log of numbers that have changed, for those who keep something about each number and catch up when they are asked.
// It has an end: one who is too far behind is told so and starts anew, which by then costs no more.

const LIMIT = 65_536;

export class ChangeLog {
  #first = 0;
  #entries: number[] = [];

  /** Where one stands who has seen everything. */
  get end(): number {
    return this.#first + this.#entries.length;
  }

  add(number: number): void {
    if (this.#entries.length === LIMIT) this.restart();
    this.#entries.push(number);
  }

  /** What changed since a reader stood here, oldest first, numbers as often as they changed; null: start anew. */
  since(position: number): readonly number[] | null {
    return position < this.#first ? null : this.#entries.slice(position - this.#first);
  }

  /** Makes everyone start anew. */
  restart(): void {
    this.#first = this.end + 1;
    this.#entries = [];
  }
}
