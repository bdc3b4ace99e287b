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
  writeFileSync(join(folder, 'bigfleet'), '#!/bin/sh\necho "name-of-$3"\n');
  chmodSync(join(folder, 'bigfleet'), 0o755);
});
afterAll(() => rmSync(folder, { recursive: true }));

/** What Tab offers after a line; the last word is the one being typed. */
function offered(line: string): readonly string[] {
  const typed = line.split(' ').slice(1);
  const script = `source ${folder}/bash; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _bigfleet; printf '%s\\n' "\${COMPREPLY[@]}"`;
  const text = execFileSync('bash', ['-c', script, 'bash', join(folder, 'bigfleet'), ...typed], {
    encoding: 'utf8',
  });
  return text.split('\n').filter((word) => word !== '');
}

describe.runIf(hasShell('bash'))('completion in bash', () => {
  it.each([
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
    ['bigfleet drain ', ['name-of-machines']],
    ['bigfleet get machines --cluster ', []],
    ['bigfleet nonsense ', []],
  ])('given "%s", then %j', (line, expected) => {
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

describe('completion scripts', () => {
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
      process.env['BIGFLEET_SHARD'] = 'http://127.0.0.1:1';
      expect(await output(command, ['names', 'clusters'])).toBe('');
    } finally {
      if (before === undefined) delete process.env['BIGFLEET_SHARD'];
      else process.env['BIGFLEET_SHARD'] = before;
      await served.close();
    }
  });
});
