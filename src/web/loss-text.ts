// Texts for lost machines, dark zones, and the health of a provider's machines, for the live views and `bigfleet
// history`. Runs in a browser.

import type { Action, Loss, Losses, Status } from './feed.ts';
import { count, counted } from './figures.ts';

type Provider = Status['providers'][number];

/** `m-12 (spot, zone-a)`. */
export function machineText({
  machine,
  capacityType,
  zone,
}: Pick<Action, 'machine' | 'capacityType' | 'zone'>): string {
  const about = [capacityText(capacityType ?? ''), zone ?? ''].filter((word) => word !== '');
  return about.length === 0 ? machine : `${machine} (${about.join(', ')})`;
}

/** `ON_DEMAND` and `OnDemand` are both on-demand. */
function capacityText(capacityType: string): string {
  const words = capacityType
    .replace(/([a-z])(?=[A-Z])/g, '$1-')
    .replaceAll('_', '-')
    .toLowerCase();
  return words === 'unspecified' ? '' : words;
}

/** What a machine that served no cluster was doing. */
const WAS: Readonly<Record<string, string>> = {
  CREATING: 'was starting',
  IDLE: 'was idle',
  CONFIGURING: 'was joining',
  DRAINING: 'was leaving',
  DELETING: 'was being returned',
};

/** `lost m-12 (spot, zone-a) of cloud, which served web for web/00ff00ff00: the host died`. */
export function lossText(loss: Loss): string {
  const { provider, cluster, need, was } = loss;
  const use = was === 'CONFIGURED' ? `served ${cluster}` : (WAS[was] ?? was.toLowerCase());
  const row = need === null ? '' : ` for ${need.id}`;
  return `lost ${machineText(loss)} of ${provider}, which ${use}${row}: ${lossReason(loss)}`;
}

function lossReason({ loss, error }: Loss): string {
  switch (loss) {
    case 'failed':
      return error === '' ? 'it failed' : error;
    case 'interrupted':
      return `interrupted (${error})`;
    case 'vanished':
      return 'its provider no longer has it';
    case 'unbound':
      return 'it was removed from its cluster, and not by this shard';
  }
}

/** `zone-a of cloud has gone dark: lost 14 of 15 machines within 3 s (web 8, ml 6): the host died`. */
export function lossesText(losses: Losses): string {
  const { zone, provider, isDark, count: lost, of, clusters } = losses;
  const seconds = Math.max(1, Math.ceil((losses.atMs - losses.sinceMs) / 1000));
  const error = losses.error === '' ? (WITHOUT_ERROR[losses.errorClass] ?? losses.errorClass) : losses.error;
  const who = clusters.map(({ cluster, count: own }) => `${cluster} ${count(own)}`).join(', ');
  const tail = `within ${seconds} s${who === '' ? '' : ` (${who})`}: ${error}`;
  if (provider === '') return `lost ${counted(lost, 'more machine')} in other zones ${tail}`;
  if (!isDark) return `lost ${counted(lost, 'machine')} in ${zoneName(zone)} of ${provider} ${tail}`;
  const share = of > lost ? `${count(lost)} of ${count(of)} machines` : counted(lost, 'machine');
  return `${zoneName(zone)} of ${provider} has gone dark: lost ${share} ${tail}`;
}

/** For losses without an error of the provider. */
const WITHOUT_ERROR: Readonly<Record<string, string>> = {
  vanished: 'their provider no longer has them',
  'moved-away': 'they were removed from their clusters, and not by this shard',
};

/** Log events that views show as failed actions and losses instead. */
export const SHOWN_ELSEWHERE: ReadonlySet<string> = new Set([
  ...['action-failed', 'machine-lost', 'machines-lost', 'zone-dark'],
]);

/** `14 of 15 machines failing in zone-a: zone-a is unavailable`; '' where none is. Names the worst zone. */
export function healthText({ health }: Pick<Provider, 'health'>): string {
  const [worst] = health.zones;
  if (worst === undefined) return '';
  const { zone, failing, machines, errorClass, error } = worst;
  const where = zone === '' ? '' : ` in ${zoneName(zone)}`;
  const others = health.failing > failing ? `, ${count(health.failing - failing)} elsewhere` : '';
  const why = error === '' ? errorClass : error;
  return `${count(failing)} of ${counted(machines, 'machine')} failing${where}${others}: ${why}`;
}

/** `Machines in zone-a of cloud fail. `; '' where none do. */
export function darkText(providers: readonly Provider[]): string {
  const dark = providers
    .filter(({ breaker }) => breaker === 'closed')
    .flatMap(({ name, health }) =>
      health.zones.flatMap(({ zone, state }) => (state === 'failing' ? `${zoneName(zone)} of ${name}` : [])),
    );
  return dark.length === 0 ? '' : `Machines in ${dark.join(' and ')} fail. `;
}

function zoneName(zone: string): string {
  return /^zone/i.test(zone) ? zone : `zone ${zone}`;
}
