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

  it(`has no line over ${LINE_WIDTH} columns`, () => {
    expect(text.split('\n').filter((line) => line.length > LINE_WIDTH)).toEqual([]);
  });

  it('has examples of this very command', () => {
    const [, examples = ''] = text.split('\nExamples:\n');
    expect(examples).toContain(`  ${each.path}`);
  });

  it('says how it is called in a checkout', () => {
    expect(text).toContain(`\nHere "bigfleet" is called as: ${invocation()}\n`);
  });

  it('says what it does', () => {
    expect(each.command.description()).not.toBe('');
  });
});

it('there are as many as the command line has', () => {
  expect(COMMANDS.length).toBeGreaterThan(30);
});

describe('commands that are not loaded', () => {
  it('have the summaries that the commands themselves have', () => {
    const summaries = COMMANDS.filter(({ parent }) => parent?.parent === null).map((command) => [
      command.name(),
      command.description(),
    ]);
    expect(ENTRIES.map(({ name, summary }) => [name, summary])).toEqual(summaries);
  });

  it('are listed by help as if they were', async () => {
    expect(helpOf(await bigfleetProgram(() => false))).toBe(helpOf(await bigfleetProgram(() => true)));
  });
});

describe('the command that words call', () => {
  it.each([
    ['get machines --state idle', 'get'],
    ['help decide', 'decide'],
    ['--no-such-flag explain', 'explain'],
    ['get help', 'get'],
  ])('%s', (words, expected) => {
    const isCalled = calledBy(words.split(' '));
    expect(ENTRIES.filter(({ name }) => isCalled(name)).map(({ name }) => name)).toEqual([expected]);
  });

  it('is none without words', () => {
    expect(ENTRIES.filter(({ name }) => calledBy([])(name))).toEqual([]);
  });
});
