// `bigfleet retry`, `quarantine`, `forget` and `drain`: orders about single machines, sent to the shard's HTTP API by order.ts.

import { Command } from 'commander';
import { BigFleetError } from '../../model/index.ts';
import { addOrderFlags, EXIT_CODES, type OrderFlags, PROCESS_IO, type RemoteIo, WHY } from './flags.ts';
import { order } from './order.ts';

type MachineFlags = OrderFlags & { readonly why?: string };

export function retryCommand(io: RemoteIo = PROCESS_IO): Command {
  const summary = 'clear back-off or quarantine of a machine and try it again';
  return machineCommand('retry', summary, '  bigfleet retry m-17', io).option(...WHY);
}

export function quarantineCommand(io: RemoteIo = PROCESS_IO): Command {
  const summary = 'keep a machine out of decisions until retry';
  const example = '  bigfleet quarantine m-17 --why "disk errors"';
  return machineCommand('quarantine', summary, example, io).requiredOption(
    '--why <text>',
    'reason, shown with the freeze or quarantine',
  );
}

export function forgetCommand(io: RemoteIo = PROCESS_IO): Command {
  const summary = 'hide a machine that is Failed at its provider';
  const examples = `  bigfleet forget m-17
  bigfleet get machines --forgotten               shows it all the same`;
  return machineCommand('forget', summary, examples, io).option(...WHY);
}

function machineCommand(verb: string, summary: string, examples: string, io: RemoteIo): Command {
  const command = new Command(verb)
    .description(summary)
    .argument('<machine>', 'its id, as "bigfleet get machines" shows it');
  return addOrderFlags(command)
    .addHelpText('after', `\n${EXIT_CODES}\n\nExamples:\n${examples}`)
    .action(async (machine: string, flags: MachineFlags) => {
      await order(`/v1/machines/${encodeURIComponent(machine)}/${verb}`, { why: flags.why }, flags, io);
    });
}

export function drainCommand(io: RemoteIo = PROCESS_IO): Command {
  const command = new Command('drain')
    .description('replace a machine by others, then drain it and give it back')
    .argument('<machine>', 'its id, as "bigfleet get machines" shows it')
    .option('--why <text>', 'reason, shown with the machine; required unless --cancel')
    .option('--cancel', 'take the order back');
  return addOrderFlags(command)
    .addHelpText(
      'after',
      `
Its Needs are served by other machines first; then it is reclaimed as any other machine: freezes,
caps and the operator's drain apply. It is Idle afterwards. A restart of the shard forgets the
order.
${EXIT_CODES}

Examples:
  bigfleet drain m-17 --why "disk errors"
  bigfleet get events --machine m-17 --watch      follows it
  bigfleet drain m-17 --cancel`,
    )
    .action(async (machine: string, flags: MachineFlags & { readonly cancel?: true }) => {
      const { why, cancel } = flags;
      if (why === undefined && cancel !== true)
        throw new BigFleetError(
          'BF_USAGE',
          'Give the reason with --why, or take the order back with --cancel.',
        );
      const verb = cancel === true ? 'undrain' : 'drain';
      await order(`/v1/machines/${encodeURIComponent(machine)}/${verb}`, { why }, flags, io);
    });
}
