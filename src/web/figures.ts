// Figures as people read them, the same on the terminal and on the page. Nothing depends on the locale of the machine.
// Runs in a browser.

/** `1,234,567`. */
export function count(value: number): string {
  return String(Math.round(value)).replace(/\B(?=(\d{3})+$)/g, ',');
}

/** `1 machine`, `2 machines`. */
export function counted(value: number, noun: string): string {
  return `${count(value)} ${noun}${value === 1 ? '' : 's'}`;
}

/** `12 of 340 clusters shown, most urgent first`; '' if all are shown. */
export function cutText(shown: number, total: number, noun: string, order: string): string {
  return shown >= total ? '' : `${count(shown)} of ${counted(total, noun)} shown, ${order}`;
}

export const CENT = 0.01;

/** `$1,234.50`, `-$0.02`: always with cents, so that figures below one another compare at a glance. */
export function dollars(amount: number): string {
  // Rounded as `inUnits` rounds: `toFixed` differs at half a cent, and the parts would not add up to their total.
  const cents = Math.round(Math.abs(amount) / CENT);
  const whole = String(Math.floor(cents / 100));
  const sign = amount < 0 && cents > 0 ? '-' : '';
  return `${sign}$${whole.replace(/\B(?=(\d{3})+$)/g, ',')}.${String(cents % 100).padStart(2, '0')}`;
}

/** `$1,234.50/h`. */
export function perHour(amount: number): string {
  return `${dollars(amount)}/h`;
}

/** The length of an average month, for rates. The bill of a month is about its own hours. */
export const HOURS_PER_MONTH = 730;

/** `$1,095.00 in 730 h`: a rate as months are compared; it names the hours, since calendar months differ. */
export function perMonth(amountPerHour: number): string {
  return `${dollars(amountPerHour * HOURS_PER_MONTH)} in ${HOURS_PER_MONTH} h`;
}

/** `0.4 ms`, `12 ms`, `1.2 s`. */
export function milliseconds(value: number): string {
  if (value >= 1000) return `${(value / 1000).toFixed(1)} s`;
  return value < 10 ? `${value.toFixed(1)} ms` : `${Math.round(value)} ms`;
}

