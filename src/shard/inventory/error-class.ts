// A small closed list of what goes wrong with machines and actions, so that metrics can be alerted on. The contract
// has no codes for errors of machines: `last_error` is free text. Providers of the kit begin it with a code that
// settles whether it is a stock-out; for the rest, clouds' usual wordings are recognised here. A text that matches
// none is `other`; it is shown as it came wherever a class is. Used for ended actions (actuation/outcome-class.ts),
// losses and provider health.

import { codedText } from '../../model/index.ts';
import { isSoldOut } from './sold-out.ts';

export const ERROR_CLASSES = [
  /** Nothing of the kind is available now. */
  'stock-out',
  /** The account may have no more of it. */
  'quota',
  /** The provider does not let this shard do it. */
  'denied',
  /** The provider or the host did not answer, or throttled. */
  'unreachable',
  /** It took longer than the provider or the shard allows. */
  'timeout',
  /** The whole zone is out of order. */
  'zone-outage',
  /** The cloud took a spot host back. */
  'interrupted',
  'host-failed',
  /** The provider no longer has the machine, or no longer its host. */
  'vanished',
  /** The machine went back to where it came from, or elsewhere than it was to go. */
  'moved-away',
  /** The cluster is not connected, or sent nothing to start a machine with. */
  'cluster',
  /** A freeze, a stop, a newer shard or a decision overtaken by another called it off. */
  'called-off',
  'other',
] as const;
export type ErrorClass = (typeof ERROR_CLASSES)[number];

/** What is known of the machine that an error is about. */
export interface ErrorSubject {
  readonly zone: string;
  readonly isSpot: boolean;
}

/** The first that matches counts, so the narrower ones come first. */
const PATTERNS: readonly (readonly [ErrorClass, RegExp])[] = [
  ['quota', /quota|limit.{0,10}(exceeded|reached)|too many (instances|hosts|machines)/i],
  ['denied', /denied|unauthori[sz]ed|not authori[sz]ed|forbidden|permission/i],
  ['zone-outage', /(availability )?zone\b.{0,40}(unavailable|outage|impaired|is down|offline)/i],
  ['zone-outage', /outage.{0,40}\bzone\b/i],
  ['interrupted', /interrupt|taken back|spot.{0,40}(terminat|reclaim|evict|preempt)/i],
  ['timeout', /time[ds]?[ -]?out|deadline|did not end within|has been \w+ for \d+ s/i],
  ['unreachable', /unreachable|does not answer|no answer|connection|throttl|unavailable|try again/i],
  ['host-failed', /host|hardware|disk|kernel|instance.{0,20}(fail|terminat|stop)|died|crash|power|image/i],
];

/** The class of what a provider said of a machine. */
export function classOfError(error: string, { zone, isSpot }: ErrorSubject): ErrorClass {
  if (isSoldOut(error)) return 'stock-out';
  const { text } = codedText(error);
  if (namesDarkZone(text, zone)) return 'zone-outage';
  const [found] = PATTERNS.find(([, pattern]) => pattern.test(text)) ?? ['other'];
  // Only spot hosts are taken back; of another one the text means something else.
  return found === 'interrupted' && !isSpot ? 'host-failed' : found;
}

/** Matches phrases such as `zone-a is unavailable` or `an outage in zone-a`: a name may be as short as the word `a`. */
function namesDarkZone(error: string, zone: string): boolean {
  if (zone === '' || !error.includes(zone)) return false;
  return ZONE_TROUBLE.some(([before, after]) => ` ${error} `.includes(`${before}${zone}${after}`));
}

const ZONE_TROUBLE: readonly (readonly [before: string, after: string])[] = [
  ...['unavailable', 'down', 'offline', 'impaired'].map((how) => [' ', ` is ${how}`] as const),
  [' outage in ', ' '],
  [' outage of ', ' '],
];
