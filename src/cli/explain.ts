// `bigfleet explain [CODE]`: the error catalogue, for the moment an error code turns up in a log.

import { Command, Option } from 'commander';
import { BigFleetError, ERRORS, isErrorCode } from '../model/index.ts';

export function explainCommand(): Command {
  return new Command('explain')
    .description('say what an error code means and what to do about it')
    .argument('[code]', 'a code such as BF_QUANTITY_SYNTAX; without one, all codes are listed')
    .addOption(new Option('-o, --output <format>', 'text or json').choices(['text', 'json']).default('text'))
    .addHelpText(
      'after',
      `
Examples:
  bigfleet explain                       list every code
  bigfleet explain BF_QUANTITY_SYNTAX    one code
  bigfleet explain -o json               the whole catalogue for programs`,
    )
    .action((code: string | undefined, options: { output: string }) => {
      console.log(options.output === 'json' ? asJson(code) : asText(code));
    });
}

function lookUp(code: string): { code: string; summary: string; remedy: string } {
  const wanted = code.toUpperCase();
  if (!isErrorCode(wanted)) {
    throw new BigFleetError(
      'BF_USAGE',
      `There is no error code "${code}"; "bigfleet explain" lists them all.`,
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
    return `${entry.code}\n  ${entry.summary}\n  ${entry.remedy}`;
  }
  return Object.keys(ERRORS)
    .map((known) => `${known}\n  ${lookUp(known).summary}`)
    .join('\n');
}
