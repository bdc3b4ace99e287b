// Polls the machines of the demo several times a second, for verify-demo.ts, and compares them with the lines that the
// demo prints. A machine that changes and changes back between two polls is missed.

import { isDeepStrictEqual } from 'node:util';
import type { MachineView, Page, ProviderView, ShortfallView, StatusView } from '../src/shard/index.ts';

/** Machines with a change since the last `judge` that a line must report. */
interface ExpectedReports {
  readonly failedPurchases: Set<string>;
  readonly losses: Set<string>;
}

const HOSTED = new Set(['IDLE', 'CONFIGURING', 'CONFIGURED', 'DRAINING']);
/** Prices are rounded to a millionth of a dollar each, over a few hundred machines. */
const TOLERANCE = 1e-3;
/** The status is that of the last cycle, machines are as they are now: they agree if nothing has moved for longer. */
const SETTLED_MS = 2000;

export class DemoWatch {
  readonly #url: string;
  #machines = new Map<string, MachineView>();
  #movedMs = Number.POSITIVE_INFINITY;
  /** Machines with a host, and those that had one since lines were judged last: a machine may be released meanwhile. */
  readonly #hosted = new Set<string>();
  #hostsSeen = new Set<string>();
  #expected: ExpectedReports = { failedPurchases: new Set(), losses: new Set() };
  #problems = new Set<string>();

  constructor(url: string) {
    this.#url = url;
  }

  async poll(): Promise<void> {
    const status = await this.#get<StatusView>('/v1/status');
    const machines = await this.#list();
    for (const machine of machines.values()) this.#follow(machine);
    if (!isDeepStrictEqual(statesOf(machines), statesOf(this.#machines))) this.#movedMs = Date.now();
    this.#machines = machines;
    this.#checkCost(status, Date.now() - this.#movedMs > SETTLED_MS ? machines : null);
    for (const provider of status.providers) this.#checkHealth(provider);
  }

  /** Problems of these lines and of the polls since the last call; resets both. */
  judge(lines: readonly string[]): readonly string[] {
    const problems = [...this.#problems, ...this.#judgeLines(lines), ...this.#judgeExpected(lines)];
    this.#problems = new Set();
    this.#hostsSeen = new Set(this.#hosted);
    this.#expected = { failedPurchases: new Set(), losses: new Set() };
    return problems;
  }

  /** The end of a record: the status, and why the first Needs are unmet. */
  async report(): Promise<readonly string[]> {
    const status = await this.#get<StatusView>('/v1/status');
    const { items } = await this.#get<Page<ShortfallView>>('/v1/shortfalls?limit=20');
    return [
      `cost ${JSON.stringify(status.cost)}`,
      ...status.providers.map(({ name, health }) => `provider ${name} ${JSON.stringify(health)}`),
      ...items.map(({ id, reason, why }) => `shortfall ${id} ${reason}: ${why}`),
    ];
  }

  #follow(machine: MachineView): void {
    const { id, state, hostRef } = machine;
    const was = this.#machines.get(id);
    if (hostRef !== '') {
      this.#hosted.add(id);
      this.#hostsSeen.add(id);
    }
    if (state === 'SPECULATIVE') this.#hosted.delete(id);
    if (state !== 'FAILED' || was === undefined || was.state === 'FAILED') return;
    if (was.state === 'CREATING' && !this.#hosted.has(id)) this.#expected.failedPurchases.add(id);
    if (HOSTED.has(was.state)) this.#expected.losses.add(id);
  }

  #checkCost({ costPerHour, cost }: StatusView, machines: ReadonlyMap<string, MachineView> | null): void {
    const parts = Object.values(cost.byPart).reduce((sum, part) => sum + part, 0);
    if (Math.abs(parts - costPerHour) > TOLERANCE)
      this.#problems.add(`The parts of the cost add up to ${parts}, the total is ${costPerHour}.`);
    if (machines === null) return;
    let sum = 0;
    for (const { state, hostRef, pricePerHour } of machines.values()) {
      const hasHost = state === 'FAILED' ? hostRef !== '' : HOSTED.has(state) || state === 'DELETING';
      if (hasHost) sum += pricePerHour;
    }
    if (Math.abs(sum - costPerHour) > TOLERANCE)
      this.#problems.add(`Machines with a host cost ${sum}, the status says ${costPerHour}.`);
  }

  #checkHealth({ name, breaker, health }: ProviderView): void {
    const own = [...this.#machines.values()].filter(({ provider }) => provider === name);
    for (const [zone, machines] of Map.groupBy(own, (machine) => machine.zone)) {
      const hosts = machines.filter(({ state }) => HOSTED.has(state) || state === 'FAILED');
      const failed = hosts.filter(({ state }) => state === 'FAILED').length;
      const isDark = failed >= 5 && failed * 2 > hosts.length;
      if (isDark && breaker === 'closed' && health.state === 'fine')
        this.#problems.add(
          `Provider ${name} is reported as fine, but ${failed} machines of zone ${zone} failed.`,
        );
    }
  }

  *#judgeLines(lines: readonly string[]): Generator<string> {
    for (const line of lines) {
      if (/undefined|NaN|\[object|\bnull\b/.test(line)) yield `A line with a missing value: ${line}`;
      const [, bought] = / bought ([^ ]+) \(/.exec(line) ?? [];
      if (bought !== undefined && !this.#hostsSeen.has(bought))
        yield `Reported as bought, but no host was seen: ${line}`;
    }
  }

  *#judgeExpected(lines: readonly string[]): Generator<string> {
    const { failedPurchases, losses } = this.#expected;
    const failures = total(lines, /failed to buy (?:(\d+) machines|[^ ]+ \()/);
    if (failures < failedPurchases.size)
      yield `${failedPurchases.size} purchases failed, but lines report ${failures}.`;
    const lost =
      total(lines, /lost (?:(\d+)(?: of \d+)? machines|[^ ]+ \()/) +
      total(lines, /failed to (?:bind|reclaim|preempt|release) (?:(\d+) machines|[^ ]+ \()/);
    if (lost < losses.size) yield `${losses.size} machines were lost, but lines report ${lost}.`;
  }

  async #list(): Promise<Map<string, MachineView>> {
    const machines = new Map<string, MachineView>();
    let next: string | null = '';
    while (next !== null) {
      const after: string = next === '' ? '' : `&after=${encodeURIComponent(next)}`;
      const page: Page<MachineView> = await this.#get(`/v1/machines?limit=1000${after}`);
      for (const machine of page.items) machines.set(machine.id, machine);
      next = page.next;
    }
    return machines;
  }

  async #get<T>(path: string): Promise<T> {
    const response = await fetch(this.#url + path);
    if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
    return (await response.json()) as T;
  }
}

function statesOf(machines: ReadonlyMap<string, MachineView>): readonly (readonly string[])[] {
  return Array.from(machines.values(), ({ id, state, hostRef }) => [id, state, hostRef]);
}

/** Machines that lines report: one each, or the number they name. */
function total(lines: readonly string[], pattern: RegExp): number {
  return lines.reduce((sum, line) => {
    const found = pattern.exec(line);
    return found === null ? sum : sum + Number(found[1] ?? 1);
  }, 0);
}
