// `bigfleet provider …`: what an author or operator of a capacity provider needs.

import { Command } from 'commander';
import { conformanceCommand } from './provider-conformance.ts';
import { fakeCommand } from './provider-fake.ts';

export function providerCommand(): Command {
  return new Command('provider')
    .description('try out and check capacity providers')
    .addCommand(fakeCommand())
    .addCommand(conformanceCommand())
    .addHelpText(
      'after',
      `
Examples:
  bigfleet provider fake --preset calm
  bigfleet provider conformance --target 127.0.0.1:9000`,
    );
}
