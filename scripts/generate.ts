// `npm run generate`: all committed files that are generated: the wire types from api/proto, docs/reference/errors.md
// from the error catalogue, docs/reference/configuration.md from the settings of a shard,
// docs/reference/operator-configuration.md from those of the operator, docs/reference/cli.md from the commands, docs/reference/openapi.json
// and the table in docs/reference/api.md from the routes of its API, the import rules in
// docs/internals/architecture.md, the invariants in docs/internals/robustness.md from the simulation, and the pages
// with figures from bench/results. With --check nothing is written and any difference is an error.

import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { betweenMarkers, markdownTable } from '../bench/record/markdown.ts';
import { RECORDED_PAGES } from '../bench/record/write.ts';
import { ERRORS } from '../src/model/index.ts';
import { operatorConfigurationPage } from '../src/operator/index.ts';
import { routeTable } from '../src/shard/api/openapi.ts';
import { apiDescription, ROUTES } from '../src/shard/api/routes.ts';
import { configurationPage } from '../src/shard/index.ts';
import { INVARIANTS } from '../testing/world/invariant-names.ts';
import { cliPage } from './cli-page.ts';

const GENERATED_TYPES = 'src/wire/gen';
const PAGES: Readonly<Record<string, () => string | Promise<string>>> = {
  'docs/reference/errors.md': errorPage,
  'docs/reference/configuration.md': configurationPage,
  'docs/reference/operator-configuration.md': operatorConfigurationPage,
  'docs/reference/openapi.json': apiDescription,
  'docs/reference/cli.md': cliPage,
  'docs/reference/api.md': () => betweenMarkers(read('docs/reference/api.md'), 'routes', routeTable(ROUTES)),
  'docs/internals/architecture.md': withImportRules,
  'docs/internals/robustness.md': withInvariants,
  ...RECORDED_PAGES,
};

const EXIT_CODES = [
  '## Exit codes',
  '',
  'All commands follow one rule.',
  '',
  '| exit code | meaning |',
  '|---|---|',
  '| 0 | Done. |',
  '| 1 | The command failed, or the answer is no: a shard that ended by itself or could not write (`BF_SHARD_ENDED`, `BF_STORE_FAILED`), one that did not answer or refused (`BF_SHARD_UNREACHABLE`, `BF_TLS_FAILED`, `BF_SHARD_REFUSED`), a replayed cycle with another digest, a provider that is not certified, a history without entries, a defect (`BF_UNEXPECTED`). |',
  '| 2 | Invalid input, and nothing was begun: arguments, files, addresses, a journal, or a state file or data directory that is broken or in use by another process (`BF_STORE_LOCKED`). Every code but those above. |',
  '| 130 | It received a second signal and ended at once. |',
  '',
  'A command whose reader closes the pipe, as `| head` does, ends silently with the code it had by then.',
  '',
  '## Errors for programs',
  '',
  'A command that was called with `-o json` and fails writes one JSON object to standard error:',
  '',
  '```json',
  '{"code": "BF_USAGE", "message": "…", "remedy": "…", "problems": [{"code": "BF_USAGE", "path": "", "message": "…"}]}',
  '```',
  '',
  '`problems` has one entry for each problem; `path` says where it is, and is empty if there is no such place.',
];

const check = process.argv.includes('--check');
const scratch = mkdtempSync(join(tmpdir(), 'bigfleet-generate-'));
try {
  execFileSync('buf', ['generate', '--output', scratch], { stdio: 'inherit' });
  const fresh = join(scratch, GENERATED_TYPES);
  if (check) {
    const stale = [...differences(fresh, GENERATED_TYPES), ...(await stalePages())];
    for (const file of stale) console.error(`${file} is out of date: run "npm run generate".`);
    process.exitCode = stale.length === 0 ? 0 : 1;
  } else {
    rmSync(GENERATED_TYPES, { recursive: true, force: true });
    cpSync(fresh, GENERATED_TYPES, { recursive: true });
    for (const [file, page] of Object.entries(PAGES)) writeFileSync(file, await page());
  }
} finally {
  rmSync(scratch, { recursive: true });
}

async function stalePages(): Promise<string[]> {
  const stale: string[] = [];
  for (const [file, page] of Object.entries(PAGES)) if ((await page()) !== read(file)) stale.push(file);
  return stale;
}

function differences(fresh: string, committed: string): string[] {
  const files = new Set([...filesBelow(fresh), ...filesBelow(committed)]);
  return [...files].filter((file) => read(join(fresh, file)) !== read(join(committed, file)));
}

function filesBelow(folder: string): string[] {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  return entries.filter((e) => e.isFile()).map((e) => join(e.parentPath, e.name).slice(folder.length + 1));
}

function read(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}

/** The page with the import rules, as the check applies them. */
function withImportRules(): string {
  const require = createRequire(import.meta.url);
  const { forbidden } = require('../.dependency-cruiser.cjs') as {
    forbidden: readonly { readonly name: string; readonly comment?: string }[];
  };
  const rows = forbidden.flatMap(({ name, comment }) =>
    comment === undefined ? [] : [[`\`${name}\``, comment]],
  );
  const table = markdownTable([{ header: 'rule' }, { header: 'what it says' }], rows);
  return betweenMarkers(read('docs/internals/architecture.md'), 'imports', table);
}

/** The page with the list of invariants, which is defined once, beside the code that checks them. */
function withInvariants(): string {
  const rows = Object.entries(INVARIANTS).map(([name, text]) => [`\`${name}\``, text]);
  const table = markdownTable([{ header: 'name' }, { header: 'what holds' }], rows);
  return betweenMarkers(read('docs/internals/robustness.md'), 'invariants', table);
}

function errorPage(): string {
  const rows = Object.entries(ERRORS).map(
    ([code, entry]) => `| \`${code}\` | ${entry.summary} | ${entry.remedy} |`,
  );
  return [
    '# Error codes',
    '',
    'Every refusal carries one of these codes; they do not change. `bigfleet explain CODE` prints an entry.',
    'This page is generated from `src/model/errors.ts` by `npm run generate`.',
    '',
    '| code | what happened | what to do |',
    '|---|---|---|',
    ...rows,
    '',
    ...EXIT_CODES,
    '',
  ].join('\n');
}
