// One Need: what it lives on, why it is not met, what keeps machines from it and what would help.

import { coverageOf, percentText } from '../../coverage.ts';
import type { NeedDetail } from '../../feed-details.ts';
import { count, counted, moment, span } from '../../figures.ts';
import { type Names, namesOf } from '../../linked-text.ts';
import { newestActions } from '../../live.ts';
import { clusterLink, linkTo, machineLink, needLink, type Place } from '../../place.ts';
import { STATES } from '../../sentences.ts';
import { html, type VNode } from '../html.ts';
import { Linked } from '../linked.ts';
import { Bar, Facts, Lines, MachineLink, NeedLink, Quiet, restText, Section, Table } from '../parts.ts';
import { type Data, useData } from '../requests.ts';
import { History } from './history.ts';
import { quantitiesText } from './needs.ts';
import { WhatIf } from './what-if.ts';

const MAX_NAMES = 50;

export function Need({ place, nowMs }: { readonly place: Place; readonly nowMs: number }): VNode {
  const [cluster = '', digits = ''] = place.parts;
  const id = `${cluster}/${digits}`;
  const path = `/v1/needs/${encodeURIComponent(cluster)}/${encodeURIComponent(digits)}`;
  const detail = useData<NeedDetail>(path);
  return html`<div>
    ${needView({ id, nowMs, detail })}
    <${WhatIf} about=${{ need: id, cluster }} />
    <${History} query=${{ need: id }} nowMs=${nowMs} title="History of this Need" />
  </div>`;
}

interface View {
  readonly id: string;
  readonly nowMs: number;
  readonly detail: Data<NeedDetail>;
}

export function needView({ id, nowMs, detail: { value, error, waiting = '' } }: View): VNode {
  if (value === undefined)
    return html`<${Section} id="need" title=${`Need ${id}`}>
      ${
        error !== ''
          ? html`<p class="failed" role="status">${error}</p>`
          : waiting !== ''
            ? html`<p class="doing" role="status">${waiting} The page asks again.</p>`
            : html`<${Quiet}>Loading.<//>`
      }
    <//>`;
  return html`<div class="grid">
    <${About} detail=${value} nowMs=${nowMs} />
    <${Why} detail=${value} />
    <${Matching} detail=${value} nowMs=${nowMs} />
    <${Served} detail=${value} />
    <${Domains} detail=${value} />
    <${Actions} detail=${value} nowMs=${nowMs} />
  </div>`;
}

function About({ detail, nowMs }: { readonly detail: NeedDetail; readonly nowMs: number }): VNode {
  const { need, sentence } = detail;
  const coverage = need.isMet ? 1 : coverageOf(need);
  return html`<${Section} id="need" title=${`Need ${need.id}`} kind="wide">
    <p class=${`lead ${need.isMet ? '' : 'failed'}`} id="need-sentence">
      <${Linked} text=${`${capital(sentence)}.`} names=${namesIn(detail)} />
    </p>
    <div class="inline"><${Bar} share=${coverage} kind=${need.isMet ? '' : 'short'} /> ${percentText(coverage)} covered</div>
    <${Facts} facts=${[
      ['Cluster', html`<a href=${clusterLink(need.cluster)}>${need.cluster}</a>`],
      ['Group', need.group],
      ['Priority', count(need.priority)],
      ['Wants', quantitiesText(need.wants)],
      ['Largest pod', quantitiesText(need.minUnit)],
      ['Missing', quantitiesText(need.missing)],
      ['Known for', nowMs === 0 ? '' : span(nowMs - need.firstSeenMs)],
      ['Not met for', need.isMet ? '' : counted(need.unmetCycles, 'cycle')],
      ['Domain', need.domain],
      [
        'Requirements',
        need.requirements.length === 0
          ? ''
          : html`<ul class="plain">${need.requirements.map((each) => html`<li><code>${each}</code></li>`)}</ul>`,
      ],
    ]} />
  <//>`;
}

function Why({ detail }: { readonly detail: NeedDetail }): VNode {
  const { need, obstacles, advice, remarks, blocker, extraSupply, remainders } = detail;
  const names = namesIn(detail);
  const lines = [
    ...(need.isMet
      ? []
      : [{ mood: 'failed', text: html`<${Linked} text=${`${capital(need.why)}.`} names=${names} />` }]),
    ...remarks.map((text) => ({ mood: 'doing', text: html`<${Linked} text=${text} names=${names} />` })),
    ...(remainders.sentence === '' ? [] : [{ text: `${capital(remainders.sentence)}.` }]),
  ];
  const ahead = obstacles
    .flatMap(({ rows = [] }) => rows)
    .filter(({ priority }) => priority >= need.priority);
  const helps = [
    ...advice.map((text) => ({ text: html`<${Linked} text=${text} names=${names} />` })),
    ...(extraSupply === null
      ? []
      : [
          {
            text: html`${counted(extraSupply.count, 'more machine')} like <${MachineLink} id=${extraSupply.like} /> would meet it.`,
          },
        ]),
  ];
  return html`<${Section} id="why" title=${need.isMet ? 'Why it is met' : 'Why it is not met'}>
    <${Lines} id="why-lines" lines=${lines} empty=${need.isMet ? 'It has all it wants.' : ''} />
    ${
      blocker === null && ahead.length === 0
        ? null
        : html`<h3>Who is ahead</h3>
            <${Table} titles=${['Need', '#Priority', '#Machines']} empty=""
              rows=${[
                ...(blocker === null || ahead.some((row) => row.id === blocker.id)
                  ? []
                  : [[html`<${NeedLink} id=${blocker.id} />`, count(blocker.priority), '']]),
                ...ahead.map((row) => [
                  html`<${NeedLink} id=${row.id} />`,
                  count(row.priority),
                  count(row.machines),
                ]),
              ]} />`
    }
    ${need.isMet ? null : html`<h3>What would meet it</h3><${Lines} id="advice" lines=${helps} empty="Nothing that the shard knows of." />`}
  <//>`;
}

