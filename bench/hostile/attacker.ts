// The attacker of `bench hostile`: a child process, started by measure.ts, that repeats one attack of attacks.ts
// against a shard at a fixed rate. It runs at a lower CPU priority, so that it takes no time from the processes
// measured.

import { setMaxListeners } from 'node:events';
import { Random } from '../../src/runtime/random.ts';
import { ATTACKS, type Attack, type Attacker, type Target } from './attacks.ts';
import type { Settings } from './settings.ts';

export interface AttackerSetup {
  readonly settings: Settings;
  readonly attack: string;
}

export type AttackerMessage =
  | { readonly kind: 'ready' }
  | {
      readonly kind: 'ended';
      readonly attempts: number;
      /** Attempts that were not made, because too many were in flight. */
      readonly skipped: number;
      /** By outcome: number of attempts. */
      readonly outcomes: ReadonlyMap<string, number>;
    };

export type AttackerOrder =
  | { readonly kind: 'prepare' | 'begin'; readonly target: Target }
  | { readonly kind: 'end' };

/** Maximum number of concurrent attempts. */
const MAX_UNDER_WAY = 200;
const POLL_MS = 5;

class AttackLoop {
  readonly #attack: Attack;
  readonly #settings: Settings;
  readonly #over = new AbortController();
  readonly #outcomes = new Map<string, number>();
  #beganMs = 0;
  #attempts = 0;
  #skipped = 0;
  #underWay = 0;

  constructor(attack: Attack, settings: Settings) {
    this.#attack = attack;
    this.#settings = settings;
  }

  prepare(target: Target): void {
    this.#attack.prepare?.(this.#attacker(target));
  }

  #attacker(target: Target): Attacker {
    const { signal: over } = this.#over;
    // Every attempt in flight adds a listener.
    setMaxListeners(0, over);
    return { target, random: new Random(this.#settings.seed), over };
  }

  begin(target: Target): void {
    this.#beganMs = performance.now();
    const attacker = this.#attacker(target);
    const { over } = attacker;
    const timer = setInterval(() => {
      for (let due = this.#due(); due > 0; due--) void this.#attempt(attacker);
    }, POLL_MS);
    over.addEventListener('abort', () => clearInterval(timer));
  }

  /** Aborts all attempts and waits for their end. */
  async end(): Promise<Extract<AttackerMessage, { kind: 'ended' }>> {
    this.#over.abort();
    while (this.#underWay > 0) await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    return {
      kind: 'ended',
      attempts: this.#attempts,
      skipped: this.#skipped,
      outcomes: this.#outcomes,
    };
  }

  #due(): number {
    const perMs = (this.#attack.perMinute * this.#settings.times) / 60_000;
    const due = Math.floor((performance.now() - this.#beganMs) * perMs) - this.#attempts - this.#skipped;
    const room = Math.min(due, MAX_UNDER_WAY - this.#underWay);
    this.#skipped += due - room;
    return room;
  }

  async #attempt(attacker: Attacker): Promise<void> {
    this.#underWay++;
    const outcome = await this.#outcome(attacker, this.#attempts++);
    this.#underWay--;
    this.#outcomes.set(outcome, (this.#outcomes.get(outcome) ?? 0) + 1);
  }

  async #outcome(attacker: Attacker, attempt: number): Promise<string> {
    try {
      return await this.#attack.once(attacker, attempt);
    } catch (error) {
      return error instanceof Error ? error.message.slice(0, 60) : String(error);
    }
  }
}

if (import.meta.main) {
  const { settings, attack } = JSON.parse(process.argv[2]!) as AttackerSetup;
  const loop = new AttackLoop(ATTACKS[attack]!, settings);
  const send = (message: AttackerMessage): void => void process.send!(message);
  process.on('message', (order: AttackerOrder) => {
    if (order.kind === 'prepare') loop.prepare(order.target);
    else if (order.kind === 'begin') loop.begin(order.target);
    else void loop.end().then(send);
  });
  process.on('disconnect', () => process.exit());
  send({ kind: 'ready' });
}
