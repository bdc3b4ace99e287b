// A bounded log of the calls that a behaviour made and their results, for the detail of a failure: repetitions are
// counted, and only the last lines are kept. calls.ts writes it; trial.ts returns its text to run.ts.

import type { Token } from './calls.ts';

/** Lines kept; the call that matters is nearly always one of the last few. */
const KEPT = 8;

interface Line {
  readonly call: string;
  outcome: string;
  times: number;
}

export class CallLog {
  readonly #lines: Line[] = [];
  #dropped = 0;
  #isClosed = false;

  /** Ends the behaviour: tasks that it left running can make no more calls. */
  close(): void {
    this.#isClosed = true;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  add(call: string, outcome: string): void {
    const last = this.#lines.at(-1);
    if (last !== undefined && last.call === call && last.outcome === outcome) {
      last.times++;
      return;
    }
    this.#lines.push({ call, outcome, times: 1 });
    if (this.#lines.length > KEPT) {
      this.#lines.shift();
      this.#dropped++;
    }
  }

  get text(): string {
    const lines = this.#lines.map(
      ({ call, outcome, times }) => `${call}${times > 1 ? ` ×${times}` : ''} → ${outcome}`,
    );
    return (this.#dropped > 0 ? ['…', ...lines] : lines).join('; ');
  }
}

export function textOfToken({ shard, epoch, sequence }: Token): string {
  return shard === '' && epoch === 0n && sequence === 0n ? '' : `, ${shard} (${epoch},${sequence})`;
}
