// Labels and annotations that switch something on. A person writes their values by hand, so the usual spellings count. What any
// other value means depends on the switch, and it is remarked on the pod.

import { excerpt } from '../../model/index.ts';

/** Without regard to case. An empty value is what `kubectl label pod x key=` writes. */
const ON: ReadonlySet<string> = new Set(['', 'true', 'yes', 'on', '1']);
const OFF: ReadonlySet<string> = new Set(['false', 'no', 'off', '0']);

/** Whether a label or annotation switches something on. */
export function isOn(value: string | undefined): boolean {
  return value !== undefined && (value === 'true' || ON.has(value.trim().toLowerCase()));
}

/** Whether a label or annotation is there to switch something off. */
export function isOff(value: string): boolean {
  return OFF.has(value.trim().toLowerCase());
}

/** What to say about the value of a switch; null if it is absent or one of the known spellings. `unknownMeans`: what others count as. */
export function switchRemark(key: string, value: string | undefined, unknownMeans = false): string | null {
  if (value === undefined || value === 'true' || value === 'false') return null;
  const text = value.trim().toLowerCase();
  if (ON.has(text) || OFF.has(text)) return null;
  return `The value "${excerpt(value, 64)}" of ${key} is neither true nor false and counts as ${unknownMeans}.`;
}
