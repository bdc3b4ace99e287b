// `bigfleet decide FILE`: one decision on a scenario file, to try out a change without a shard. Prints the actions, the
// verdict on every Need and the cost; nothing is touched. The engine is loaded only once the file is parsed.

import { readFile } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import { Command, Option } from 'commander';
import {
  ACTION_KINDS,
  ACTION_WORDS,
  type ActionKind,
  BigFleetError,
  type DecisionInput,
  type Explanation,
  formatResources,
  isBound,
  keyOf,
  keyText,
  type LedgerMachine,
  type Need,
  type NeedKey,
  NO_REMAINDERS,
  nodeUseText,
  ok,
  type Plan,
  type Problem,
  printable,
  type ResourceVector,
  type Result,
  refused,
  remaindersText,
  sharesText,
  stateName,
  unclaimedText,
  unmetText,
  type Verdict,
} from '../model/index.ts';
import { type PlanJson, planJson } from '../scenario/plan-json.ts';
import { parseScenario } from '../scenario/scenario.ts';
import { dollars } from './amounts.ts';
import { adviceOn, obstacleSentences } from './decide-obstacles.ts';
import { reasonsIn } from './decide-reasons.ts';
import {
  addPhase1Flags,
  PHASE1_EXAMPLES,
  type Phase1Flags,
  type Phase1Options,
  phase1Of,
} from './phase1-flags.ts';
import { proseLines } from './remote/facts.ts';
import { errorJson } from './report-error.ts';
import { type Cell, type Paint, paintFor, type Style, tableLines, tableWidth } from './table.ts';

/** Input and output of the command; tests pass their own. */
export interface DecideIo {
  /** The text of a file; `-` is standard input. */
  readonly read: (file: string) => Promise<string>;
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
  readonly exitCode: (code: number) => void;
  readonly paint: Paint;
}

/** Characters from which parsing takes seconds (tens of seconds for YAML), so a note is printed on a terminal. */
const LARGE_TEXT = 2_000_000;

const PROCESS_IO: DecideIo = {
  read: async (file) => {
    const content = await (file === '-' ? text(process.stdin) : readFile(file, 'utf8'));
    const large = content.length > LARGE_TEXT && process.stderr.isTTY;
    if (large) process.stderr.write(`Reading ${Math.round(content.length / 1e6)} MB …\n`);
    return content;
  },
  out: (text) => process.stdout.write(text),
  err: (text) => process.stderr.write(text),
  exitCode: (code) => {
    process.exitCode = code;
  },
  paint: paintFor(process.stdout),
};

/** Actions of one kind that are listed before the rest is only counted. */
const MAX_LISTED = 20;

/** Exit code of input that cannot be decided on. */
const BAD_INPUT = 2;

interface DecideFlags extends Phase1Flags {
  readonly output: 'text' | 'json';
  readonly explain?: string;
}

/** The part of the engine that the command uses. */
export interface Decider {
  readonly decide: (input: DecisionInput, how: Phase1Options) => Promise<Plan>;
  /** The supply that a Need found at its turn; also for a Need that is met. */
  readonly explain: (input: DecisionInput, key: NeedKey) => Explanation | null;
}

export function decideCommand(loadDecider: () => Promise<Decider>, io: DecideIo = PROCESS_IO): Command {
  const command = new Command('decide')
    .description('decide on a scenario file and print the plan; nothing is touched')
    .argument('<file>', 'a scenario in JSON or YAML, or - for standard input')
    .addOption(new Option('-o, --output <format>', 'text or json').choices(['text', 'json']).default('text'))
    .option(
      '--explain <need>',
      'one Need only: CLUSTER/FINGERPRINT[/GROUP], a unique prefix of that, or its number',
    );
  return addPhase1Flags(command)
    .addHelpText('after', HELP)
    .action(async (file: string, flags: DecideFlags) => {
      const scenario = await readScenarioFile(file, io);
      if (!scenario.ok) return refuse(file, scenario.problems, flags, io);
      const { engine, input } = scenario.value;
      const decider = await loadDecider();
      const plan = await decided(() => decider.decide(input, phase1Of(flags, engine)));
      if (!plan.ok) return refuse(file, plan.problems, flags, io);
      io.out(render(plan.value, input, flags, io.paint, decider.explain));
    });
}

