// Flags that every command against a running shard has, the client that they select, and where such commands write.

import { hostname, userInfo } from 'node:os';
import { type Command, Option } from 'commander';
import { BigFleetError } from '../../model/index.ts';
import { tlsFiles } from '../../wire/grpc/tls-files.ts';
import { type Paint, paintFor } from '../table.ts';
import { type Credentials, ShardClient } from './client.ts';
import { currentContext } from './contexts.ts';

export interface RemoteIo {
  readonly out: (text: string) => void;
  /** For remarks that are no part of the output; by default standard error. */
  readonly err?: (text: string) => void;
  readonly paint: Paint;
  /** When `--watch` reads and ends; tests pass their own. */
  readonly watch?: () => WatchTiming;
}

/** By default a read each second or less often, until a signal. */
export interface WatchTiming {
  readonly ended: Promise<void>;
  readonly intervalMs?: number;
  readonly now?: () => number;
  readonly pause?: (ms: number, ended: Promise<void>) => Promise<void>;
}

export const PROCESS_IO: RemoteIo = {
  out: (text) => process.stdout.write(text),
  paint: paintFor(process.stdout),
};

export interface ShardFlags {
  readonly shard?: string;
  readonly tlsCert?: string;
  readonly tlsKey?: string;
  readonly tlsCa?: string;
  readonly tokenFile?: string;
}

export interface OrderFlags extends ShardFlags {
  readonly who: string;
}

const DEFAULT_SHARD = 'http://127.0.0.1:8780';

export function addShardFlags(command: Command): Command {
  return command
    .addOption(
      new Option('--shard <url>', `where the shard serves its API (default: context, ${DEFAULT_SHARD})`).env(
        'BIGFLEET_SHARD',
      ),
    )
    .option('--tls-cert <file>', 'your certificate, with --tls-key and --tls-ca')
    .option('--tls-key <file>', 'its key')
    .option('--tls-ca <file>', 'the authority of the fleet')
    .option('--token-file <file>', 'a file with your token');
}

export function addOrderFlags(command: Command): Command {
  const who = new Option('--who <name>', 'name of the person, for the log');
  return addShardFlags(command).addOption(who.default(whoAmI(), 'you, at this host'));
}

/** For orders that do not require a reason. */
export const WHY = ['--why <text>', 'the reason; it is logged'] as const;

/** Flags and BIGFLEET_SHARD win over the current context of the user's file. */
export async function clientOf(flags: ShardFlags): Promise<ShardClient> {
  const { shard, credentials } = await placeOf(flags);
  return new ShardClient(shard, credentials);
}

/** The URL of the shard, and how the caller proves who it is. */
export async function placeOf(
  flags: ShardFlags,
): Promise<{ readonly shard: string; readonly credentials: Credentials }> {
  // An empty BIGFLEET_SHARD counts as not set.
  const shard = flags.shard === '' ? undefined : flags.shard;
  // A context is a place with its credentials: those of one shard are not sent to another.
  const context = shard === undefined ? await currentContext() : null;
  const given = credentialsOf(flags);
  const credentials =
    given.tls === null && given.tokenFile === null && context !== null ? context.credentials : given;
  const defaultShard = credentials.tls === null ? DEFAULT_SHARD : DEFAULT_SHARD.replace('http:', 'https:');
  return { shard: shard ?? context?.shard ?? defaultShard, credentials };
}

/** The three TLS files, or the authority alone, or with a token. */
function credentialsOf({ tlsCert: cert, tlsKey: key, tlsCa: ca, tokenFile }: ShardFlags): Credentials {
  const isAuthorityAlone = ca !== undefined && cert === undefined && key === undefined;
  if (tokenFile !== undefined && (cert !== undefined || key !== undefined))
    throw new BigFleetError('BF_USAGE', 'Give a certificate or --token-file, not both.');
  const tls = isAuthorityAlone ? { ca } : tlsFiles({ cert, key, ca });
  return { tls, tokenFile: tokenFile ?? null };
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
