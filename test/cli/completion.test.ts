// Completion scripts: that of bash is run in bash, as a person would press Tab.

import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { completionCommand } from '../../src/cli/completion/command.ts';
import { completionScript, SHELLS } from '../../src/cli/completion/script.ts';
import { type CommandWords, commandWords } from '../../src/cli/completion/words.ts';
import { bigfleetProgram } from '../../src/cli/program.ts';
import { output, servedShard } from './served.ts';

const hasShell = (shell: string): boolean => spawnSync(shell, ['--version']).status === 0;

let folder: string;
let words: readonly CommandWords[];
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'bigfleet-completion-'));
  words = commandWords(await bigfleetProgram(() => true));
  for (const shell of SHELLS) writeFileSync(join(folder, shell), completionScript(shell, words));
  // Replaces the command that scripts call for names.
  writeFileSync(
    join(folder, 'bigfleet'),
    '#!/bin/sh\necho "name-of-$3"\n[ "$3" != freezes ] || echo action:buy/cluster:ml\n',
  );
  chmodSync(join(folder, 'bigfleet'), 0o755);
});
afterAll(() => rmSync(folder, { recursive: true }));

/** What Tab offers after a line in bash, which divides it at spaces and colons. */
function offered(line: string): readonly string[] {
  const typed = line.split(/ |(?<=:)|(?=:)/).slice(1);
  const script = `source ${folder}/bash; COMP_LINE="$1"; COMP_POINT=\${#1}; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _bigfleet; printf '%s\\n' "\${COMPREPLY[@]}"`;
  const bigfleet = join(folder, 'bigfleet');
  const shown = line.replace('bigfleet', bigfleet);
  const text = execFileSync('bash', ['-c', script, 'bash', shown, bigfleet, ...typed], { encoding: 'utf8' });
  return text.split('\n').filter((word) => word !== '');
}

/** What the function offers after a line in zsh, called as bashcompinit does, which does not divide words at colons. */
function offeredByZsh(line: string): readonly string[] {
  const call = `emulate -L sh; COMP_LINE="$1"; COMP_POINT=\${#1}; _bigfleet; for each in "\${COMPREPLY[@]}"; do echo "$each"; done`;
  const script = `compdef() { }; path=(${folder} $path); source ${folder}/zsh; offer() { ${call} }; offer "$1"`;
  const text = execFileSync('zsh', ['-fc', script, 'zsh', line], { encoding: 'utf8' });
  return text.split('\n').filter((word) => word !== '');
}

/** What Tab offers after a line in fish. */
function offeredByFish(line: string): readonly string[] {
  const script = `set PATH ${folder} $PATH; source ${folder}/fish; complete -C '${line}'`;
  const text = execFileSync('fish', ['--no-config', '-c', script], { encoding: 'utf8' });
  return text.split('\n').flatMap((each) => each.split('\t')[0] || []);
}

const OFFERED: readonly (readonly [string, readonly string[]])[] = [
  ['bigfleet desc', ['describe']],
  ['bigfleet get ma', ['machines']],
  ['bigfleet get mc --so', ['--sort-by']],
  ['bigfleet get machines -o ', ['table', 'wide', 'json', 'yaml', 'name', 'csv']],
  ['bigfleet get status -o ', ['table', 'wide', 'json', 'yaml']],
  ['bigfleet get machines -o json --sta', ['--state']],
  ['bigfleet get machines --state idle --no', ['--no-headers']],
  ['bigfleet completion ', ['bash', 'zsh', 'fish', 'names']],
  ['bigfleet history ', ['machine', 'need', 'cluster']],
  ['bigfleet provider fake --ad', ['--addr']],
  ['bigfleet config use', ['use-context']],
  ['bigfleet describe cl', ['cluster']],
  ['bigfleet describe machine ', ['name-of-machines']],
  ['bigfleet get cluster ', ['name-of-clusters']],
  ['bigfleet describe mc ', ['name-of-machines']],
  ['bigfleet explain machine ', ['name-of-machines']],
  ['bigfleet history cluster ', ['name-of-clusters']],
  ['bigfleet explain machine m-1 ', []],
  ['bigfleet drain ', ['name-of-machines']],
  ['bigfleet unfreeze ', ['name-of-freezes', 'action:buy/cluster:ml']],
  ['bigfleet unfreeze action:b', ['buy/cluster:ml']],
  ['bigfleet unfreeze action:buy/cluster:', ['ml']],
  ['bigfleet get freeze ', ['name-of-freezes', 'action:buy/cluster:ml']],
  ['bigfleet get machines --state=idle --no', ['--no-headers']],
  ['bigfleet get machines --cluster ', []],
  ['bigfleet nonsense ', []],
];

