// Runs `bigfleet provider fake`: opens the cloud, serves it and shuts it down. Separate from the flags, because it
// loads gRPC and SQLite.

import { readFile } from 'node:fs/promises';
import { BigFleetError, printable } from '../model/index.ts';
import {
  type CatalogueEntry,
  type CloudEvent,
  FakeProvider,
  type FakeSettings,
  NO_STORE,
  type PresetName,
  type ProviderServer,
  patchOf,
  patchSettings,
  presetSettings,
  type ServeOptions,
  SqliteStore,
  serveControl,
  serveProvider,
} from '../provider/index.ts';
import { systemClock } from '../runtime/system-clock.ts';
import { parseOfferingsFile } from '../scenario/offerings-file.ts';
import { tlsFiles } from '../wire/grpc/tls-files.ts';
import { instant } from './amounts.ts';
import type { FakeFlags, FakeIo } from './provider-fake.ts';

/** Transition timeout with --faults, unless another is given; the public fault suite expects it. */
const FAULT_TIMEOUT_MS = 2_000;
/** How long transitions may continue after a signal to end. */
const STOP_WAIT_MS = 1_000;

export async function serveFake(flags: FakeFlags, io: FakeIo, ended: Promise<unknown>): Promise<void> {
  const settings = settingsOf(flags);
  const provider = await open(flags, settings, io);
  const server = await listening(
    () => serveProvider(provider, addressOf(flags.addr), serveOptionsOf(flags)),
    provider,
  );
  const control =
    flags.control === undefined
      ? undefined
      : await listening(() => serveControl(provider, flags.control!), server);
  io.out(`${startLines(flags, provider, server, control?.address).join('\n')}\n`);
  await ended;
  provider.cutOff();
  await control?.close();
  await server.stop(STOP_WAIT_MS);
}

function presetOf({ preset, useFakeBackend, faults }: FakeFlags): PresetName {
  return preset ?? (useFakeBackend || faults ? 'calm' : 'realistic');
}

function settingsOf(flags: FakeFlags): FakeSettings {
  return flags.set.map(patchOf).reduce<FakeSettings>(patchSettings, presetSettings(presetOf(flags)));
}

async function open(flags: FakeFlags, settings: FakeSettings, io: FakeIo): Promise<FakeProvider> {
  const { seed, seedCount, provider, state, faults } = flags;
  const timeoutMs = flags.transitionTimeout ?? (faults ? FAULT_TIMEOUT_MS : undefined);
  const timeoutsMs =
    timeoutMs === undefined
      ? {}
      : { create: timeoutMs, configure: timeoutMs, drain: timeoutMs, delete: timeoutMs };
  return await FakeProvider.open({
    seed,
    clock: systemClock,
    machines: seedCount,
    settings,
    provider,
    store: state === undefined ? NO_STORE : new SqliteStore(state),
    faultSelectors: faults,
    ...(flags.offerings === undefined ? {} : { catalogue: await readOfferings(flags.offerings) }),
    ...(flags.verbose ? { onEvent: (event: CloudEvent) => io.err(`${eventLine(event)}\n`) } : {}),
    kit: {
      timeoutsMs,
      onStoreFailure: (error) => {
        io.err(`The state file cannot be written any more: ${String(error)}\n`);
        process.exit(1);
      },
    },
  });
}

async function readOfferings(file: string): Promise<readonly CatalogueEntry[]> {
  const text = await readFile(file, 'utf8').catch((cause: unknown) => {
    const message = cause instanceof Error ? cause.message : String(cause);
    throw new BigFleetError('BF_INPUT_UNREADABLE', `${message}.`, { path: file, cause });
  });
  const parsed = parseOfferingsFile(text);
  if (parsed.ok) return parsed.value;
  const lines = parsed.problems.map(
    ({ code, path, message }) => `\n  ${code}  ${printable(path)}: ${message}`,
  );
  throw new BigFleetError('BF_INPUT_INVALID', `${lines.join('')}\n`, {
    path: file,
    problems: parsed.problems,
  });
}

/** `:PORT` listens on every address, as in other providers. */
function addressOf(addr: string): string {
  const address = addr.startsWith(':') ? `0.0.0.0${addr}` : addr;
  if (/:\d{1,5}$/.test(address)) return address;
  throw new BigFleetError('BF_USAGE', `"${printable(addr)}" is not HOST:PORT.`);
}

function serveOptionsOf({ tlsCert, tlsKey, tlsCa, insecure, actsForAnyShard }: FakeFlags): ServeOptions {
  const tls = tlsFiles({ cert: tlsCert, key: tlsKey, ca: tlsCa });
  return { tls, insecure, ...(actsForAnyShard === undefined ? {} : { actsForAnyShard }) };
}

/** Closes what was opened before if the address is not available. */
async function listening<T>(
  listen: () => Promise<T>,
  opened: { readonly close: () => Promise<void> } | ProviderServer,
): Promise<T> {
  try {
    return await listen();
  } catch (error) {
    await ('close' in opened ? opened.close() : opened.stop());
    if (error instanceof BigFleetError) throw error;
    const message = error instanceof Error ? error.message : String(error);
    throw new BigFleetError('BF_LISTEN_FAILED', `${message}.`, { cause: error });
  }
}

function startLines(
  flags: FakeFlags,
  { kit }: FakeProvider,
  { address }: ProviderServer,
  control: string | undefined,
): readonly string[] {
  const { seed, state, faults } = flags;
  const how = `preset ${presetOf(flags)}, seed ${seed}${faults ? ', failing on request' : ''}`;
  return [
    `Serving ${kit.machineCount} machines at ${address} (${how}).`,
    state === undefined
      ? 'State is in memory only and ends with the process; keep it with --state FILE.'
      : `State is in ${printable(state)}.`,
    ...(control === undefined ? [] : [`Control at http://${control}/settings`]),
  ];
}

function eventLine({ atMs, what, whom, detail }: CloudEvent): string {
  return `${instant(atMs)}  ${what.padEnd(11)}  ${printable(whom)}  ${printable(detail)}`;
}
