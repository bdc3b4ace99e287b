// A past cycle: what it decided, what it started and held back, what happened in it, and the same cycle decided again by the
// shard. The journal of the shard has all of it.

import { useState } from 'preact/hooks';
import {
  type CycleAction,
  type CyclePlan,
  decidedText,
  decidedWhy,
  fateText,
  notListedText,
  type Redecision,
  redecisionTexts,
  waitingTexts,
} from '../../cycle-text.ts';
import { count, counted, instant, milliseconds, moment } from '../../figures.ts';
import { cycleLink, type Place } from '../../place.ts';
import { kindName } from '../../plan-text.ts';
import { post } from '../api.ts';
import { apiPath, Pager } from '../filters.ts';
import { html, type VNode } from '../html.ts';
import { ClusterLink, Facts, Lines, MachineLink, NeedLink, Quiet, Section, Table } from '../parts.ts';
import { type Data, useData } from '../requests.ts';
import { History } from './history.ts';

const LIMIT = '200';
const NAMES = ['epoch', 'after'];

export function CyclePage({ place, nowMs }: { readonly place: Place; readonly nowMs: number }): VNode {
  const [cycle = ''] = place.parts;
  const route = `/v1/cycles/${encodeURIComponent(cycle)}`;
  const plan = useData<CyclePlan>(
    apiPath(route, place.query, NAMES, { limit: LIMIT }),
    apiPath(route, place.query, ['epoch']),
  );
  if (plan.value === undefined) return cycleView({ cycle, place, nowMs, plan });
  const { epoch } = plan.value;
  const query = { cycle: String(plan.value.cycle), epoch: String(epoch) };
  return html`<div>
    ${cycleView({ cycle, place, nowMs, plan })}
    <${DecideAgain} key=${`${epoch}/${cycle}`} route=${route} plan=${plan.value} />
    <${History} query=${query} nowMs=${nowMs} title="What happened in it, and until the next one" />
  </div>`;
}

interface View {
  readonly cycle: string;
  readonly place: Place;
  readonly nowMs: number;
  readonly plan: Data<CyclePlan>;
}

export function cycleView({ cycle, place, nowMs, plan: { value, error } }: View): VNode {
  if (value === undefined)
    return html`<${Section} id="cycle" title=${`Cycle ${cycle}`} kind="wide">
      ${error === '' ? html`<${Quiet}>Loading.<//>` : html`<p class="failed" role="status">${error}</p>`}
    <//>`;
  const { atMs, durationMs, decided, waiting, unmet, digest, epoch, actions } = value;
  const held = waitingTexts(waiting);
  return html`<${Section} id="cycle" title=${`Cycle ${count(value.cycle)}`} kind="wide" aside=${html`<${Neighbours} plan=${value} />`}>
    <p class="lead">It decided: ${decidedText(decided)}; ${unmet === 0 ? 'all Needs were met' : `${counted(unmet, 'Need')} ${unmet === 1 ? 'was' : 'were'} not met`}.</p>
    <${Facts} facts=${[
      ['When', html`<span title=${instant(atMs)}>${moment(atMs, nowMs)}</span>`],
      ['Took', milliseconds(durationMs)],
      ['Held back', held.length === 0 ? 'nothing' : held.join('; ')],
      ['Digest', digest],
      ['Start of the shard', String(epoch)],
    ]} />
    <${Actions} id="cycle-actions" actions=${actions.items} empty="It started nothing, and held nothing back for a new reason." />
    ${notListedText(value) === '' ? null : html`<${Quiet}>${notListedText(value)}<//>`}
    <${Pager} place=${place} next=${actions.next} text=${`${count(actions.items.length)} of ${counted(actions.total, 'action')} shown`} />
  <//>`;
}

function Neighbours({ plan: { cycle, epoch } }: { readonly plan: CyclePlan }): VNode {
  const link = (number: number): VNode =>
    html`<a href=${cycleLink(number, epoch)}>cycle ${count(number)}</a>`;
  return html`<span>${cycle > 1 ? html`${link(cycle - 1)}, ` : null}${link(cycle + 1)}</span>`;
}

interface ActionsProps {
  readonly id: string;
  readonly actions: readonly CycleAction[];
  readonly empty: string;
}

function Actions({ id, actions, empty }: ActionsProps): VNode {
  return html`<${Table} id=${id} titles=${['Action', 'Machine', 'Cluster', 'Need', 'Why', '']} empty=${empty}
    rows=${actions.map((action) => [
      kindName(action.kind),
      html`<${MachineLink} id=${action.machine} />`,
      html`<${ClusterLink} name=${action.cluster} />`,
      action.need === null ? '' : html`<${NeedLink} id=${action.need.id} />`,
      decidedWhy(action),
      fateText(action),
    ])} />`;
}

interface Asked {
  readonly isBusy: boolean;
  readonly error: string;
  readonly answer: Redecision | null;
}

function DecideAgain({ route, plan }: { readonly route: string; readonly plan: CyclePlan }): VNode {
  const [asked, setAsked] = useState<Asked>({ isBusy: false, error: '', answer: null });
  const ask = async (): Promise<void> => {
    setAsked({ isBusy: true, error: '', answer: null });
    try {
      const answer = await post<Redecision>(`${route}/redecide`, { epoch: plan.epoch });
      setAsked({ isBusy: false, error: '', answer });
    } catch (error) {
      setAsked({ isBusy: false, error: (error as Error).message, answer: null });
    }
  };
  return html`<${Section} id="redecide" title="Decide it again" kind="wide">
    <${Quiet}>The shard restores the machines and the demand of that time from its journal and decides again. Nothing is carried out.<//>
    <p><button type="button" id="redecide-button" disabled=${asked.isBusy} onClick=${() => void ask()}>${asked.isBusy ? 'Deciding' : 'Decide it again'}</button></p>
    <div role="status">${redecisionView(asked, plan)}</div>
  <//>`;
}

export function redecisionView({ error, answer }: Asked, plan: CyclePlan): VNode | null {
  if (error !== '') return html`<p class="failed" id="redecide-error">${error}</p>`;
  if (answer === null) return null;
  const nameOf = ({ kind, machine }: CycleAction): string => `${kind} ${machine}`;
  const recorded = new Map(plan.actions.items.map((action) => [nameOf(action), action]));
  const mood = answer.isSame ? 'done' : 'failed';
  const part = (id: string, title: string, { total, items }: Redecision['actions']) =>
    total === 0
      ? null
      : html`<h3>${title}${items.length < total ? `, the first ${count(items.length)} of ${count(total)}` : ''}</h3>
          <${Actions} id=${id} actions=${items.map((action) => recorded.get(nameOf(action)) ?? action)} empty="" />`;
  return html`<div>
    <${Lines} id="redecide-answer" empty="" lines=${redecisionTexts(answer).map((text, i) => (i === 0 ? { mood, text } : { text }))} />
    ${part('only-recorded', 'In the record only', answer.onlyRecorded)}
    ${answer.onlyAgain === null ? null : part('only-again', 'Decided now only', answer.onlyAgain)}
    ${part('again', 'The whole plan', answer.actions)}
  </div>`;
}
