// `bigfleet config …`: the contexts of the user, each a shard with credentials, and which one commands use.

import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { Command } from 'commander';
import { BigFleetError, printable } from '../../model/index.ts';
import { tableLines } from '../table.ts';
import { shardUrlOf } from './client.ts';
import { type Context, contextNamed, contextsPath, readContexts, writeContexts } from './contexts.ts';
import { PROCESS_IO, type RemoteIo } from './flags.ts';

const HELP = `
Contexts are in $BIGFLEET_CONFIG, or in ~/.config/bigfleet/config.yaml. Flags and BIGFLEET_SHARD win
over the current context; BIGFLEET_CONTEXT names another one for one command.
Exit code 0: done. 2: there is no such context, or the file cannot be used.`;

export function configCommand(io: RemoteIo = PROCESS_IO): Command {
  return new Command('config')
    .description('keep contexts: shards with credentials, and the one that commands use')
    .addCommand(setCommand(io))
    .addCommand(useCommand(io))
    .addCommand(listCommand(io))
    .addCommand(currentCommand(io))
    .addCommand(deleteCommand(io))
    .addHelpText(
      'after',
      `${HELP}

Examples:
  bigfleet config set-context prod --shard https://shard.example:8780 \\
      --ca fleet.crt --cert me.crt --key me.key
  bigfleet config use-context prod`,
    );
}

interface SetFlags {
  readonly shard: string;
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
  readonly tokenFile?: string;
}

function setCommand({ out }: RemoteIo): Command {
  return new Command('set-context')
    .description('write a context; the first one becomes current')
    .argument('<name>', 'its name')
    .requiredOption('--shard <url>', 'where the shard serves its API')
    .option('--ca <file>', 'the authority of the fleet')
    .option('--cert <file>', 'your certificate, with --key and --ca')
    .option('--key <file>', 'its key')
    .option('--token-file <file>', 'a file with your token, instead of a certificate')
    .addHelpText(
      'after',
      `${HELP}

Examples:
  bigfleet config set-context demo --shard http://127.0.0.1:7777
  bigfleet config set-context prod --shard https://shard.example:8780 --token-file token`,
    )
    .action(async (name: string, flags: SetFlags) => {
      const file = await readContexts();
      const contexts = { ...file.contexts, [name]: contextOf(flags) };
      const current = file.current ?? name;
      await writeContexts({ current, contexts });
      out(`Context ${printable(name)} is written to ${printable(contextsPath())}.\n`);
      if (current !== name) out(`To use it: bigfleet config use-context ${printable(name)}\n`);
    });
}

/** Paths become absolute: a context is used from any directory. */
function contextOf({ shard, ca, cert, key, tokenFile }: SetFlags): Context {
  shardUrlOf(shard, 'https');
  if ((cert === undefined) !== (key === undefined))
    throw new BigFleetError('BF_USAGE', 'A certificate needs its key: give --cert and --key.');
  if (cert !== undefined && ca === undefined)
    throw new BigFleetError('BF_USAGE', 'A certificate needs the authority of the fleet: give --ca.');
  if (cert !== undefined && tokenFile !== undefined)
    throw new BigFleetError('BF_USAGE', 'Give a certificate or --token-file, not both.');
  const files = Object.entries({ ca, cert, key, tokenFile }).flatMap(([field, path]) => {
    if (path === undefined) return [];
    const absolute = resolve(path);
    if (!existsSync(absolute))
      throw new BigFleetError('BF_INPUT_UNREADABLE', `There is no file ${printable(absolute)}.`);
    return [[field, absolute]];
  });
  return { shard, ...(Object.fromEntries(files) as Omit<Context, 'shard'>) };
}

function useCommand({ out }: RemoteIo): Command {
  return new Command('use-context')
    .description('make a context the one that commands use')
    .argument('<name>', 'as "bigfleet config get-contexts" shows it')
    .addHelpText('after', `${HELP}\n\nExamples:\n  bigfleet config use-context prod`)
    .action(async (name: string) => {
      const file = await readContexts();
      const { shard } = contextNamed(file, name);
      await writeContexts({ ...file, current: name });
      out(`Commands use ${printable(name)}, the shard at ${printable(shard)}.\n`);
    });
}

function listCommand({ out, paint }: RemoteIo): Command {
  return new Command('get-contexts')
    .description('list all contexts')
    .addHelpText('after', `${HELP}\n\nExamples:\n  bigfleet config get-contexts`)
    .action(async () => {
      const { current, contexts } = await readContexts();
      const rows = Object.entries(contexts).map(([name, context]) => [
        { text: name === current ? '*' : '' },
        { text: name },
        { text: context.shard },
        { text: identityIn(context) },
      ]);
      const columns = [
        { header: '' },
        { header: 'NAME', isWhole: true },
        { header: 'SHARD', isWhole: true },
        { header: 'CREDENTIALS' },
      ] as const;
      const lines = rows.length === 0 ? ['No contexts.'] : tableLines(columns, rows, { paint });
      out(`${lines.join('\n')}\n`);
    });
}

function identityIn({ ca, cert, tokenFile }: Context): string {
  if (cert !== undefined) return `certificate ${cert}`;
  if (tokenFile !== undefined) return `token ${tokenFile}`;
  return ca === undefined ? '' : `authority ${ca}`;
}

function currentCommand({ out }: RemoteIo): Command {
  return new Command('current-context')
    .description('print the name of the context that commands use')
    .addHelpText('after', `${HELP}\n\nExamples:\n  bigfleet config current-context`)
    .action(async () => {
      const { current } = await readContexts();
      const name = process.env['BIGFLEET_CONTEXT'] || current;
      if (name === null) throw new BigFleetError('BF_USAGE', 'There is no current context.');
      out(`${printable(name)}\n`);
    });
}

function deleteCommand({ out }: RemoteIo): Command {
  return new Command('delete-context')
    .description('delete a context')
    .argument('<name>', 'as "bigfleet config get-contexts" shows it')
    .addHelpText('after', `${HELP}\n\nExamples:\n  bigfleet config delete-context old`)
    .action(async (name: string) => {
      const file = await readContexts();
      contextNamed(file, name);
      const { [name]: _deleted, ...contexts } = file.contexts;
      const current = file.current === name ? null : file.current;
      await writeContexts({ current, contexts });
      const remark = current === null ? ' No context is current now.' : '';
      out(`Context ${printable(name)} is deleted.${remark}\n`);
    });
}