/** The plan, or the problems of a valid file that exceeds a limit of the engine. */
async function decided(decide: () => Promise<Plan>): Promise<Result<Plan>> {
  try {
    return ok(await decide());
  } catch (error) {
    if (error instanceof BigFleetError) return refused(error.problems);
    throw error;
  }
}

const HELP = `
Exit code 0: decided. 2: the input is wrong; every problem is listed with its path.

Examples:
  bigfleet decide examples/scenarios/first-look.yaml
  bigfleet decide fleet.json -o json | jq .cost
  bigfleet decide fleet.json --explain 2           the second Need of the table
  bigfleet decide fleet.json --explain prod-eu/    the only Need of a cluster
${PHASE1_EXAMPLES}
  generate-fleet | bigfleet decide -

The plan is the same for any number of threads, retries and lanes; starting threads pays on large
files only.`;

async function readScenarioFile(file: string, io: DecideIo): Promise<ReturnType<typeof parseScenario>> {
  try {
    return parseScenario(await io.read(file));
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return { ok: false, problems: [{ code: 'BF_INPUT_UNREADABLE', path: '', message }] };
  }
}

function refuse(file: string, problems: readonly Problem[], flags: DecideFlags, io: DecideIo): void {
  io.exitCode(BAD_INPUT);
  if (flags.output === 'json') {
    io.out(`${JSON.stringify({ problems }, null, 2)}\n`);
    const [first] = problems;
    const code = first?.code ?? 'BF_INPUT_INVALID';
    const error = new BigFleetError(code, first?.message ?? '', { problems });
    io.err(`${JSON.stringify(errorJson(error), null, 2)}\n`);
    return;
  }
  const name = file === '-' ? 'standard input' : printable(file);
  const lines = problems.map(({ code, path, message }) => {
    return `  ${code}  ${path === '' ? '' : `${printable(path)}: `}${message}`;
  });
  const count = problems.length === 1 ? 'one problem' : `${problems.length} problems`;
  io.err(`${[`${name}: ${count}, nothing decided.`, ...lines].join('\n')}\n`);
}

function render(
  plan: Plan,
  input: DecisionInput,
  flags: DecideFlags,
  paint: Paint,
  explain: Decider['explain'],
): string {
  const json = planJson(plan, input);
  const wanted = flags.explain === undefined ? undefined : findVerdict(plan.verdicts, flags.explain);
  if (flags.output === 'json') {
    const need = wanted === undefined ? undefined : json.needs[plan.verdicts.indexOf(wanted)];
    const explanation = wanted === undefined ? null : explain(input, wanted.key);
    const value = wanted === undefined ? json : { ...need, ...explanation };
    return `${JSON.stringify(value, null, 2)}\n`;
  }
  const lines =
    wanted === undefined
      ? planLines(plan, input, json, paint)
      : explainLines(wanted, plan, input, paint, explain(input, wanted.key));
  return `${lines.join('\n')}\n`;
}

/** Finds a Need by its exact name, its number in the table, or a unique prefix of its name. */
function findVerdict(verdicts: readonly Verdict[], text: string): Verdict {
  const exact = verdicts.find(({ key }) => keyName(key) === text);
  const byNumber = /^\d+$/.test(text) ? verdicts[Number(text) - 1] : undefined;
  const starting = verdicts.filter(({ key }) => keyName(key).startsWith(text));
  const found = exact ?? byNumber ?? (starting.length === 1 ? starting[0] : undefined);
  if (found !== undefined) return found;
  const which = starting.length === 0 ? verdicts : starting;
  const names = which.slice(0, 5).map(({ key }) => `\n  ${keyName(key)}`);
  const more = which.length > names.length ? `\n  … and ${which.length - names.length} more` : '';
  const what = starting.length === 0 ? 'No Need is named' : `${starting.length} Needs start with`;
  throw new BigFleetError('BF_USAGE', `${what} "${text}". Known:${names.join('')}${more}\n`);
}

function keyName({ cluster, fingerprint, group }: NeedKey): string {
  return `${cluster}/${fingerprint}${group === '' ? '' : `/${group}`}`;
}

function planLines(plan: Plan, input: DecisionInput, json: PlanJson, paint: Paint): readonly string[] {
  const met = plan.verdicts.filter(({ satisfied }) => satisfied).length;
  return [
    paint('bold', `Needs: ${plan.verdicts.length}, met ${met}`),
    ...needLines(plan, input, paint),
    '',
    paint('bold', `Actions: ${plan.actions.length}`),
    ...actionLines(plan, input, paint),
    ...holdLines(plan, input, paint),
    '',
    paint('bold', 'Cost per hour'),
    ...costLines(json, paint),
  ];
}

