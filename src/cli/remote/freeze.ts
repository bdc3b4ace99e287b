// `bigfleet freeze` and `bigfleet unfreeze`: stop actions of a running shard, at once, for a time or until the freeze is
// lifted.

import { Command, InvalidArgumentError, Option } from 'commander';
import {
  ACTION_KINDS,
  ACTION_WORDS,
  type ActionKind,
  actionKindOf,
  BigFleetError,
} from '../../model/index.ts';
import { freezeName } from '../../shard/planning/freezes.ts';
import { durationOption } from '../flags.ts';
import { invocation, shellWord } from '../invocation.ts';
import { addOrderFlags, clientOf, EXIT_CODES, type OrderFlags, PROCESS_IO, type RemoteIo } from './flags.ts';
import { type Done, order, report } from './order.ts';

interface FreezeFlags extends OrderFlags {
  readonly fleet?: true;
  readonly cluster?: string;
  readonly action?: ActionKind;
  readonly why: string;
  /** Milliseconds. */
  readonly for?: number;
}

const VERBS = ACTION_KINDS.map((kind) => ACTION_WORDS[kind].verb);

export function freezeCommand(io: RemoteIo = PROCESS_IO): Command {
  const command = new Command('freeze')
    .description('stop actions of a running shard for a time or until unfreeze, also across restarts')
    .option('--cluster <id>', 'only what concerns this cluster')
    .addOption(new Option('--action <kind>', `only ${VERBS.join(', ')}`).argParser(kindOf))
    .addOption(new Option('--fleet', 'everything, everywhere').conflicts(['cluster', 'action']))
    .addOption(durationOption('--for <duration>', 'ends by itself after this time, such as 2h or 3d'))
    .requiredOption('--why <text>', 'reason, shown with the freeze or quarantine');
  return addOrderFlags(command)
    .addHelpText(
      'after',
      `
The shard still decides and shows its plan, but does not carry out what is frozen. Actions in flight
are completed. With --for it ends by the clock of the shard; to shorten a freeze, lift it and freeze
again.
${EXIT_CODES}

Examples:
  bigfleet freeze --cluster ml --for 2h --why "migration"
  bigfleet freeze --action reclaim --why "roll-ups options wrong"
  bigfleet freeze --cluster ml --action preempt --why "demo"
  bigfleet freeze --fleet --why "incident 42"`,
    )
    .action(async (flags: FreezeFlags) => {
      const { fleet, cluster, action, why, for: forMs } = flags;
      if (fleet !== true && cluster === undefined && action === undefined) {
        const choices = 'Specify what to freeze: --cluster, --action or both, or --fleet for everything.';
        throw new BigFleetError('BF_USAGE', choices);
      }
      const forSeconds = forMs === undefined ? undefined : Math.ceil(forMs / 1000);
      await order('/v1/freezes', { cluster, action, why, forSeconds }, flags, io);
      const id = freezeName({ cluster: cluster ?? null, action: action ?? null });
      io.out(`Lift it with: ${invocation()} unfreeze ${shellWord(id)}\n`);
    });
}

export function unfreezeCommand(io: RemoteIo = PROCESS_IO): Command {
  const command = new Command('unfreeze')
    .description('lift a freeze')
    .argument('<id>', 'as "bigfleet get freezes" shows it');
  return addOrderFlags(command)
    .addHelpText(
      'after',
      `
${EXIT_CODES}

Examples:
  bigfleet unfreeze fleet
  bigfleet unfreeze action:reclaim/cluster:ml`,
    )
    .action(async (id: string, flags: OrderFlags) => {
      const path = `/v1/freezes/${encodeURIComponent(id)}`;
      report(await (await clientOf(flags)).delete<Done>(path, { who: flags.who }), io);
    });
}

function kindOf(text: string): ActionKind {
  const kind = actionKindOf(text);
  if (kind !== undefined) return kind;
  throw new InvalidArgumentError(`It must be one of ${VERBS.join(', ')}.`);
}
