// `bigfleet explain CLUSTER/HASH`, called by explain/explain.ts. Everything about one Need
// is in the order of an operator's questions: what it wants, whether it has it, why not, what would help, and what has been
// done about it.

import { printable } from '../../model/index.ts';
import type { MachineView, NeedExplanation, NeedRef, NeedView, StatusView } from '../../shard/index.ts';
import { cutText } from '../../web/index.ts';
import { age, amounts, count, countOf } from '../amounts.ts';
import { proseWidth, wrapped } from '../table.ts';
import { needActionTable } from './actions.ts';
import { type ShardClient, whileBusy } from './client.ts';
import { factLines, proseLines } from './facts.ts';
import { clientOf, type RemoteIo, type ShardFlags } from './flags.ts';
import { machineTable } from './machines.ts';
import { needPath, verdictStyle } from './needs.ts';
import { type OutputOptions, sectionLines, table, titled } from './tables.ts';
import { wireWord } from './wire-text.ts';

/** Machines and actions that are listed before the rest is only counted. */
const MAX_LISTED = 12;

type Flags = ShardFlags & { readonly output: 'text' | 'json' };

export async function showExplanation(id: string, flags: Flags, { out, paint }: RemoteIo): Promise<void> {
  const client = await clientOf(flags);
  const explanation = await explanationOf(client, id);
  if (flags.output === 'json') return out(`${JSON.stringify(explanation, null, 2)}\n`);
  const { nowMs } = await client.get<StatusView>('/v1/status');
  const lines = await explanationLines(client, explanation, { paint, isWide: false, nowMs });
  out(`${lines.join('\n')}\n`);
}

/** Asks again while the shard is busy with its copy of a large fleet. `wait` is for tests. */
export async function explanationOf(
  client: ShardClient,
  id: string,
  wait?: (ms: number) => Promise<unknown>,
): Promise<NeedExplanation> {
  return await whileBusy(() => client.get<NeedExplanation>(needPath(id)), wait);
}

export async function explanationLines(
  client: ShardClient,
  explanation: NeedExplanation,
  options: OutputOptions,
): Promise<readonly string[]> {
  return sectionLines([
    wantSection(explanation, options),
    verdictSection(explanation, options),
    whySection(explanation, options),
    helpSection(explanation, options),
    titled('On their way to it', onTheWayLines(explanation, options), options),
    titled('Obstacles outside the decision', proseLines(explanation.remarks, '- '), options),
    titled('Domains it could go to', candidateLines(explanation, options), options),
    await machineSection(
      'Machines it counts on',
      explanation.claimed,
      explanation.claimedTotal,
      client,
      options,
    ),
    await machineSection(
      'Preempted for it',
      explanation.preempts,
      explanation.preemptsTotal,
      client,
      options,
    ),
    titled('Recent actions', actionLines(explanation, options), options),
  ]);
}

function wantSection({ need }: NeedExplanation, options: OutputOptions): readonly string[] {
  const lines = factLines([
    ['cluster', need.cluster],
    ['group', need.group],
    ['priority', count(need.priority)],
    ['wants', need.reason === 'set-aside' ? 'size not known' : amounts(need.wants)],
    ['largest pod', Object.keys(need.minUnit).length === 0 ? '' : amounts(need.minUnit)],
    ['requires', need.requirements],
    ['first seen', `${age(options.nowMs - need.firstSeenMs)} ago`],
  ]);
  return titled(`Need ${need.id}`, lines, options);
}

function verdictSection(explanation: NeedExplanation, { paint }: OutputOptions): readonly string[] {
  const { need } = explanation;
  const { isFolded, domain } = need;
  const sentences = [
    domain === null ? '' : domainText(need, domain),
    isFolded ? 'It is small, so it is served in one go with others like it and shares their machines.' : '',
  ];
  const verdict = wrapped(verdictLine(explanation), proseWidth()).map((line) =>
    paint(['bold', verdictStyle(need)], printable(line)),
  );
  return [...verdict, ...proseLines(sentences)];
}

/** `Not met, for 14 cycles: keeps 1 machine, shares 1.5 cpu of machine-7, lacks 4 cpu.` */
function verdictLine({ need, sentence }: NeedExplanation): string {
  // A shard of an earlier version sends no sentence.
  if (sentence === undefined) return need.isMet ? 'Met.' : 'Not met.';
  const text = need.isMet
    ? sentence
    : sentence.replace('not met', `not met, for ${countOf(need.unmetCycles, 'cycle')}`);
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}

