// `bigfleet certs token`: a random token for a person or program that calls the API of a shard, and its line for the file
// `apiTokensFile` of the shard, which has only the hash.

import { createHash, randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { Command, InvalidArgumentError, Option } from 'commander';
import { OWNER_ONLY, writeFiles } from './certs-files.ts';

/** Random bytes of a token. */
const TOKEN_BYTES = 32;

interface TokenFlags {
  readonly role: string;
  readonly dir: string;
  readonly replace: boolean;
}

export function tokenCommand(out: (text: string) => void): Command {
  return new Command('token')
    .description('make a token for a caller of the API that has no certificate')
    .argument('<name>', 'name of the person or program, recorded with its orders', nameOf)
    .addOption(
      new Option('--role <role>', 'view: read; operate: also order')
        .choices(['view', 'operate'])
        .makeOptionMandatory(),
    )
    .addOption(new Option('--dir <dir>', 'directory of the files').default('certs'))
    .option('--replace', 'replace an existing token', false)
    .addHelpText(
      'after',
      `
Writes NAME.token, which only its owner can read, for --token-file of commands, the login of a
browser and the header "authorization: Bearer". The line that it prints belongs into the file of
apiTokensFile (--api-tokens-file), which a running shard reads again by itself.

Examples:
  bigfleet certs token ann --role operate
  bigfleet certs token prometheus --role view --dir /etc/bigfleet/tls`,
    )
    .action((name: string, { role, dir, replace }: TokenFlags) => {
      const token = randomBytes(TOKEN_BYTES).toString('base64url');
      const path = join(dir, `${name}.token`);
      const warning = writeFiles(dir, [[path, `${token}\n`, OWNER_ONLY]], replace);
      const hash = createHash('sha256').update(token).digest('hex');
      out(
        `${path}  the token of ${name}: keep it secret\nIts line for the file of apiTokensFile:\n- { name: "${name}", role: ${role}, sha256: "${hash}" }\n${warning}`,
      );
    });
}

/** Part of a file name, and text in YAML. */
function nameOf(text: string): string {
  if (/^[A-Za-z][\w.@-]{0,200}$/.test(text)) return text;
  throw new InvalidArgumentError(
    'It must begin with a letter and have only letters, digits, dots, dashes, underscores and @.',
  );
}