function needLines(plan: Plan, input: DecisionInput, paint: Paint): readonly string[] {
  const needs = new Map(input.needs.map((need) => [keyText(keyOf(need)), need]));
  const rows = plan.verdicts.flatMap((verdict, i): readonly (readonly Cell[])[] => {
    const need = needs.get(keyText(verdict.key));
    const row: readonly Cell[] = [
      { text: String(i + 1) },
      { text: verdict.key.cluster },
      { text: verdict.key.group },
      { text: String(verdict.priority) },
      { text: wantsOf(need) },
      { text: statusOf(verdict), style: styleOf(verdict) },
      { text: detailOf(verdict) },
    ];
    if (verdict.deficit.size === 0) return [row];
    const style = styleOf(verdict);
    const empty: Cell = { text: '' };
    return [row, [empty, empty, empty, { text: 'short', style }, { text: amounts(verdict.deficit), style }]];
  });
  const columns = [
    { header: '#', align: 'right' },
    { header: 'CLUSTER' },
    { header: 'GROUP' },
    { header: 'PRIORITY', align: 'right' },
    { header: 'WANTS' },
    { header: 'VERDICT' },
    { header: 'DETAIL' },
  ] as const;
  return tableLines(columns, rows, { paint, indent: 2 });
}

function wantsOf(need: Need | undefined): string {
  if (need === undefined) return '';
  return need.setAside === true ? 'size not known' : amounts(need.aggregate);
}

function statusOf({ satisfied, unmet }: Verdict): string {
  return satisfied ? 'met' : (unmet?.reason ?? 'unmet');
}

function styleOf({ satisfied, unmet }: Verdict): Style {
  if (satisfied) return 'green';
  return unmet?.reason === 'preempting' ? 'yellow' : 'red';
}

/** `keeps 1, binds 2, shares 1`. */
function detailOf({ claimed, bootstraps, provisions, preempts, shares, foldedInto }: Verdict): string {
  const kept = claimed.length - bootstraps.length - provisions.length;
  const parts = [
    kept > 0 ? `keeps ${kept}` : '',
    bootstraps.length > 0 ? `binds ${bootstraps.length}` : '',
    provisions.length > 0 ? `buys ${provisions.length}` : '',
    preempts.length > 0 ? `preempts ${preempts.length}` : '',
    shares.length > 0 ? `shares ${shares.length}` : '',
    foldedInto === null ? '' : 'folded',
  ];
  return parts.filter((part) => part !== '').join(', ');
}

function amounts(vector: ResourceVector): string {
  const entries = Object.entries(formatResources(vector));
  return entries.length === 0 ? 'nothing' : entries.map(([name, text]) => `${name} ${text}`).join(' ');
}

function actionLines(plan: Plan, input: DecisionInput, paint: Paint): readonly string[] {
  const reasonOf = reasonsIn(plan, input);
  const numbers = new Map(plan.verdicts.map(({ key }, i) => [keyText(key), i + 1]));
  const lines: string[] = [];
  for (const kind of ACTION_KINDS) {
    const actions = plan.actions.filter((action) => action.kind === kind);
    if (actions.length === 0) continue;
    lines.push(`  ${paint(KIND_STYLE[kind], ACTION_WORDS[kind].verb)} ${actions.length}`);
    const rows = actions
      .slice(0, MAX_LISTED)
      .map((action): readonly Cell[] => [
        { text: action.machine },
        { text: directionOf(action.kind, action.cluster) },
        { text: action.graceSeconds > 0 ? `grace ${duration(action.graceSeconds)}` : '' },
        { text: action.need === null ? '' : forNeed(action.need, numbers) },
        { text: reasonOf(action), style: 'dim' },
      ]);
    const columns = [{ header: '' }, { header: '' }, { header: '' }, { header: '' }, { header: '' }];
    lines.push(...tableLines(columns, rows, { paint, indent: 4 }));
    if (actions.length > MAX_LISTED) lines.push(`    … and ${actions.length - MAX_LISTED} more`);
  }
  return lines.length === 0 ? ['  none: the fleet is as it should be'] : lines;
}

