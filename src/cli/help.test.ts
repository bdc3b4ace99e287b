// Every help text, from the top level to the last sub-command.

import type { Command } from 'commander';
import { describe, expect, it } from 'vitest';
import { bigfleetProgram, withSubCommands } from './program.ts';
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

const COMMANDS = withSubCommands(bigfleetProgram());

describe.each(COMMANDS.map((command) => ({ path: pathOf(command), command })))('$path --help', (each) => {
  const text = helpOf(each.command);

  it(`has no line over ${LINE_WIDTH} columns`, () => {
    expect(text.split('\n').filter((line) => line.length > LINE_WIDTH)).toEqual([]);
  });

  it('has examples of this very command', () => {
    const [, examples = ''] = text.split('\nExamples:\n');
    expect(examples).toContain(`  ${each.path}`);
  });

  it('says what it does', () => {
    expect(each.command.description()).not.toBe('');
  });
});

it('there are as many as the command line has', () => {
  expect(COMMANDS.length).toBeGreaterThan(30);
});
