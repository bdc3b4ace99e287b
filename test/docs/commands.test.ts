// Every command of the documentation: parsed by the program, and run as a reader would, unless not-run.ts says why not.

import { readFileSync } from 'node:fs';
import { describe, expect, it, vi } from 'vitest';
import { manifestsCommand } from '../../src/cli/operator-manifests.ts';
import { bigfleetProgram, withSubCommands } from '../../src/cli/program.ts';
import { type DocCommand, type DocPage, docPage, docPages, REFERENCE, wordsOf } from './doc-commands.ts';
import { ASSUMED, NOT_RUN } from './not-run.ts';
import { outputProblem } from './outputs.ts';
import { ORDERS, type Outcome, readPage, startDemo } from './reader.ts';

// Starts a process for each command, three at a time; the timeout allows for a slow machine.
vi.setConfig({ testTimeout: 600_000 });

const PAGES = docPages();
const COMMANDS = PAGES.flatMap(({ commands }) => commands);

/** Programs that the test never runs. */
const FOREIGN: readonly DocCommand['kind'][] = ['npm', 'kubectl'];

function reasonOf({ text }: DocCommand): string | undefined {
  const entry = Object.keys(NOT_RUN).find((start) => text === start || text.startsWith(`${start} `));
  return entry === undefined ? undefined : NOT_RUN[entry];
}

/** What is run of a page. */
function run({ path, commands }: DocPage): readonly DocCommand[] {
  const assumed = (ASSUMED[path] ?? []).map(
    (text): DocCommand => ({ page: path, text, kind: 'bigfleet', exitCode: 0, shown: [] }),
  );
  const own = commands.filter((each) => !FOREIGN.includes(each.kind) && reasonOf(each) === undefined);
  return [...assumed, ...own];
}

/** What the program does not understand in these arguments; null if it would run them. */
async function misunderstood(words: readonly string[]): Promise<string | null> {
  const program = await bigfleetProgram(() => true);
  for (const command of withSubCommands(program)) {
    command.configureOutput({ writeOut: () => {} });
    // The operator has commands below it, and runs by itself too.
    if (command.commands.length === 0 || command.name() === 'operator') command.action(() => {});
  }
  try {
    await program.parseAsync(words.slice(1), { from: 'user' });
    return null;
  } catch (error) {
    const { exitCode, message } = error as { exitCode?: number; message: string };
    // Help and the version end in the same way.
    return exitCode === 0 ? null : message;
  }
}

