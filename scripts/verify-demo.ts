// `npm run verify:demo`: runs `bigfleet up`, starts every demo scenario of its keys, records its output as text, and
// compares every line with what the shard's machines did (demo-watch.ts). Takes about four minutes. The records are in
// .cache/demo, one file a key.

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { DemoWatch } from './demo-watch.ts';

const RECORDS = '.cache/demo';

/** Key, name of the demo scenario, and how long to watch. A zone is down for 60 s; losses are printed once a minute. */
const DEMO_SCENARIOS = [
  { key: 'start', name: null, seconds: 25 },
  { key: 'b', name: 'deploy-burst', seconds: 20 },
  { key: 'g', name: 'gpu-gang', seconds: 20 },
  { key: 's', name: 'spot-wave', seconds: 20 },
  { key: 'z', name: 'zone-outage', seconds: 75 },
  { key: 'f', name: 'freeze', seconds: 12 },
] as const;

const dir = mkdtempSync(join(tmpdir(), 'verify-demo-'));
const lines: string[] = [];
const child = spawn(
  process.execPath,
  ['src/cli/main.ts', 'up', '--plain', '--dir', join(dir, 'up'), '--port', '7790'],
  {
    stdio: ['ignore', 'pipe', 'inherit'],
  },
);
const problems: string[] = [];
try {
  const url = await begin(child);
  const watch = new DemoWatch(url);
  mkdirSync(RECORDS, { recursive: true });
  for (const scenario of DEMO_SCENARIOS) problems.push(...(await recordScenario(url, watch, scenario)));
} finally {
  child.kill('SIGTERM');
  await once(child, 'exit');
  rmSync(dir, { recursive: true });
}
for (const problem of problems) console.log(problem);
console.log(problems.length === 0 ? 'Every line was true.' : `${problems.length} problems.`);
process.exit(problems.length === 0 ? 0 : 1);

/** Starts reading lines; resolves to the address of the demo. */
async function begin({ stdout }: ChildProcess): Promise<string> {
  const reader = createInterface({ input: stdout! });
  const found = Promise.withResolvers<string>();
  reader.on('line', (line) => {
    lines.push(line);
    const [url] = /http:\/\/127\.0\.0\.1:\d+/.exec(line) ?? [];
    if (line.includes('Watch it at') && url !== undefined) found.resolve(url);
  });
  reader.on('close', () => found.reject(new Error(`up ended:\n${lines.join('\n')}`)));
  return await found.promise;
}

async function recordScenario(
  url: string,
  watch: DemoWatch,
  scenario: (typeof DEMO_SCENARIOS)[number],
): Promise<readonly string[]> {
  const from = lines.length;
  console.log(`${scenario.key}: ${scenario.name ?? 'the start'}, ${scenario.seconds} s …`);
  if (scenario.name !== null) lines.push(`--- ${await cause(url, scenario.name)}`);
  const untilMs = Date.now() + scenario.seconds * 1000;
  while (Date.now() < untilMs) {
    await watch.poll();
    await sleep(250);
  }
  if (scenario.name === 'freeze') lines.push(`--- ${await order(url, '/v1/freezes', 'DELETE')}`);
  const printed = lines.slice(from);
  writeFileSync(
    join(RECORDS, `${scenario.key}.txt`),
    `${[...printed, '', ...(await watch.report())].join('\n')}\n`,
  );
  return watch.judge(printed).map((problem) => `${scenario.key}: ${problem}`);
}

async function cause(url: string, name: string): Promise<string> {
  if (name === 'freeze') return await order(url, '/v1/freezes', 'POST');
  return await post(`${url}/up/stories/${name}`, {});
}

async function order(url: string, path: string, method: 'POST' | 'DELETE'): Promise<string> {
  const body = { who: 'verify-demo', why: 'to see what would be done' };
  if (method === 'POST') return await post(url + path, body);
  const response = await fetch(`${url}${path}/fleet?who=verify-demo`, { method });
  return await response.text();
}

async function post(url: string, body: object): Promise<string> {
  const headers = { 'content-type': 'application/json' };
  const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) });
  return await response.text();
}
