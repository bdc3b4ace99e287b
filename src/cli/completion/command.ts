// `bigfleet completion bash|zsh|fish`, and `completion names`, which the scripts call for names in a shard.

import { Argument, Command } from 'commander';
import { BigFleetError } from '../../model/index.ts';
import type { ClusterView, Freeze, MachineView, NeedView, Page, ProviderView } from '../../shard/index.ts';
import { freezeName } from '../../shard/planning/freezes.ts';
import { ShardClient } from '../remote/client.ts';
import { PROCESS_IO, placeOf, type RemoteIo } from '../remote/flags.ts';
import { completionScript, SHELLS, type Shell } from './script.ts';
import { commandWords, type NamedKind } from './words.ts';

/** A person waits at the prompt. */
const ANSWER_MS = 500;
/** Names that are offered; a shell shows no more in any useful way. */
const MAX_NAMES = 200;

/** `program`: with every command loaded. */
export function completionCommand(program: () => Promise<Command>, io: RemoteIo = PROCESS_IO): Command {
  const command = new Command('completion')
    .description('print a script that completes commands, flags and names in a shell')
    .addArgument(new Argument('<shell>', 'of the script').choices([...SHELLS, 'names']))
    .argument('[kind]', 'after "names": machines, clusters, needs, providers or freezes')
    .addHelpText(
      'after',
      `
Names of machines, clusters, Needs, providers and freezes are asked of the shard that commands use,
if it answers within half a second.
Exit code 0: done. 2: invalid arguments.

Examples:
  bigfleet completion bash > ~/.local/share/bash-completion/completions/bigfleet
  bigfleet completion zsh > ~/.bigfleet.zsh           and in ~/.zshrc: source ~/.bigfleet.zsh
  bigfleet completion fish > ~/.config/fish/completions/bigfleet.fish
  source <(bigfleet completion bash)                  for this shell alone`,
    )
    .action(async (shell: Shell | 'names', kind: string | undefined) => {
      if (shell === 'names') return io.out((await namesOf(kind ?? '')).map((name) => `${name}\n`).join(''));
      io.out(completionScript(shell, commandWords(await program())));
    });
  return command;
}

const NAME_OF: Readonly<Record<NamedKind, (item: never) => string>> = {
  machines: ({ id }: MachineView) => id,
  needs: ({ id }: NeedView) => id,
  clusters: ({ cluster }: ClusterView) => cluster,
  providers: ({ name }: ProviderView) => name,
  freezes: (freeze: Freeze) => freezeName(freeze),
};

/** Empty where no shard answers: a shell shows no error while a line is typed. */
async function namesOf(kind: string): Promise<readonly string[]> {
  if (!Object.hasOwn(NAME_OF, kind)) return [];
  const nameOf = NAME_OF[kind as NamedKind];
  try {
    const { shard, credentials } = await placeOf({ shard: process.env['BIGFLEET_SHARD'] ?? '' });
    const client = new ShardClient(shard, credentials, ANSWER_MS);
    const page = await client.get<Page<never>>(`/v1/${kind}`, {
      limit: String(MAX_NAMES),
    });
    // A name with other characters would have to be quoted for each shell.
    return page.items.map(nameOf).filter((name) => /^[\w./:@-]+$/.test(name));
  } catch (error) {
    if (error instanceof BigFleetError) return [];
    throw error;
  }
}