describe('commands in the documentation', () => {
  it('given the pages, then their commands are found', () => {
    expect(COMMANDS.length).toBeGreaterThan(240);
    const { commands, files } = docPage(
      'page.md',
      '  ```\n  $ npx bigfleet get needs \\\n      --unmet  # all\n  NEED\n  $ echo $?\n  2\n  ```\n```yaml\n# a.yaml\nid: x\n```\n',
    );
    expect(commands).toEqual([
      { page: 'page.md', text: 'bigfleet get needs --unmet', kind: 'bigfleet', exitCode: 2, shown: ['NEED'] },
    ]);
    expect([...files]).toEqual([['a.yaml', '# a.yaml\nid: x\n']]);
  });

  it('given the arguments of each, then the program accepts them', async () => {
    const wrong: string[] = [];
    for (const { page, text } of COMMANDS.filter(({ kind }) => kind === 'bigfleet')) {
      const problem = await misunderstood(wordsOf(text.replace(/ …$/, '')));
      if (problem !== null) wrong.push(`${page}: ${text}: ${problem}`);
    }
    expect(wrong).toEqual([]);
  });

  it('given calls in running text, then the program knows their commands and flags', async () => {
    const calls = PAGES.flatMap(({ path, inline }) => inline.map((text) => ({ path, text })));
    expect(calls.length).toBeGreaterThan(80);
    const wrong: string[] = [];
    for (const { path, text } of calls) {
      const problem = await misunderstood(wordsOf(text.replaceAll('…', '')));
      // Sentences leave out what does not matter to them.
      if (problem !== null && !/missing|not specified/.test(problem))
        wrong.push(`${path}: ${text}: ${problem}`);
    }
    expect(wrong).toEqual([]);
  });

  it.each([
    ['bigfleet frobnicate', 'unknown command'],
    ['bigfleet get needs --loud', 'unknown option'],
    ['bigfleet get needs --limit many', 'whole number'],
    ['bigfleet explain machine a b c', 'too many'],
  ])('given %s, then it is not accepted', async (text, problem) => {
    expect(await misunderstood(wordsOf(text))).toContain(problem);
  });

  it.each([
    ['bigfleet get needs', [], '', 'It prints nothing.'],
    ['bigfleet get needs -o json', [], 'NEED\n', 'It is not JSON.'],
    ['bigfleet cost -o yaml', [], 'a: [\n', 'It is not YAML.'],
    ['bigfleet get needs -o name', [], 'web/1 met\n', 'It is not a list of KIND/NAME.'],
    ['bigfleet get needs', ['NEED  VERDICT'], 'MACHINE  STATE\n', 'It has no table that begins with NEED.'],
    ['bigfleet explain preempt', ['preempt', 'takes'], 'preempt\n', 'It does not print "takes".'],
    ['bigfleet explain preempt', ['…', 'pre…'], 'preempt\n', null],
    ['bigfleet get needs -o json | jq .', [], '', null],
    ['curl -s x/v1/needs', ['{"items":[{"id":…}],"next":null}'], 'no', 'It is not JSON.'],
    ['curl -s x/v1/needs', ['{"items":[{"id":…}],"next":null}'], '{"items":[]}', 'It has no field "next".'],
    ['curl -s x/v1/needs', ['{"items":[{"id":…}],"next":null}'], '{"items":[],"next":null}', null],
    ['curl -s x/v1/cost', ['name,machines', 'a,1'], 'name\r\n', 'It has no columns name,machines.'],
    ['curl -s x/healthz', ['ok'], '', 'It prints nothing.'],
  ])('given the output of %s, where the page shows %j and it is %j: %s', (text, shown, output, problem) => {
    const kind = text.startsWith('curl') ? 'curl' : 'bigfleet';
    const command = { page: 'page.md', text, shown, kind, exitCode: 0 } as const;
    expect(outputProblem(command, output, '')).toBe(problem);
  });

  it('given the reference, then examples of help are its commands', () => {
    const { commands } = docPage(
      'page.md',
      '```text\nUsage: bigfleet get\n\nExamples:\n  bigfleet get needs   all\n  bigfleet get mc \\\n    -w\n```\n',
    );
    expect(commands.map(({ text }) => text)).toEqual(['bigfleet get needs', 'bigfleet get mc -w']);
  });

  it('given scripts of npm, then package.json has them', () => {
    const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as {
      scripts: Record<string, string>;
    };
    const named = COMMANDS.filter(({ kind }) => kind === 'npm').flatMap(({ text }) =>
      [...text.matchAll(/\bnpm (?:run (?:--silent )?([\w:]+)|(start|test))/g)].map(
        ([, run, short]) => run ?? short!,
      ),
    );
    expect(named.length).toBeGreaterThan(10);
    expect(named.filter((name) => scripts[name] === undefined)).toEqual([]);
  });

  it('given commands of kubectl, then the objects of the operator that they name are in its manifests', async () => {
    let manifests = '';
    const command = manifestsCommand({
      read: () => Promise.reject(new Error('no file is read')),
      out: (text) => (manifests += text),
    });
    const words = ['--cluster', 'web', '--shard', 'shard.example:7780', '--mode', 'tokens'];
    await command.parseAsync(words, { from: 'user' });
    const named = COMMANDS.filter(({ kind }) => kind === 'kubectl').flatMap(
      ({ text }) => text.match(/\bbigfleet-[\w-]+/g) ?? [],
    );
    expect(named.length).toBeGreaterThan(8);
    const known = new Set(manifests.match(/[\w-]+/g));
    expect(named.filter((name) => !known.has(name))).toEqual([]);
  });

  it('given the commands that are not run, then each entry has a command', () => {
    const unused = Object.keys(NOT_RUN).filter(
      (start) => !COMMANDS.some(({ text }) => text === start || text.startsWith(`${start} `)),
    );
    expect(unused).toEqual([]);
    // Scripts of npm are never run: some take hours.
    expect(COMMANDS.filter((each) => FOREIGN.includes(each.kind) && reasonOf(each) === undefined)).toEqual(
      [],
    );
  });

  it('given all others, then each runs and ends as its page says', async () => {
    const demo = await startDemo();
    try {
      const read = async (pages: readonly DocPage[]): Promise<Outcome[]> => {
        const outcomes: Outcome[] = [];
        for (const page of pages) outcomes.push(...(await readPage(page, run(page), demo)));
        return outcomes;
      };
      const pages = PAGES.filter((page) => run(page).length > 0);
      // Those of the reference go to a shard of their own.
      const givesOrders = ({ path, commands }: DocPage): boolean =>
        !path.startsWith(REFERENCE) && commands.some(({ text }) => ORDERS.test(text));
      const others = pages.filter((page) => !givesOrders(page));
      const isReference = ({ path }: DocPage): boolean => path.startsWith(REFERENCE);
      const outcomes = await Promise.all([
        read(pages.filter(givesOrders)),
        read(others.filter((page) => !isReference(page))),
        read(others.filter(isReference)),
      ]);
      const all = outcomes.flat();
      expect(all.filter(({ code, expected, problem }) => code !== expected || problem !== null)).toEqual([]);
      expect(all.length).toBeGreaterThan(180);
      expect(all.filter(({ command }) => command.startsWith('curl ')).length).toBeGreaterThan(38);
    } finally {
      await demo.stop();
    }
  });
});
