// The live view of `bigfleet up` without a terminal (choose-view.ts): a line for each step, for each action with its
// reason, for each warning, and periodically the status. As JSON: one shard event per line.

import { printable } from '../../model/index.ts';
import type { Answer, ShardEvent, ShardPort } from '../../shard/index.ts';
import {
  actionText,
  costPartText,
  counted,
  cutText,
  FLEET_FREEZE,
  frozenClusterText,
  headline,
  heldBackLine,
  heldOnPurpose,
  logText,
  lossesText,
  lossText,
  ownedText,
  perHour,
  plannedLine,
  SHOWN_ELSEWHERE,
  type SupplyGroup,
  supplyGroups,
  timeOfDay,
} from '../../web/index.ts';
import type { ShardPlace, UpView } from './terminal.ts';

export interface PlainParts {
  readonly out: (text: string) => void;
  readonly format: 'text' | 'json';
  readonly monotonicMs: () => number;
  readonly nowMs: () => number;
}

const STATUS_MS = 10_000;
/** Most actions of one cycle for one cluster and reason that are shown one by one. */
const MAX_ALIKE = 3;
/** Most actions held back that are shown one by one. */
const MAX_HELD_SHOWN = 5;

type Status = Extract<ShardEvent, { kind: 'cycle' }>['status'];
type Action = Extract<ShardEvent, { readonly action: unknown }>['action'];

export class PlainView implements UpView {
  readonly #parts: PlainParts;
  #unsubscribe = () => {};
  #statusMs = Number.NEGATIVE_INFINITY;
  /** Actions that began or ended since the last cycle. */
  #started: Action[] = [];
  #port: ShardPort | undefined;
  #hint = '';
  /** Key of the last plan printed, so that an unchanged plan is not printed again. */
  #plan = '';

  constructor(parts: PlainParts) {
    this.#parts = parts;
  }

  step(text: string): void {
    if (this.#parts.format === 'text') this.#line(this.#parts.nowMs(), text);
    else this.#json({ kind: 'log', level: 'info', event: 'up-step', fields: { text } });
  }

  follow(port: ShardPort, { url, call }: ShardPlace): void {
    this.#unsubscribe();
    this.#port = port;
    this.#hint = `${call} get plan --shard ${url}`;
    this.step(`Watch it at ${url} or here. Ctrl-C ends everything.`);
    this.step(`Query it from another terminal: ${call} get shortfalls --shard ${url}`);
    this.#unsubscribe = port.listen((event) => {
      if (this.#parts.format === 'json') this.#json(event);
      else this.#print(event);
    });
  }

  stop(): void {
    this.#unsubscribe();
  }

