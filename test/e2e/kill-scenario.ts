// Test support: the whole life of three machines (bought, bound, drained, released), during which the shard's process
// is killed at one point and restarted. Whatever the point, the end is the same, and no action is repeated. Run by
// shard-kill.test.ts for a few points and by `npm run verify:kill` for all.

import { MachineState } from '../../src/model/index.ts';
import type { Failpoint } from '../../src/shard/failpoints.ts';
import { ALWAYS, JournalReader, journalFileIn, replay } from '../../src/shard/index.ts';
import { offering } from './shard-cloud.ts';
import { EndedEarly } from './shard-process.ts';
import { need, World } from './shard-world.ts';

type Closers = Parameters<typeof World.open>[0];

export interface KillReport {
  readonly point: Failpoint;
  /** The step during which it died; '' if it never reached the point. */
  readonly diedDuring: string;
  readonly problems: readonly string[];
}

export async function runKillScenario(closers: Closers, point: Failpoint): Promise<KillReport> {
  const scenario = new KillScenario(
    await World.open(closers, {
      clouds: { cloud: [offering('standard', { count: 6 })] },
      cloudSettings: {},
      isProcess: true,
      isLate: true,
    }),
    point,
  );
  return await scenario.run();
}

class KillScenario {
  readonly #world: World;
  readonly #point: Failpoint;
  #diedDuring = '';

  constructor(world: World, point: Failpoint) {
    this.#world = world;
    this.#point = point;
  }

  async run(): Promise<KillReport> {
    const world = this.#world;
    await this.#start();
    world.join('c1', need('c1', 8));
    world.join('c2', need('c2', 4));
    await this.#through('acquiring', () => world.isServed());
    const beforeFreeze = world.callsOf('drain').length;
    await this.#through('freezing', async () => {
      await world.post('/v1/freezes', { cluster: 'c3', why: 'kill scenario' });
      return (await world.get<{ items: readonly unknown[] }>('/v1/freezes')).items.length === 1;
    });
    world.operator('c1').setDemand([need('c1', 4)]);
    await this.#through('giving back', async () => {
      const machines = await world.machines();
      const count = (state: string): number => machines.filter((each) => each.state === state).length;
      const isSettled = count('CONFIGURED') === 2 && count('SPECULATIVE') === 4;
      // Operators are notified slightly later, and an operator without a connection only after the restart.
      return isSettled && ['c1', 'c2'].every((cluster) => world.nodesOf(cluster).length === 1);
    });
    // A point near the end may not have been reached yet; idle cycles reach the rest.
    await this.#through('resting', async () => {
      await world.cycles(3);
      return true;
    });
    return { point: this.#point, diedDuring: this.#diedDuring, problems: await this.#problems(beforeFreeze) };
  }

  async #start(): Promise<void> {
    try {
      await this.#world.start({ BIGFLEET_FAILPOINT: this.#point });
    } catch (error) {
      if (!(error instanceof EndedEarly)) throw error;
      await this.#died('starting', error.end.signal);
    }
  }

  /** Waits for a condition; if the process dies meanwhile, restarts it and keeps waiting. */
  async #through(step: string, holds: () => Promise<boolean>): Promise<void> {
    const world = this.#world;
    for (;;) {
      const { exited } = world.shard;
      const waited = world.until(step, holds).then(() => null);
      const end = await Promise.race([exited!, waited]);
      if (end === null) return;
      waited.catch(() => {});
      await this.#died(step, end.signal);
    }
  }

  async #died(step: string, signal: NodeJS.Signals | null): Promise<void> {
    if (signal !== 'SIGKILL') throw new Error(`the shard ended with ${signal} while ${step}`);
    if (this.#diedDuring !== '') throw new Error('the shard died twice');
    this.#diedDuring = step;
    this.#world.buried();
    await this.#world.start();
  }

  async #problems(drainsBeforeShrink: number): Promise<readonly string[]> {
    const world = this.#world;
    const problems: string[] = [];
    const expectCount = (what: string, found: number, wanted: number): void => {
      if (found !== wanted) problems.push(`${what}: ${found} instead of ${wanted}`);
    };
    if (this.#diedDuring === '') problems.push('the point was never reached');
    expectCount('creates', world.callsOf('create').length, 3);
    expectCount('configures', world.callsOf('configure').length, 3);
    expectCount('drains before demand shrank', drainsBeforeShrink, 0);
    expectCount('drains', world.callsOf('drain').length, 1);
    expectCount('deletes', world.callsOf('delete').length, 1);
    expectCount('nodes of c1', world.nodesOf('c1').length, 1);
    expectCount('nodes of c2', world.nodesOf('c2').length, 1);
    const freezes = await world.get<{ items: readonly unknown[] }>('/v1/freezes');
    expectCount('freezes', freezes.items.length, 1);
    const replayed = [...replay(new JournalReader(journalFileIn(world.dataDir)), ALWAYS)];
    const differing = replayed.filter(({ isSame }) => isSame === false);
    expectCount('cycles that a replay decides otherwise', differing.length, 0);
    if (replayed.length === 0) problems.push('no cycle could be replayed');
    const there = await world.cloud().machines();
    const bound = there.filter(({ state }) => state === MachineState.Configured);
    expectCount('machines that the provider has bound', bound.length, 2);
    return problems;
  }
}
