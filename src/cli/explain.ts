// `bigfleet explain [NEED|CODE]`: why a Need of a running shard is met or not, and what an error code means.

import { Command, Option } from 'commander';
import { BigFleetError, ERRORS, isErrorCode } from '../model/index.ts';
import { proseLines } from './remote/facts.ts';
import { addShardFlags, EXIT_CODES, PROCESS_IO, type RemoteIo, type ShardFlags } from './remote/flags.ts';
import { isNeedId, showStory } from './remote/story.ts';

type Flags = ShardFlags & { readonly output: 'text' | 'json' };

export function explainCommand(io: RemoteIo = PROCESS_IO): Command {
  const command = new Command('explain')
    .description('say why a Need is met or not, or what an error code means')
    .argument('[what]', 'a Need such as ml/00ff00ff00, or a code such as BF_USAGE; without one, all codes')
    .addOption(new Option('-o, --output <format>', 'text or json').choices(['text', 'json']).default('text'));
  return addShardFlags(command)
    .addHelpText(
      'after',
      `
Needs have the ids that "bigfleet get needs" shows; for those a shard must be running.
${EXIT_CODES}

Examples:
  bigfleet explain ml/00ff00ff00         a Need: what it wants, whether it has that, and why not
  bigfleet explain                       list every error code
  bigfleet explain BF_QUANTITY_SYNTAX    one code
  bigfleet explain -o json               the whole catalogue for programs`,
    )
    .action(async (what: string | undefined, flags: Flags) => {
      if (what !== undefined && isNeedId(what)) return await showStory(what, flags, io);
      io.out(`${flags.output === 'json' ? asJson(what) : asText(what)}\n`);
    });
}

function lookUp(code: string): { code: string; summary: string; remedy: string } {
  const wanted = code.toUpperCase();
  if (!isErrorCode(wanted)) {
    throw new BigFleetError(
      'BF_USAGE',
      code.includes('/')
        ? `"${code}" is no Need: those are CLUSTER/TEN-HEX-DIGITS; "bigfleet get needs" lists them.`
        : `There is no error code "${code}"; "bigfleet explain" lists them all.`,
    );
  }
  return { code: wanted, ...ERRORS[wanted] };
}

function asJson(code: string | undefined): string {
  const entries = code === undefined ? Object.keys(ERRORS).map(lookUp) : lookUp(code);
  return JSON.stringify(entries, null, 2);
}

function asText(code: string | undefined): string {
  if (code !== undefined) {
    const entry = lookUp(code);
    return [entry.code, ...proseLines([entry.summary, entry.remedy])].join('\n');
  }
  return Object.keys(ERRORS)
    .flatMap((known) => [known, ...proseLines([lookUp(known).summary])])
    .join('\n');
}