describe.runIf(hasShell('bash'))('completion in bash', () => {
  it.each(OFFERED)('given "%s", then %j', (line, expected) => {
    expect(offered(line)).toEqual(expected);
  });

  it('given nothing, then every command is offered', async () => {
    const program = await bigfleetProgram(() => false);
    expect(offered('bigfleet ').toSorted()).toEqual(program.commands.map((each) => each.name()).toSorted());
  });

  it('given a file flag, then files are offered', () => {
    expect(offered(`bigfleet get status --tls-ca ${folder}/ba`)).toEqual([join(folder, 'bash')]);
  });
});

describe.runIf(hasShell('zsh'))('completion in zsh', () => {
  it.each(OFFERED)('given "%s", then %j', (line, expected) => {
    // zsh replaces the whole word, and leaves out by itself what does not begin with it.
    const typed = line.split(' ').at(-1)!;
    const whole = typed.includes(':') ? ['action:buy/cluster:ml'] : expected;
    expect(offeredByZsh(line).filter((word) => word.startsWith(typed))).toEqual(whole);
  });
});

describe.runIf(hasShell('fish'))('completion in fish', () => {
  it.each([
    ['bigfleet desc', ['describe']],
    ['bigfleet get ma', ['machines']],
    ['bigfleet get machines m-1 -o json --sta', ['--state']],
    ['bigfleet get mc -o j', ['json']],
    ['bigfleet describe ', ['cluster', 'machine', 'need', 'provider']],
    ['bigfleet describe machine ', ['name-of-machines']],
    ['bigfleet explain machine ', ['name-of-machines']],
    ['bigfleet explain cl ', ['name-of-clusters']],
    ['bigfleet explain machine m-1 ', []],
    ['bigfleet drain ', ['name-of-machines']],
    ['bigfleet unfreeze ', ['action:buy/cluster:ml', 'name-of-freezes']],
    ['bigfleet unfreeze action:', ['action:buy/cluster:ml']],
  ])('given "%s", then %j', (line, expected) => {
    expect(offeredByFish(line).toSorted()).toEqual(expected);
  });
});

describe('completion scripts', () => {
  it.each(SHELLS)('given %s, then names follow kinds, and freezes follow unfreeze', (shell) => {
    const script = completionScript(shell, words);
    for (const path of ['describe', 'explain', 'history'])
      expect(script).toMatch(
        shell === 'fish'
          ? new RegExp(`__bigfleet_after "${path}" machine machines mc.*__bigfleet_names machines`)
          : new RegExp(`'${path} machine'\\|'${path} machines'\\|'${path} mc'\\) echo 'machines'`),
      );
    expect(script).toMatch(
      shell === 'fish' ? /__bigfleet_at "unfreeze" 0.*names freezes/ : /'unfreeze'\) echo 'freezes'/,
    );
  });

  it.each(SHELLS)(
    'given %s, then the script has every command and flag, and the shell accepts it',
    (shell) => {
      const script = completionScript(shell, words);
      for (const { path, flags } of words) {
        expect(script).toContain(path);
        for (const { names } of flags) expect(script).toContain(names.at(-1)!.replace(/^-+/, ''));
      }
      if (!hasShell(shell)) return;
      const { status, stderr } = spawnSync(shell, ['-n', join(folder, shell)], { encoding: 'utf8' });
      expect(stderr).toBe('');
      expect(status).toBe(0);
    },
  );

  it('given the command, then it prints the script, and names of a shard', async () => {
    const command = (io: Parameters<typeof completionCommand>[1]) =>
      completionCommand(() => bigfleetProgram(() => true), io);
    expect(await output(command, ['fish'])).toBe(completionScript('fish', words));
    const served = await servedShard();
    const before = process.env['BIGFLEET_SHARD'];
    process.env['BIGFLEET_SHARD'] = served.url;
    try {
      expect(await output(command, ['names', 'clusters'])).toBe('prod-eu\nml\n');
      expect(await output(command, ['names', 'freezes'])).toBe('action:buy\n');
      expect(await output(command, ['names', 'constructor'])).toBe('');
      process.env['BIGFLEET_SHARD'] = 'http://127.0.0.1:1';
      expect(await output(command, ['names', 'clusters'])).toBe('');
    } finally {
      if (before === undefined) delete process.env['BIGFLEET_SHARD'];
      else process.env['BIGFLEET_SHARD'] = before;
      await served.close();
    }
  });
});