function Matching({ detail, nowMs }: { readonly detail: NeedDetail; readonly nowMs: number }): VNode {
  const { matching, obstacles, onTheWay } = detail;
  const most = Math.max(1, ...obstacles.map(({ machines }) => machines));
  const coming = onTheWay.map(({ state, machines, sinceMs, expectedByMs }) => {
    const label = STATES.find((each) => each.state === state)?.label ?? state;
    const by = expectedByMs === null ? '' : `, expected by ${moment(expectedByMs, nowMs)}`;
    return {
      mood: 'doing',
      text: `${counted(machines, 'machine')} ${label} since ${moment(sinceMs, nowMs)}${by}`,
    };
  });
  return html`<${Section} id="matching" title="Machines that match, by what keeps them from it">
    <p>
      ${count(matching.configured)} serving, ${count(matching.idle)} idle and ${count(matching.speculative)} that can be
      bought meet its requirements.
    </p>
    <${Lines} lines=${coming} empty="" />
    <${Table} id="obstacles" titles=${['#Machines', '', 'What keeps them from it']} empty="Nothing keeps them from it."
      rows=${obstacles.map(({ machines, sentence }) => [
        count(machines),
        html`<${Bar} share=${machines / most} kind="short" />`,
        html`<${Linked} text=${sentence} names=${namesIn(detail)} />`,
      ])} />
  <//>`;
}

function Served({ detail }: { readonly detail: NeedDetail }): VNode {
  const { claimed, claimedTotal, shares, sharesTotal, preempts, preemptsTotal } = detail;
  return html`<${Section} id="served" title="What it counts on">
    <${MachineNames} ids=${claimed} total=${claimedTotal} empty="No machine of its own." />
    ${
      sharesTotal === 0
        ? null
        : html`<h3>Shared with other Needs</h3>
            <${Table} titles=${['Machine', 'Takes']} empty=""
              rows=${shares.slice(0, MAX_NAMES).map((share) => [html`<${MachineLink} id=${share.machine} />`, quantitiesText(share.amount)])} />`
    }
    ${
      preemptsTotal === 0
        ? null
        : html`<h3>Victims: machines that drain for it</h3>
            <${MachineNames} ids=${preempts} total=${preemptsTotal} empty="" />`
    }
  <//>`;
}

interface NamesProps {
  readonly ids: readonly string[];
  readonly total: number;
  readonly empty: string;
}

function MachineNames({ ids, total, empty }: NamesProps): VNode {
  if (total === 0) return html`<${Quiet}>${empty}<//>`;
  const shown = ids.slice(0, MAX_NAMES);
  return html`<p class="names">
    ${shown.map((id) => html`<${MachineLink} id=${id} /> `)}
    <span class="quiet">${restText(shown.length, total, 'machine', 'in order of claims')}</span>
  </p>`;
}

function Domains({ detail: { candidates } }: { readonly detail: NeedDetail }): VNode | null {
  if (candidates.length === 0) return null;
  return html`<${Section} id="domains" title="Domains, by how much of it they cover">
    <${Table} titles=${['Domain', '#Covered', '', '']} empty=""
      rows=${candidates.map(({ domain, coverage, satisfiable }) => [
        domain,
        percentText(coverage),
        html`<${Bar} share=${coverage} kind=${satisfiable ? '' : 'short'} />`,
        satisfiable ? 'can hold all of it' : 'too small',
      ])} />
  <//>`;
}

function Actions({ detail, nowMs }: { readonly detail: NeedDetail; readonly nowMs: number }): VNode {
  const named = new Map(detail.actions.map((action) => [action.id, action]));
  const lines = newestActions(detail.actions).map(({ id, mood, text, atMs }) => ({
    mood,
    text: html`<time>${moment(atMs, nowMs)}</time> <${Linked} text=${text} names=${namesOf(named.get(id)!)} />`,
  }));
  return html`<${Section} id="need-actions" title="Actions for it"
    aside=${html`<a href=${linkTo('timeline', [], { need: detail.need.id })}>timeline</a>`}>
    <${Lines} lines=${lines} empty="No action for it is known." />
  <//>`;
}

/** Names that occur in the sentences about the Need. */
function namesIn({ need, blocker, obstacles, shares, claimed, extraSupply }: NeedDetail): Names {
  const needs = [
    need.id,
    blocker?.id ?? '',
    ...obstacles.flatMap(({ rows = [] }) => rows.map(({ id }) => id)),
  ];
  const machines = [...shares.map(({ machine }) => machine), ...claimed, extraSupply?.like ?? ''];
  return [
    ...needs.filter((id) => id !== '').map((id) => [id, needLink(id)] as const),
    ...machines.slice(0, MAX_NAMES).map((id) => [id, machineLink(id)] as const),
    [need.cluster, clusterLink(need.cluster)],
  ];
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
