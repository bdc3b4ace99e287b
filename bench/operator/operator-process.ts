// The process that `bench operator` measures: the demand part of the operator, fed through standard input. Each line is a
// JSON text: a page of a list, a watch event, or a command. It prints its figures as one JSON document at the end.

import { Demand } from '../../src/operator/demand/demand.ts';
import type { KubeObject, Pod } from '../../src/operator/kube/objects.ts';
import type { ObjectConsumer } from '../../src/operator/kube/reflector.ts';
import { DEFAULT_TRANSLATION } from '../../src/operator/pods/settings.ts';
import { systemClock } from '../../src/runtime/system-clock.ts';
import { type Quantiles, quantilesOf } from '../quantiles.ts';

export interface OperatorFigures {
  readonly pods: number;
  readonly rows: number;
  readonly rollupBytes: number;
  readonly eventsPerRollup: number;
  /** Applying the events since the last roll-up, and building it. */
  readonly rollupMs: Quantiles;
  /** The same as CPU time of the thread, which other processes of a busy machine hardly change. */
  readonly rollupCpuMs: Quantiles;
  readonly buildMs: Quantiles;
  /** Parsing the JSON of these events, which happens as they arrive. */
  readonly parseMs: Quantiles;
  /** Reading the use of every node, for node facts. */
  readonly nodeUseMs: Quantiles;
  readonly startCpuSeconds: number;
  readonly startSeconds: number;
  readonly listedMiB: number;
  /** Largest resident size of the process, start included. */
  readonly peakRssMiB: number;
  readonly endRssMiB: number;
}

/** A line of the feed. */
export type Line =
  | { readonly list: string; readonly items: readonly KubeObject[] }
  | { readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'; readonly object: Pod }
  | { readonly command: 'listed' | 'measure' | 'rollup' | 'end' };

const PARTS = { extraNeeds: [], nodeFacts: undefined };
const started = performance.now();
const demand = new Demand('bench', {
  mode: 'all',
  translation: DEFAULT_TRANSLATION,
  alternativePatienceMs: 120_000,
  isManaged: () => true,
  clock: systemClock,
});
const consumers = demand.consumers as unknown as Readonly<Record<string, ObjectConsumer<KubeObject>>>;
for (const consumer of Object.values(consumers)) consumer.listing();

const nodes: string[] = [];
const samples = {
  rollup: [] as number[],
  cpu: [] as number[],
  build: [] as number[],
  parse: [] as number[],
  use: [] as number[],
};
let listedBytes = 0;
let start = { cpuSeconds: 0, seconds: 0 };
let isMeasured = false;
let parseMs = 0;
let applyMs = 0;
let cpuMs = 0;
let events = 0;
let rollupBytes = 0;

function handle(text: string): void {
  const before = performance.now();
  const line = JSON.parse(text) as Line;
  const parsed = performance.now();
  if ('type' in line) {
    const cpu = threadCpuMs();
    if (line.type === 'DELETED') consumers['pods']!.remove(line.object);
    else consumers['pods']!.set(line.object);
    parseMs += parsed - before;
    applyMs += performance.now() - parsed;
    cpuMs += threadCpuMs() - cpu;
    events++;
  } else if ('list' in line) {
    listedBytes += text.length;
    const consumer = consumers[line.list]!;
    for (const object of line.items) consumer.set(object);
    if (line.list === 'nodes') nodes.push(...line.items.map(({ metadata }) => metadata.name));
  } else command(line.command);
}

function command(name: 'listed' | 'measure' | 'rollup' | 'end'): void {
  if (name === 'listed') {
    for (const consumer of Object.values(consumers)) consumer.listed();
    if (demand.build(1n, PARTS) === null) throw new Error(demand.problem ?? 'no roll-up');
    const { user, system } = process.cpuUsage();
    start = { cpuSeconds: (user + system) / 1e6, seconds: (performance.now() - started) / 1000 };
  } else if (name === 'measure') isMeasured = true;
  else if (name === 'rollup') rollup();
  else finish();
}

function rollup(): void {
  const cpu = threadCpuMs();
  const before = performance.now();
  const built = demand.build(BigInt(Date.now()) * 1_000_000n, PARTS)!;
  const buildMs = performance.now() - before;
  cpuMs += threadCpuMs() - cpu;
  rollupBytes = built.bytes.length;
  const reading = performance.now();
  for (const name of nodes) demand.useOf(name);
  const useMs = performance.now() - reading;
  if (isMeasured) {
    samples.rollup.push(applyMs + buildMs);
    samples.cpu.push(cpuMs);
    samples.build.push(buildMs);
    samples.parse.push(parseMs);
    samples.use.push(useMs);
  } else events = 0;
  parseMs = applyMs = cpuMs = 0;
}

function threadCpuMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}

function finish(): void {
  const { objects: pods, rows } = demand.counts;
  const figures: OperatorFigures = {
    pods,
    rows,
    rollupBytes,
    eventsPerRollup: Math.round(events / samples.rollup.length),
    rollupMs: quantilesOf(samples.rollup),
    rollupCpuMs: quantilesOf(samples.cpu),
    buildMs: quantilesOf(samples.build),
    parseMs: quantilesOf(samples.parse),
    nodeUseMs: quantilesOf(samples.use),
    startCpuSeconds: Math.round(start.cpuSeconds * 10) / 10,
    startSeconds: Math.round(start.seconds * 10) / 10,
    listedMiB: Math.round(listedBytes / 2 ** 20),
    peakRssMiB: Math.round(process.resourceUsage().maxRSS / 1024),
    endRssMiB: Math.round(process.memoryUsage.rss() / 2 ** 20),
  };
  console.log(JSON.stringify(figures));
}

/** Joins the pieces of a line once, when its end arrives. */
let pieces: Buffer[] = [];
for await (const chunk of process.stdin as AsyncIterable<Buffer>) {
  let from = 0;
  for (let end = chunk.indexOf(10); end !== -1; end = chunk.indexOf(10, from)) {
    pieces.push(chunk.subarray(from, end));
    const text = pieces.length === 1 ? pieces[0]!.toString() : Buffer.concat(pieces).toString();
    pieces = [];
    from = end + 1;
    handle(text);
  }
  if (from < chunk.length) pieces.push(chunk.subarray(from));
}
