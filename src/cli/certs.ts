// `bigfleet certs …`: a private authority and certificates signed by it, for tests, trials and small fleets. A fleet
// that already has a certificate authority uses that one; docs/operate/security.md lists what its certificates must
// contain.

import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { join } from 'node:path';
import { Command, InvalidArgumentError, Option } from 'commander';
import { BigFleetError, printable } from '../model/index.ts';
import type { Issued, Validity } from '../wire/grpc/certificates.ts';
import { OWNER_ONLY, READABLE, writeFiles } from './certs-files.ts';
import { tokenCommand } from './certs-token.ts';

const AUTHORITY = 'ca';
const DAY_MS = 86_400_000;
/** How far notBefore lies in the past, for peers whose clock is behind. */
const SKEW_MS = 5 * 60_000;

export function certsCommand(out: (text: string) => void = (text) => process.stdout.write(text)): Command {
  return new Command('certs')
    .description('make an authority and certificates for tests and small fleets')
    .addCommand(initCommand(out))
    .addCommand(issueCommand(out))
    .addCommand(tokenCommand(out))
    .addHelpText(
      'after',
      `
Examples:
  bigfleet certs init
  bigfleet certs issue shard/shard-0 --host shard-0.example.com
  bigfleet certs issue cluster/web
  bigfleet certs token ann --role operate`,
    );
}

interface InitFlags {
  readonly dir: string;
  readonly name: string;
  readonly days: number;
}

function initCommand(out: (text: string) => void): Command {
  return new Command('init')
    .description(
      'make a certificate authority: ca.crt, which every peer needs, and ca.key, which must stay secret',
    )
    .addOption(dirOption())
    .addOption(
      new Option('--name <name>', 'name of the authority').argParser(nameOf).default('bigfleet authority'),
    )
    .addOption(daysOption(3650))
    .addHelpText(
      'after',
      `
Refuses to overwrite existing files. Only the owner can read the keys. A directory that contains
only keys and certificates gets a .gitignore, so that git does not pick them up.

Examples:
  bigfleet certs init
  bigfleet certs init --dir /etc/bigfleet/tls --name "lab authority" --days 365`,
    )
    .action(async ({ dir, name, days }: InitFlags) => {
      const { makeAuthority } = await import('../wire/grpc/certificates.ts');
      const files = filesOf(dir, AUTHORITY);
      const warning = write(dir, files, makeAuthority({ name, ...validFor(days) }), false);
      out(
        `${files.cert}  the authority, for --tls-ca of every process\n${files.key}  its key: keep it away from machines that run a process\n${warning}`,
      );
    });
}

interface IssueFlags {
  readonly dir: string;
  readonly host: readonly string[];
  readonly name?: string;
  readonly days: number;
  readonly replace: boolean;
}

function issueCommand(out: (text: string) => void): Command {
  return new Command('issue')
    .description('make a certificate for one process or person')
    .argument('<identity>', 'cluster/ID, shard/ID, provider/ID, admin or readonly', subjectOf)
    .addOption(dirOption())
    .addOption(
      new Option('--host <name>', 'a host name or address that peers connect to; may be repeated')
        .argParser(collectHosts)
        .default([], 'localhost, 127.0.0.1 and ::1 for a shard or provider, none for others'),
    )
    .addOption(
      new Option(
        '--name <name>',
        'for admin and readonly: the name of the person, recorded with orders',
      ).argParser(nameOf),
    )
    .addOption(daysOption(90))
    .option(
      '--replace',
      'replace an existing certificate; a running process loads the new one by itself',
      false,
    )
    .addHelpText(
      'after',
      `
Writes KIND-ID.crt and KIND-ID.key, with --name KIND-NAME.crt and KIND-NAME.key. The one URI name in
the certificate is the identity, bigfleet://KIND/ID; callers also check the host names of a server.
Refuses to overwrite existing files without --replace.

Examples:
  bigfleet certs issue shard/shard-0 --host shard-0.example.com --host 10.0.0.7
  bigfleet certs issue cluster/web
  bigfleet certs issue provider/metal --host metal.example.com
  bigfleet certs issue admin --name "Ann Lee" --days 7
  bigfleet certs issue shard/shard-0 --host shard-0.example.com --replace`,
    )
    .action(async (given: Subject, { dir, host, name, days, replace }: IssueFlags) => {
      const subject = name === undefined ? given : personOf(given, name);
      const { issueCertificate } = await import('../wire/grpc/certificates.ts');
      const authority = readAuthority(dir);
      const hosts = host.length > 0 || !subject.isServer ? host : ['localhost', '127.0.0.1', '::1'];
      const leaf = issueCertificate(authority, {
        name: name ?? subject.file,
        uris: [subject.uri],
        dnsNames: hosts.filter((each) => isIP(each) === 0),
        ipAddresses: hosts.filter((each) => isIP(each) !== 0),
        ...validFor(days),
      });
      const files = filesOf(dir, subject.file);
      const warning = write(dir, files, leaf, replace);
      out(`${files.cert}  ${subject.uri}, valid for ${days} days\n${files.key}  its key\n${warning}`);
    });
}

