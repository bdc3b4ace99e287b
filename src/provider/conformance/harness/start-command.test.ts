import { execFileSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { withoutState } from './start-command.ts';

/** What a shell makes of a command, after the places in braces are filled in. */
function argumentsOf(command: string): readonly string[] {
  const filled = command
    .replaceAll('{port}', '9000')
    .replaceAll('{seed}', '8000')
    .replaceAll('{state}', 'STATE');
  const show = 'show() { for word; do printf "%s\\n" "[$word]"; done; }; ';
  return execFileSync('sh', ['-c', show + filled], { encoding: 'utf8' })
    .trim()
    .split('\n');
}

describe('a start command without its state file', () => {
  it.each<[string, string, readonly string[]]>([
    [
      'a flag with its value',
      'show --addr=:{port} --state={state} --seed={seed}',
      ['--addr=:9000', '--seed=8000'],
    ],
    ['a flag before its value', 'show --addr :{port} --state {state} -v', ['--addr', ':9000', '-v']],
    ['a short flag', 'show {port} -s {state}', ['9000']],
    ['a short flag in one word', 'show {port} -s{state}', ['9000']],
    ['a value in quotes', 'show --state "{state}" {port}', ['9000']],
    ['a word in quotes', `show '--state={state}' {port}`, ['9000']],
    ['a path around it', 'show --state "/tmp/a b/{state}.db" {port}', ['9000']],
    ['both places of a state', 'show --state {state} --wal={state}.wal {port}', ['9000']],
    ['a word of its own', 'show {port} {state} {seed}', ['9000', '', '8000']],
    ['a word after the end of flags', 'show -p {port} -- {state} x', ['-p', '9000', '--', '', 'x']],
    ['a variable', 'S={state}; show --port {port} "--state=$S"', ['--port', '9000', '--state=']],
    ['a line that goes on', 'show {port} \\\n  --state={state} \\\n  {seed}', ['9000', '8000']],
    ['a flag of another command', 'true --quiet; show {port} {state}', ['9000', '']],
    ['a comment', 'show {port} # {state}', ['9000']],
    ['no state', 'show --addr=:{port} {seed}', ['--addr=:9000', '8000']],
  ])('given %s, then the rest is as it was', (_, command, expected) => {
    const stateless = withoutState(command);
    expect(argumentsOf(stateless!)).toEqual(expected.map((word) => `[${word}]`));
  });

  it('given a command within quotes, then that one has no state file', () => {
    const inner = (quote: string) =>
      `sh -c ${quote}printf %s,%s,%s, {port} --state={state} {state} x${quote}`;
    for (const quote of [`'`, '"']) expect(argumentsOf(withoutState(inner(quote))!)).toEqual(['9000,,x,']);
  });

  it.each([
    'show --listen=:{port},{state}',
    'show {port} > {state}',
    'show {port} <{state}',
    `sh -c "show {port} 2> {state}"`,
  ])('given %s, then nothing is guessed', (command) => {
    expect(withoutState(command)).toBeNull();
  });
});
