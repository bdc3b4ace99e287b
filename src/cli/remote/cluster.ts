// `bigfleet cluster retire` and `unretire`: declare a cluster gone for good, or take that back; sent to the shard's HTTP
// API by order.ts.

import { Command } from 'commander';
import { addOrderFlags, EXIT_CODES, type OrderFlags, PROCESS_IO, type RemoteIo, WHY } from './flags.ts';
import { order } from './order.ts';

export function clusterCommand(io: RemoteIo = PROCESS_IO): Command {
  return new Command('cluster')
    .description('drain and give back all machines of a cluster that is gone for good')
    .addCommand(retireCommand(io))
    .addCommand(unretireCommand(io))
    .addHelpText(
      'after',
      `
Examples:
  bigfleet cluster retire old-eu --why "shut down in May"
  bigfleet cluster unretire old-eu`,
    );
}

function retireCommand(io: RemoteIo): Command {
  return clusterOrder('retire', 'count its demand as empty, and drain and give back all its machines', io, {
    examples: '  bigfleet cluster retire old-eu --why "shut down in May"',
  }).requiredOption('--why <text>', 'reason, shown with the cluster');
}

function unretireCommand(io: RemoteIo): Command {
  return clusterOrder('unretire', 'count its demand again', io, {
    examples: '  bigfleet cluster unretire old-eu',
  }).option(...WHY);
}

function clusterOrder(
  verb: 'retire' | 'unretire',
  summary: string,
  io: RemoteIo,
  { examples }: { readonly examples: string },
): Command {
  const command = new Command(verb)
    .description(summary)
    .argument('<cluster>', 'its name, as "bigfleet get clusters" shows it');
  return addOrderFlags(command)
    .addHelpText('after', `\n${EXIT_CODES}\n\nExamples:\n${examples}`)
    .action(async (cluster: string, flags: OrderFlags & { readonly why?: string }) => {
      await order(`/v1/clusters/${encodeURIComponent(cluster)}/${verb}`, { why: flags.why }, flags, io);
    });
}
