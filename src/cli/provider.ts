// `bigfleet provider …`: what an author or operator of a capacity provider needs.

import { Command } from 'commander';
import { conformanceCommand } from './provider-conformance.ts';
import { fakeCommand } from './provider-fake.ts';

export function providerCommand(): Command {
  return new Command('provider')
    .description('try out and check capacity providers')
    .addCommand(fakeCommand())
    .addCommand(conformanceCommand());
}
