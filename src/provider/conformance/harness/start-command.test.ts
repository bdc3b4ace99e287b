import { execFileSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { withoutState } from './start-command.ts';

/** The arguments that a shell makes of a command whose placeholders are filled in. */
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
    ['a path that contains it', 'show --state "/tmp/a b/{state}.db" {port}', ['9000']],
    ['two uses of the state file', 'show --state {state} --wal={state}.wal {port}', ['9000']],
    ['a separate word', 'show {port} {state} {seed}', ['9000', '', '8000']],
    ['a separate word after the end of flags', 'show -p {port} -- {state} x', ['-p', '9000', '--', '', 'x']],
    ['a variable', 'S={state}; show --port {port} "--state=$S"', ['--port', '9000', '--state=']],
    ['a line continuation', 'show {port} \\\n  --state={state} \\\n  {seed}', ['9000', '8000']],
    ['a flag of another command', 'true --quiet; show {port} {state}', ['9000', '']],
    ['a comment', 'show {port} # {state}', ['9000']],
    ['no state file', 'show --addr=:{port} {seed}', ['--addr=:9000', '8000']],
  ])('given %s, then only the state file is removed', (_, command, expected) => {
    const stateless = withoutState(command);
    expect(argumentsOf(stateless!)).toEqual(expected.map((word) => `[${word}]`));
  });

  it('given a command within quotes, then the state file is removed from that command', () => {
    const inner = (quote: string) =>
      `sh -c ${quote}printf %s,%s,%s, {port} --state={state} {state} x${quote}`;
    for (const quote of [`'`, '"']) expect(argumentsOf(withoutState(inner(quote))!)).toEqual(['9000,,x,']);
  });

  it.each([
    'show --listen=:{port},{state}',
    'show {port} > {state}',
    'show {port} <{state}',
    `sh -c "show {port} 2> {state}"`,
  ])('given %s, then the state file cannot be removed', (command) => {
    expect(withoutState(command)).toBeNull();
  });
});