  #print(event: ShardEvent): void {
    switch (event.kind) {
      case 'cycle':
        this.#actions();
        this.#status(event.status);
        break;
      case 'action-started':
      case 'action-ended':
        this.#started.push(event.action);
        break;
      case 'loss':
        this.#line(event.loss.atMs, lossText(event.loss));
        break;
      case 'losses':
        this.#line(event.losses.atMs, lossesText(event.losses));
        break;
      case 'log':
        if (event.level === 'info' || SHOWN_ELSEWHERE.has(event.event)) break;
        // Pending actions are printed first, so that times do not decrease.
        this.#actions();
        this.#line(this.#parts.nowMs(), `${event.level}: ${logText(event.event, event.fields)}`);
        break;
    }
  }

  /** Prints actions that began or ended since the last cycle; many similar ones, as at a cold start, share a line. */
  #actions(): void {
    const alike = Map.groupBy(this.#started, groupKey);
    this.#started = [];
    for (const actions of alike.values()) {
      if (actions.length <= (actions[0]!.outcome === 'success' ? 1 : MAX_ALIKE)) {
        for (const action of actions) this.#line(momentOf(action), actionText(action).text);
        continue;
      }
      const { capacityType: _, zone: __, from: ___, ...first } = actions[0]!;
      const many = { ...first, machine: counted(actions.length, 'machine') };
      this.#line(momentOf(first), actionText(many).text);
    }
  }

  #status(status: Status): void {
    const now = this.#parts.monotonicMs();
    if (now - this.#statusMs < STATUS_MS) return;
    this.#statusMs = now;
    void this.#printStatus(status);
  }

  /** Prints the status, and what is held back if that has changed. */
  async #printStatus(status: Status): Promise<void> {
    const isHeld = status.freezes > 0 || (status.cycle?.heldBack ?? []).length > 0;
    const [freezes, plan] = isHeld ? await this.#queryHeld() : [null, null];
    this.#statusLine(status, (freezes?.total ?? 0) > 0);
    const text = plan === null ? '' : planKey(status, plan);
    const isUnchanged = text === this.#plan;
    this.#plan = text;
    if (plan === null || isUnchanged) return;
    for (const line of planTexts(status, plan, this.#hint)) this.#line(status.nowMs, line);
  }

  /** Nulls if the shard is ending and no longer answers. */
  async #queryHeld(): Promise<[Answer<'freezes'>, Answer<'plan'>] | [null, null]> {
    const port = this.#port;
    if (port === undefined) return [null, null];
    try {
      return await Promise.all([
        port.ask('freezes', { id: FLEET_FREEZE, limit: 1 }),
        port.ask('plan', { limit: MAX_HELD_SHOWN }),
      ]);
    } catch {
      return [null, null];
    }
  }

  #statusLine(status: Status, isFleetFrozen: boolean): void {
    const figures = [
      counted(status.machines, 'machine'),
      costText(status),
      ownedText(status.ownedCost),
      counted(status.shortfalls, 'shortfall'),
    ].filter((text) => text !== '');
    const freezes = status.freezes === 0 ? '' : ` ${counted(status.freezes, 'freeze')} in force.`;
    const summary = `${headline(status, [], isFleetFrozen)}${freezes} ${figures.join(', ')}.`;
    this.#line(status.nowMs, [summary, ...supplyGroups(status).map(supplyText)].join(' '));
  }

  /** Never wrapped: tools such as `grep` expect one event per line, and a terminal wraps by itself. */
  #line(ms: number, text: string): void {
    this.#parts.out(`${timeOfDay(ms)} ${printable(text)}\n`);
  }

  #json(event: ShardEvent): void {
    this.#parts.out(`${JSON.stringify(event, jsonValue)}\n`);
  }
}

function costText({ costPerHour, cost }: Status): string {
  const parts = costPartText(cost);
  return `${perHour(costPerHour)}${parts === '' ? '' : ` (${parts})`}`;
}

/** `General: 5 of 81 Needs unmet; cpu 3,812 of 4,204 cores served, 80 unmet; 86 % of 4,888 cores used, 684 cores spare.` */
function supplyText({ title, needText, spareText, rows }: SupplyGroup): string {
  const amounts = rows.map(({ name, longText }) => `${name} ${longText}`);
  return `${[`${title}: ${needText}`, ...amounts, spareText].filter((text) => text !== '').join('; ')}.`;
}

/** Key whose change prints the plan again. Of actions that the shard itself defers, only their presence counts. */
function planKey({ cycle }: Status, { frozenClusters }: Answer<'plan'>): string {
  const heldBack = cycle?.heldBack ?? [];
  return JSON.stringify([heldOnPurpose(heldBack), heldBack.map(({ why }) => why).sort(), frozenClusters]);
}

/** What is held back: in numbers for each reason, then the first that wait for a person, then how many there are. */
function planTexts(
  { cycle }: Status,
  { frozenClusters, actions }: Answer<'plan'>,
  hint: string,
): readonly string[] {
  const heldBack = cycle?.heldBack ?? [];
  const onPurpose = heldOnPurpose(heldBack);
  const total = onPurpose.reduce((sum, held) => sum + held.total, 0);
  const shown = actions.items.filter(({ why }) => onPurpose.some((held) => held.why === why));
  const cut = cutText(shown.length, total, 'action', 'most urgent first');
  return [
    ...heldBack.map((held) => `${heldBackLine(held)}.`),
    ...frozenClusters.map(frozenClusterText),
    ...shown.map((planned) => `  ${plannedLine(planned)}`),
    ...(cut === '' ? [] : [`  ${cut}: ${hint}`]),
  ];
}

function momentOf({ startedMs, endedMs }: Action): number {
  return endedMs ?? startedMs;
}

/** Key of actions that can share one line. */
function groupKey({ kind, cluster, need, reason, leaving, outcome, message, ...rest }: Action): string {
  const row = kind === 'Preempt' ? need?.id : '';
  const error = outcome === null || outcome === 'success' ? '' : `${message} ${rest.zone}`;
  return JSON.stringify([kind, cluster, row, reason, leaving?.cause, leaving?.domain, outcome, error]);
}

/** Fields of a log line may be bigints, which JSON does not support. */
function jsonValue(_key: string, value: unknown): unknown {
  return typeof value === 'bigint' ? String(value) : value;
}
