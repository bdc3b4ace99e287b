// Every help text, from the top level to the last sub-command.

import type { Command } from 'commander';
import { describe, expect, it } from 'vitest';
import { COMMANDS as ENTRIES } from './commands.ts';
import { invocation } from './invocation.ts';
import { bigfleetProgram, calledBy, withSubCommands } from './program.ts';
import { LINE_WIDTH } from './table.ts';

function pathOf(command: Command): string {
  return command.parent === null ? command.name() : `${pathOf(command.parent)} ${command.name()}`;
}

function helpOf(command: Command): string {
  let text = '';
  command.configureOutput({ writeOut: (part) => (text += part) });
  command.outputHelp();
  return text;
}

const COMMANDS = withSubCommands(await bigfleetProgram(() => true));

describe.each(COMMANDS.map((command) => ({ path: pathOf(command), command })))('$path --help', (each) => {
  const text = helpOf(each.command);

  it(`given any terminal, then no line is over ${LINE_WIDTH} columns`, () => {
    expect(text.split('\n').filter((line) => line.length > LINE_WIDTH)).toEqual([]);
  });

  it('given its examples, then they call this command', () => {
    const [, examples = ''] = text.split('\nExamples:\n');
    expect(examples).toContain(`  ${each.path}`);
  });

  it('given a checkout, then it shows the command to type there', () => {
    expect(text).toContain(`\nHere "bigfleet" is called as: ${invocation()}\n`);
  });

  it('given its description, then it is not empty', () => {
    expect(each.command.description()).not.toBe('');
  });
});

it('given the whole program, then all commands are tested', () => {
  expect(COMMANDS.length).toBeGreaterThan(30);
});

describe('commands that are not loaded', () => {
  it('given the loaded commands, then the summaries are equal', () => {
    const summaries = COMMANDS.filter(({ parent }) => parent?.parent === null).map((command) => [
      command.name(),
      command.description(),
    ]);
    expect(ENTRIES.map(({ name, summary }) => [name, summary])).toEqual(summaries);
  });

  it('given help of the program, then it lists them all the same', async () => {
    expect(helpOf(await bigfleetProgram(() => false))).toBe(helpOf(await bigfleetProgram(() => true)));
  });
});

describe('the command that arguments call', () => {
  it.each([
    ['get machines --state idle', 'get'],
    ['help decide', 'decide'],
    ['--no-such-flag explain', 'explain'],
    ['get help', 'get'],
  ])('%s', (words, expected) => {
    const isCalled = calledBy(words.split(' '));
    expect(ENTRIES.filter(({ name }) => isCalled(name)).map(({ name }) => name)).toEqual([expected]);
  });

  it('given no arguments, then it is none', () => {
    expect(ENTRIES.filter(({ name }) => calledBy([])(name))).toEqual([]);
  });
});
