// `bigfleet accept …` and `bigfleet refuse …`: settle a quarantined List or roll-up, and allow a cluster to shrink
// while rows of it are set aside.

import { Command } from 'commander';
import { addOrderFlags, EXIT_CODES, type OrderFlags, PROCESS_IO, type RemoteIo, WHY } from './flags.ts';
import { order } from './order.ts';

export function acceptCommand(io: RemoteIo = PROCESS_IO): Command {
  return new Command('accept')
    .description('accept a quarantined List or roll-up, or let a cluster with rows set aside shrink')
    .addCommand(
      settleCommand('list', 'provider', 'treat machines that are no longer listed as gone', io, {
        path: (name) => `/v1/providers/${name}/accept-list`,
        examples:
          '  bigfleet get providers                          shows which are quarantined\n  bigfleet accept list cloud',
      }),
    )
    .addCommand(
      settleCommand('rollup', 'cluster', 'use the smaller demand of the quarantined roll-up', io, {
        path: (name) => `/v1/clusters/${name}/accept-rollup`,
        examples: '  bigfleet accept rollup ml',
      }),
    )
    .addCommand(
      settleCommand(
        'set-aside',
        'cluster',
        'its machines may be reclaimed although rows of it are set aside',
        io,
        {
          path: (name) => `/v1/clusters/${name}/lift-set-aside`,
          examples:
            '  bigfleet get clusters                           shows which rows are set aside\n  bigfleet accept set-aside ml --why "the broken job is gone for good"',
        },
      ),
    )
    .addHelpText(
      'after',
      `
Examples:
  bigfleet accept list cloud
  bigfleet accept rollup ml --why "the team moved to another fleet"`,
    );
}

export function refuseCommand(io: RemoteIo = PROCESS_IO): Command {
  return new Command('refuse')
    .description('reject a quarantined roll-up and keep the demand from before it')
    .addCommand(
      settleCommand('rollup', 'cluster', 'reject it, also when it is repeated', io, {
        path: (name) => `/v1/clusters/${name}/refuse-rollup`,
        examples: '  bigfleet refuse rollup ml',
      }),
    )
    .addHelpText('after', '\nExamples:\n  bigfleet refuse rollup ml --why "its operator lost its cache"');
}

function settleCommand(
  noun: string,
  whose: string,
  summary: string,
  io: RemoteIo,
  { path, examples }: { readonly path: (name: string) => string; readonly examples: string },
): Command {
  const command = new Command(noun).description(summary).argument(`<${whose}>`, `name of the ${whose}`);
  return addOrderFlags(command)
    .addHelpText('after', `\n${EXIT_CODES}\n\nExamples:\n${examples}`)
    .option(...WHY)
    .action(async (name: string, flags: OrderFlags & { readonly why?: string }) => {
      await order(path(encodeURIComponent(name)), { why: flags.why }, flags, io);
    });
}