/** Machines that no Need counts on and that are not reclaimed yet. */
function holdLines(
  { actions, onHold }: Plan,
  { machines, nowMs, options }: DecisionInput,
  paint: Paint,
): readonly string[] {
  const reclaimed = new Set(actions.flatMap(({ kind, machine }) => (kind === 'Reclaim' ? [machine] : [])));
  const kept = [...onHold].filter(([id]) => !reclaimed.has(id));
  if (kept.length === 0) return [];
  const clusters = new Map(machines.map(({ id, cluster }) => [id, cluster]));
  const rows = kept.slice(0, MAX_LISTED).map(([id, sinceMs]): readonly Cell[] => {
    const leftMs = sinceMs + options.reclaimHoldSeconds * 1000 - nowMs;
    return [
      { text: id },
      { text: `in ${clusters.get(id)}` },
      { text: unclaimedText(nowMs - sinceMs, leftMs, leftMs > 0 ? 'hold' : 'needs'), style: 'dim' },
    ];
  });
  return [
    '',
    paint('bold', `On hold: ${kept.length}`),
    ...tableLines([{ header: '' }, { header: '' }, { header: '' }], rows, { paint, indent: 2 }),
    ...(kept.length > MAX_LISTED ? [`  … and ${kept.length - MAX_LISTED} more`] : []),
  ];
}

const KIND_STYLE: Readonly<Record<ActionKind, Style>> = {
  Bootstrap: 'green',
  Provision: 'cyan',
  Preempt: 'red',
  Reclaim: 'yellow',
  Delete: 'magenta',
};

function directionOf(kind: ActionKind, cluster: string): string {
  if (kind === 'Bootstrap' || kind === 'Provision') return `to ${cluster}`;
  return kind === 'Delete' ? '' : `from ${cluster}`;
}

function forNeed(key: NeedKey, numbers: ReadonlyMap<string, number>): string {
  const number = numbers.get(keyText(key));
  return number === undefined ? `for a fold of ${key.cluster}` : `for Need ${number}`;
}

function duration(seconds: number): string {
  return seconds % 60 === 0 ? `${seconds / 60} min` : `${seconds} s`;
}

function costLines({ cost }: PlanJson, paint: Paint): readonly string[] {
  const change = cost.after - cost.before;
  const sign = change < 0 ? '−' : '+';
  const changed = `${sign}${dollars(Math.abs(change))} once bought and released`;
  const rows = [
    [{ text: 'before' }, { text: dollars(cost.before) }, { text: 'all machines with a host' }],
    [{ text: 'after' }, { text: dollars(cost.after) }, { text: change === 0 ? 'unchanged' : changed }],
    [{ text: 'risk' }, { text: dollars(cost.risk) }, { text: 'expected loss by interruptions' }],
  ];
  return tableLines([{ header: '' }, { header: '', align: 'right' }, { header: '' }], rows, {
    paint,
    indent: 2,
  });
}

function explainLines(
  verdict: Verdict,
  plan: Plan,
  input: DecisionInput,
  paint: Paint,
  explanation: Explanation | null,
): readonly string[] {
  const need = input.needs.find((candidate) => keyText(keyOf(candidate)) === keyText(verdict.key));
  const machines = new Map(input.machines.map((machine) => [machine.id, machine]));
  const names = new Map(plan.verdicts.map(({ key }, i) => [keyText(key), `Need ${i + 1}`]));
  const nameOf = (key: NeedKey): string => names.get(keyText(key)) ?? `a fold of ${key.cluster}`;
  const highest = plan.verdicts[0]?.priority ?? 0;
  const facts = [...wantFacts(verdict, need), ...verdictFacts(verdict, need, explanation)].filter(
    ([, text]) => text !== '',
  );
  const lines = facts.flatMap(([name, text]) => wrapFact(name, printable(text)));
  lines[0] = paint('bold', lines[0] ?? '');
  return [
    ...lines,
    ...(explanation === null || verdict.satisfied
      ? []
      : [
          ...proseSection(
            'machines that meet its requirements',
            obstacleSentences(verdict, explanation, nameOf),
          ),
          ...proseSection('what would help', adviceOn(verdict, explanation, highest, nameOf)),
        ]),
    ...machineLines('claims', verdict.claimed, machines, verdict, paint),
    ...machineLines('preempts', verdict.preempts, machines, verdict, paint),
    ...candidateLines(explanation ?? verdict, paint),
  ];
}