function dirOption(): Option {
  return new Option('--dir <dir>', 'directory of the files').default('certs');
}

function daysOption(defaultDays: number): Option {
  return new Option('--days <n>', 'validity in days').argParser(daysOf).default(defaultDays);
}

function daysOf(text: string): number {
  if (!/^[1-9]\d{0,4}$/.test(text))
    throw new InvalidArgumentError('It must be a number of days from 1 to 99999.');
  return Number(text);
}

function nameOf(text: string): string {
  if (!/^[\w][\w .-]{0,62}$/.test(text))
    throw new InvalidArgumentError('It must be letters, digits, spaces, dots and dashes, at most 63.');
  return text;
}

interface Subject {
  readonly uri: string;
  /** Name of its files without the extension. */
  readonly file: string;
  readonly isServer: boolean;
}

/** The id becomes part of a file name and of a URI. */
function subjectOf(text: string): Subject {
  const [, kind, id, alone] =
    /^(?:bigfleet:\/\/)?(?:(cluster|shard|provider)\/([\w.-]{1,200})|(admin|readonly))$/.exec(text) ?? [];
  if (alone !== undefined) return { uri: `bigfleet://${alone}`, file: alone, isServer: false };
  if (kind === undefined || id === undefined)
    throw new InvalidArgumentError('It must be cluster/ID, shard/ID, provider/ID, admin or readonly.');
  return { uri: `bigfleet://${kind}/${id}`, file: `${kind}-${id}`, isServer: kind !== 'cluster' };
}

/** Each person has files of its own; a server or cluster is its identity. */
function personOf(subject: Subject, name: string): Subject {
  if (!/^(admin|readonly)$/.test(subject.file))
    throw new BigFleetError('BF_USAGE', '--name is for admin and readonly.');
  return { ...subject, file: `${subject.file}-${name.toLowerCase().replaceAll(' ', '-')}` };
}

function collectHosts(text: string, hosts: readonly string[]): readonly string[] {
  // A zone (fe80::1%eth0) is local to one host and has no place in a certificate.
  if (text.includes('%') || (isIP(text) === 0 && !/^(\*\.)?[a-z0-9]([\w.-]{0,251}[a-z0-9])?$/i.test(text)))
    throw new InvalidArgumentError('It must be a host name or an IP address, without a port or a zone.');
  return [...hosts, text];
}

function validFor(days: number): Validity {
  const now = Date.now();
  return { notBefore: new Date(now - SKEW_MS), notAfter: new Date(now + days * DAY_MS) };
}

interface Files {
  readonly cert: string;
  readonly key: string;
}

/** The key first. */
function write(dir: string, { cert, key }: Files, issued: Issued, mayReplace: boolean): string {
  const files = [
    [key, issued.key, OWNER_ONLY],
    [cert, issued.certificate, READABLE],
  ] as const;
  return writeFiles(dir, files, mayReplace);
}

function filesOf(dir: string, name: string): Files {
  return { cert: join(dir, `${name}.crt`), key: join(dir, `${name}.key`) };
}

function readAuthority(dir: string): Issued {
  const files = filesOf(dir, AUTHORITY);
  try {
    const authority = { certificate: readFileSync(files.cert, 'utf8'), key: readFileSync(files.key, 'utf8') };
    const parsed = new X509Certificate(authority.certificate);
    if (!parsed.ca) throw new Error(`${files.cert} is not the certificate of an authority`);
    // Leaf certificates signed with another key would fail verification everywhere.
    if (!parsed.checkPrivateKey(createPrivateKey(authority.key)))
      throw new Error(`${files.key} is not the key of ${files.cert}`);
    return authority;
  } catch (cause) {
    const message = cause instanceof Error ? cause.message : String(cause);
    throw new BigFleetError('BF_CERT_AUTHORITY', `${printable(message)}.`, { cause });
  }
}