/** For gangs, which are in one domain as a whole. */
function domainText({ isMet, claimed }: NeedView, domain: string): string {
  if (isMet) return `Its machines are together in "${domain}".`;
  return claimed > 0
    ? `They are in "${domain}", and the rest must be there too.`
    : `Its domain would be "${domain}": it is served there as a whole, or not at all.`;
}

function whySection(
  { need, matching, obstacles, blocker, remainders }: NeedExplanation,
  options: OutputOptions,
): readonly string[] {
  const { idle, speculative, configured } = matching;
  const supply = `${count(idle)} idle, ${count(speculative)} that could be bought, ${count(configured)} at work.`;
  const why =
    need.why === '' ? '' : `${need.why.charAt(0).toUpperCase()}${need.why.slice(1)} (${need.reason}).`;
  const lines = [
    ...proseLines([
      why,
      `Machines that meet its requirements: ${supply}`,
      remainders?.matching > 0 ? `Left over by other Needs of its cluster: ${remainders.sentence}.` : '',
    ]),
    // A Need that is met has no obstacles.
    ...proseLines(need.isMet ? [] : obstacles.map(({ sentence }) => sentence), '- '),
    ...proseLines(blocker === null ? [] : [aheadText(need, blocker), `See: bigfleet explain ${blocker.id}`]),
  ];
  return titled(need.isMet ? 'Supply' : 'Why', lines, options);
}

function aheadText(need: NeedRef, blocker: NeedRef): string {
  const group = blocker.group === '' ? '' : `, group ${blocker.group}`;
  const rank =
    blocker.priority > need.priority
      ? `priority ${count(blocker.priority)} goes before ${count(need.priority)}`
      : 'the same priority, and it was reported first';
  return `Ahead of it is ${blocker.id}${group}: ${rank}.`;
}

function onTheWayLines({ onTheWay }: NeedExplanation, { nowMs }: OutputOptions): readonly string[] {
  const sentences = onTheWay.map(({ state, machines, sinceMs, expectedByMs }) => {
    const expected =
      expectedByMs === null
        ? 'no usual time is known'
        : expectedByMs > nowMs
          ? `expected in ${age(expectedByMs - nowMs)}`
          : `expected ${age(nowMs - expectedByMs)} ago`;
    return `${countOf(machines, 'machine')} ${wireWord(state)}, for ${age(nowMs - sinceMs)}; ${expected}.`;
  });
  return proseLines(sentences, '- ');
}

function helpSection({ advice, extraSupply }: NeedExplanation, options: OutputOptions): readonly string[] {
  const sentences = [
    extraSupply === null ? '' : `${countOf(extraSupply.count, 'more machine')} like ${extraSupply.like}.`,
    ...advice,
  ];
  return titled('What would help', proseLines(sentences, '- '), options);
}

function candidateLines({ candidates }: NeedExplanation, options: OutputOptions): readonly string[] {
  const columns = [{ header: 'DOMAIN' }, { header: 'COVERS', align: 'right' }, { header: '' }] as const;
  const rows = candidates.map(({ domain, coverage, satisfiable }) => [
    { text: `"${domain}"` },
    { text: `${Math.floor(coverage * 1000) / 10} %` },
    satisfiable
      ? { text: 'completes it', style: 'green' as const }
      : { text: 'too small', style: 'red' as const },
  ]);
  return rows.length === 0 ? [] : table(columns, rows, options, { indent: 2 });
}

/** Actions for it, and actions that took machines from it, with the rows that got them. */
function actionLines({ actions }: NeedExplanation, options: OutputOptions): readonly string[] {
  const lines = needActionTable(actions.slice(0, MAX_LISTED), options, 2);
  const cut = cutText(Math.min(actions.length, MAX_LISTED), actions.length, 'action', 'newest first');
  return cut === '' ? lines : [...lines, `  ${cut}`];
}

async function machineSection(
  title: string,
  ids: readonly string[],
  total: number,
  client: ShardClient,
  options: OutputOptions,
): Promise<readonly string[]> {
  const shown = ids.slice(0, MAX_LISTED);
  const machines = await Promise.all(
    shown.map(async (id) => {
      const path = `/v1/machines/${encodeURIComponent(id)}`;
      // The machine may have disappeared since the cycle that counted on it.
      return await client.get<MachineView>(path).catch(() => ({ id }));
    }),
  );
  const rest = total - shown.length;
  const lines = machines.length === 0 ? [] : machineTable(machines, options, 2);
  return titled(title, rest > 0 ? [...lines, `  … and ${count(rest)} more`] : lines, options);
}
