// `bigfleet provider …`: what an author or operator of a capacity provider needs.

import { Command } from 'commander';
import { conformanceCommand } from './provider-conformance.ts';

export function providerCommand(): Command {
  return new Command('provider').description('check a capacity provider').addCommand(conformanceCommand());
}
