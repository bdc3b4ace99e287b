// `npm run --silent bench -- economy`: what the same pods cost under the rules of the engine, as a multiple of a lower bound,
// beside a packer that sees every pod. See docs/reference/economy.md.

import { writeFileSync } from 'node:fs';
import { progressOn } from '../ladder/progress.ts';
import { optionsGiven } from '../options.ts';
import type { EconomyResult, SeedFigures } from './figures.ts';
import { htmlPage } from './html-page.ts';
import { loadParameters } from './parameters.ts';
import { POLICIES } from './policies.ts';
import { textReport } from './report.ts';
import { PARTS, type Part, runSeed } from './run.ts';

const HELP = `bench economy: dollars an hour of the same pods, as a multiple of a lower bound

  --profile NAME   bench/profiles/NAME.yaml; there is one, economy (default)
  --seed N         seed of demand and prices (default 1); may be given more than once
  --part NAME      only this part; may be given more than once (default: all)
                   cold            an empty fleet until every row's sum is covered
                   large-shapes    cold, on a catalogue without small machines
                   end-to-end      pods placed by a model of kube-scheduler, with episodes for stuck ones
                   noise           demand that varies by 5 % in every cycle, 500 cycles
                   consolidation   a fleet bought under the first policy, left alone under another
  --policy NAME    only this policy; may be given more than once: ${Object.keys(POLICIES).join(', ')}
  --json           one JSON document on standard output
  --html FILE      also write the figures as a page with plots

The lower bound and the packer are part of every run. One seed takes about a minute.

examples:
  npm run --silent bench -- economy --part cold
  npm run --silent bench -- economy --seed 1 --seed 2 --html economy.html
`;

const values = optionsGiven({
  profile: { type: 'string', default: 'economy' },
  seed: { type: 'string', multiple: true, default: ['1'] },
  part: { type: 'string', multiple: true, default: [...PARTS] },
  policy: { type: 'string', multiple: true, default: Object.keys(POLICIES) },
  json: { type: 'boolean', default: false },
  html: { type: 'string' },
  help: { type: 'boolean', default: false },
});

/** The problem of the command line; null if there is none. */
function usageProblem(): string | null {
  const { part, policy, profile, seed } = values;
  if (profile !== 'economy') return `There is no profile ${profile} for this benchmark; there is economy.`;
  const notWhole = seed.find((text) => !Number.isInteger(Number(text)));
  if (notWhole !== undefined) return `--seed is a whole number, not ${notWhole}.`;
  const noPart = part.find((name) => !isPart(name));
  if (noPart !== undefined) return `There is no part ${noPart}; there are ${PARTS.join(', ')}.`;
  const noPolicy = policy.find((name) => !Object.hasOwn(POLICIES, name));
  if (noPolicy === undefined) return null;
  return `There is no policy ${noPolicy}; there are ${Object.keys(POLICIES).join(', ')}.`;
}

function isPart(name: string): name is Part {
  return (PARTS as readonly string[]).includes(name);
}

async function run(): Promise<void> {
  const parameters = loadParameters();
  const progress = progressOn(process.stderr, 'economy');
  const seeds: SeedFigures[] = [];
  for (const seed of values.seed) {
    const parts = new Set(values.part.filter(isPart));
    seeds.push(
      await runSeed(parameters, Number(seed), parts, values.policy, (text) => progress.update(text)),
    );
  }
  progress.done();
  const result: EconomyResult = { profile: values.profile, seeds };
  if (values.html !== undefined) writeFileSync(values.html, htmlPage(result));
  console.log(values.json ? JSON.stringify(result, null, 2) : textReport(result));
}

const problem = usageProblem();
if (values.help) console.log(HELP);
else if (problem !== null) {
  console.error(`${problem} See --help.`);
  process.exitCode = 2;
} else await run();
