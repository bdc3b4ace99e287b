// `bigfleet get …`: the current state of a running shard. Each noun has its own file.

import { Command } from 'commander';
import { ACTIONS } from './actions.ts';
import { CLUSTERS } from './clusters.ts';
import { EVENTS } from './events.ts';
import { PROCESS_IO, type RemoteIo } from './flags.ts';
import { FREEZES } from './freezes.ts';
import { listCommand } from './listing.ts';
import { MACHINES } from './machines.ts';
import { NEEDS } from './needs.ts';
import { PLAN } from './plan.ts';
import { PROVIDERS } from './providers.ts';
import { SHORTFALLS } from './shortfalls.ts';
import { STATUS } from './status.ts';

export function getCommand(io: RemoteIo = PROCESS_IO): Command {
  return new Command('get')
    .description('show the current state of a running shard')
    .addCommand(listCommand(STATUS, io))
    .addCommand(listCommand(MACHINES, io))
    .addCommand(listCommand(NEEDS, io))
    .addCommand(listCommand(CLUSTERS, io))
    .addCommand(listCommand(PROVIDERS, io))
    .addCommand(listCommand(SHORTFALLS, io))
    .addCommand(listCommand(ACTIONS, io))
    .addCommand(listCommand(PLAN, io))
    .addCommand(listCommand(EVENTS, io))
    .addCommand(listCommand(FREEZES, io))
    .addHelpText(
      'after',
      `
Of these, machines alone have labels, by which -l selects.

Examples:
  bigfleet get status
  bigfleet get machines --state idle
  bigfleet get machines -l tier=web
  bigfleet get needs --unmet --shard http://127.0.0.1:7777`,
    );
}