function proseSection(title: string, sentences: readonly string[]): readonly string[] {
  return sentences.length === 0 ? [] : ['', title, ...proseLines(sentences, '- ')];
}

type Fact = readonly [name: string, text: string];

function wantFacts({ key, priority }: Verdict, need: Need | undefined): readonly Fact[] {
  return [
    ['Need', `${key.cluster}${key.group === '' ? '' : ` / group ${key.group}`}`],
    ['fingerprint', key.fingerprint],
    ['priority', String(priority)],
    ['wants', wantsOf(need)],
    ['largest pod', need === undefined || need.minUnit.size === 0 ? '' : amounts(need.minUnit)],
  ];
}

function verdictFacts(
  verdict: Verdict,
  need: Need | undefined,
  explanation: Explanation | null,
): readonly Fact[] {
  const { unmet, deficit, domain, foldedInto } = verdict;
  const matching = (unmet ?? explanation)?.matching;
  const extra = unmet?.extraSupply;
  return [
    ['verdict', statusOf(verdict)],
    ['why', unmet === null ? '' : unmetText(unmet.reason, unmet.fitting)],
    ['shares', sharesText(verdict.shares)],
    ['short of', deficit.size === 0 ? '' : amounts(deficit)],
    ['folded into', foldedInto === null ? '' : keyName(foldedInto)],
    ['domain', domain === null ? '' : `"${domain}"${verdict.satisfiable === false ? ', too small' : ''}`],
    [
      'matching',
      matching === undefined
        ? ''
        : `${matching.idle} idle, ${matching.speculative} speculative, ${matching.configured} configured`,
    ],
    [
      'left over',
      remaindersText(explanation?.obstacles.remainders ?? NO_REMAINDERS, need?.minUnit ?? new Map()),
    ],
    ['blocked by', unmet?.blocker ? keyName(unmet.blocker) : ''],
    ['served after', unmet === null && explanation?.blocker ? keyName(explanation.blocker) : ''],
    ['would help', extra ? `${extra.count} more like ${extra.like}` : ''],
  ];
}

/** `name  text`; a long text continues on the next lines. */
function wrapFact(name: string, text: string): string[] {
  const room = tableWidth() - FACT_INDENT;
  const pieces = Number.isFinite(room) ? text.match(new RegExp(`.{1,${Math.max(1, room)}}`, 'gu')) : [text];
  return (pieces ?? ['']).map((piece, i) => (i === 0 ? name : '').padEnd(FACT_INDENT) + piece);
}

const FACT_INDENT = 13;

function machineLines(
  title: string,
  ids: readonly string[],
  machines: ReadonlyMap<string, LedgerMachine>,
  { bootstraps, provisions }: Verdict,
  paint: Paint,
): readonly string[] {
  if (ids.length === 0) return [];
  const rows = ids.map((id): readonly Cell[] => {
    const machine = machines.get(id);
    const move = bootstraps.includes(id) ? 'binds now' : provisions.includes(id) ? 'buys now' : '';
    const use = machine !== undefined && isBound(machine.state) ? nodeUseText(machine.use) : '';
    return [
      { text: id },
      { text: machine === undefined ? '' : stateName(machine.state) },
      { text: machine?.zone ?? '' },
      { text: machine === undefined ? '' : dollars(machine.pricePerHour) },
      { text: move === '' ? use : move },
    ];
  });
  const columns = [
    { header: 'MACHINE' },
    { header: 'STATE' },
    { header: 'ZONE' },
    { header: 'PER HOUR', align: 'right' },
    { header: '' },
  ] as const;
  return ['', title, ...tableLines(columns, rows, { paint, indent: 2 })];
}

function candidateLines({ candidates }: Pick<Verdict, 'candidates'>, paint: Paint): readonly string[] {
  if (candidates.length === 0) return [];
  const rows = candidates.map(({ domain, worstCoverage, satisfiable }): readonly Cell[] => [
    { text: `"${domain}"` },
    { text: `${Math.floor(worstCoverage / 1000) / 10} %` },
    { text: satisfiable ? 'completes it' : 'too small', style: satisfiable ? 'green' : 'red' },
  ]);
  const columns = [{ header: 'DOMAIN' }, { header: 'COVERS', align: 'right' }, { header: '' }] as const;
  return ['', 'domains', ...tableLines(columns, rows, { paint, indent: 2 })];
}
