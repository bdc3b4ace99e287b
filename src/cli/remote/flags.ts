// Flags that every command against a running shard has, the client that they select, and where such commands write.

import { hostname, userInfo } from 'node:os';
import { type Command, Option } from 'commander';
import { tlsFiles } from '../../wire/grpc/tls-files.ts';
import { type Paint, paintFor } from '../table.ts';
import { ShardClient } from './client.ts';

export interface RemoteIo {
  readonly out: (text: string) => void;
  readonly paint: Paint;
}

export const PROCESS_IO: RemoteIo = {
  out: (text) => process.stdout.write(text),
  paint: paintFor(process.stdout),
};

export interface ShardFlags {
  readonly shard: string;
  readonly tlsCert?: string;
  readonly tlsKey?: string;
  readonly tlsCa?: string;
}

export interface OrderFlags extends ShardFlags {
  readonly who: string;
}

const DEFAULT_SHARD = 'http://127.0.0.1:8780';

export function addShardFlags(command: Command): Command {
  return command
    .addOption(
      new Option('--shard <url>', 'where the shard serves its API')
        .env('BIGFLEET_SHARD')
        .default(DEFAULT_SHARD),
    )
    .option('--tls-cert <file>', 'your certificate, with --tls-key and --tls-ca')
    .option('--tls-key <file>', 'its key')
    .option('--tls-ca <file>', 'the authority of the fleet');
}

export function addOrderFlags(command: Command): Command {
  const who = new Option('--who <name>', 'name of the person, for the log');
  return addShardFlags(command).addOption(who.default(whoAmI()));
}

/** For orders that do not require a reason. */
export const WHY = ['--why <text>', 'the reason; it is logged'] as const;

export function clientOf({ shard, tlsCert, tlsKey, tlsCa }: ShardFlags): ShardClient {
  const tls = tlsFiles({ cert: tlsCert, key: tlsKey, ca: tlsCa });
  // A shard that has TLS files serves its API with them too.
  const defaultUrl = tls === null ? DEFAULT_SHARD : DEFAULT_SHARD.replace('http:', 'https:');
  // An empty BIGFLEET_SHARD counts as not set.
  return new ShardClient(shard === '' || shard === DEFAULT_SHARD ? defaultUrl : shard, tls);
}

/** For help texts. */
export const EXIT_CODES =
  'Exit code 0: done. 1: the shard refused or is not reachable. 2: invalid arguments.';

function whoAmI(): string {
  return `${userName()}@${hostname()}`;
}

/** In a container the user may have no name. */
function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return process.env['USER'] ?? 'unknown';
  }
}