/** `45 s`, `3 min`, `2 h 5 min`, `3 d 4 h`. */
export function span(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min`;
  const hours = Math.floor(minutes / 60);
  if (hours < 24) return `${hours} h ${minutes % 60} min`;
  return `${Math.floor(hours / 24)} d ${hours % 24} h`;
}

/**
 * `2026-03-01T12:00:00.250Z`. Times are UTC and say so, on every surface: readers in different places compare them with each
 * other, with the log and with JSON, and a time shown can be passed to `--from`.
 */
export function instant(ms: number): string {
  return new Date(ms).toISOString();
}

/** `12:00:00Z`, for events that are shown as they happen. */
export function timeOfDay(ms: number): string {
  return `${instant(ms).slice('2026-03-01T'.length, -'.250Z'.length)}Z`;
}

/** `12:00:00Z` on the day of `nowMs`, `2026-03-01T12:00Z` on another. */
export function moment(ms: number, nowMs: number): string {
  const [at, now] = [instant(ms), instant(nowMs)];
  const day = '2026-03-01'.length;
  if (at.slice(0, day) === now.slice(0, day)) return timeOfDay(ms);
  return `${at.slice(0, '2026-03-01T12:00'.length)}Z`;
}

const BINARY = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB', 'EiB'];

/** An amount of a resource: `1,234` cores or pieces, `3.5 TiB` of memory and storage. */
export function amount(resource: string, value: number): string {
  if (!isBytes(resource)) return rounded(value);
  let step = 0;
  while (value >= 1024 && step < BINARY.length - 1) {
    value /= 1024;
    step++;
  }
  return `${rounded(value)} ${BINARY[step]}`;
}

/** `4,506`, `4,535` and `GiB`: a total and its parts in one unit, whole, so that the parts add up to the total as shown. */
export function amountsOf(
  resource: string,
  total: number,
  parts: readonly number[],
): { readonly total: string; readonly parts: readonly string[]; readonly unit: string } {
  let step = 0;
  while (isBytes(resource) && step < BINARY.length - 1 && total / 1024 ** (step + 1) >= MIN_UNITS) step++;
  const size = isBytes(resource) ? 1024 ** step : total < MIN_UNITS ? 0.1 : 1;
  const text = (units: number): string => (size === 0.1 ? String(Math.round(units) / 10) : count(units));
  const units = inUnits(total, parts, size);
  return {
    total: text(Math.round(total / size)),
    // An amount above 0 is not shown as 0.
    parts: units.map((n, i) => (n === 0 && parts[i]! > 0 ? `<${text(1)}` : text(n))),
    unit: isBytes(resource) ? BINARY[step]! : '',
  };
}

/** A total of fewer units is shown in smaller ones. */
const MIN_UNITS = 10;

/**
 * Amounts in whole units that add up to the rounded total: each is rounded down, and those that lose most by it get one
 * more until the sum is right.
 */
export function inUnits(total: number, amounts: readonly number[], unit: number): readonly number[] {
  const exact = amounts.map((amount) => amount / unit);
  const units = exact.map((amount) => Math.floor(amount));
  let left = Math.round(total / unit) - units.reduce((sum, n) => sum + n, 0);
  const byLoss = exact.map((amount, i) => [amount - units[i]!, i] as const).sort((a, b) => b[0] - a[0]);
  for (const [loss, i] of byLoss) {
    if (left <= 0 || loss === 0) break;
    units[i]!++;
    left--;
  }
  return units;
}

/** Two significant digits below 10, so that a small value is not shown as 0. */
function rounded(value: number): string {
  return value < 10 ? String(Number(value.toPrecision(2))) : count(value);
}

/** An amount with its unit, where it has one: `340 cores`, `3.5 TiB`, `8`. */
export function measured(resource: string, value: number): string {
  if (resource !== 'cpu') return amount(resource, value);
  const cores = amount(resource, value);
  return `${cores} ${cores === '1' ? 'core' : 'cores'}`;
}

const SUFFIXES: Readonly<Record<string, number>> = {
  ...{ m: 1e-3, '': 1, k: 1e3, M: 1e6, G: 1e9, T: 1e12, P: 1e15, E: 1e18 },
  ...{ Ki: 2 ** 10, Mi: 2 ** 20, Gi: 2 ** 30, Ti: 2 ** 40, Pi: 2 ** 50, Ei: 2 ** 60 },
};

/** A quantity as the shard writes them, such as `1500m` or `48Gi`, as a number; undefined if it is not one. */
export function quantityValue(quantity: string): number | undefined {
  const [, digits, suffix = ''] = /^(\d+(?:\.\d+)?)(\D*)$/.exec(quantity) ?? [];
  const size = SUFFIXES[suffix];
  return digits === undefined || size === undefined ? undefined : Number(digits) * size;
}

function isBytes(resource: string): boolean {
  return resource === 'memory' || resource.endsWith('storage') || resource.startsWith('hugepages-');
}

/** `nvidia.com/gpu` is a gpu. */
export function resourceName(resource: string): string {
  return resource.slice(resource.lastIndexOf('/') + 1);
}

/** Sorted by interest to people: cpu, memory, gpu, then the rest by name. */
export function byInterest(resources: Iterable<string>): readonly string[] {
  const rank = (resource: string) => {
    const at = ['cpu', 'memory', 'gpu'].indexOf(resourceName(resource));
    return at === -1 ? 3 : at;
  };
  return [...resources].sort((a, b) => rank(a) - rank(b) || (a < b ? -1 : 1));
}

const SPARKS = '▁▂▃▄▅▆▇█';

/**
 * The last `width` values as a line of little bars from 0 to the highest of those shown, so that a small change looks
 * small. None may be below 0; NaN is a blank.
 */
export function sparkline(values: readonly number[], width: number): string {
  const shown = values.slice(-width);
  const most = Math.max(...shown.filter((value) => !Number.isNaN(value)), Number.MIN_VALUE);
  return shown
    .map((value) => (Number.isNaN(value) ? ' ' : SPARKS[Math.round((value / most) * (SPARKS.length - 1))]))
    .join('');
}
