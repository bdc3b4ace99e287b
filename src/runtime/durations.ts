// Durations as texts, such as 500ms, 10s or 5m: read and written by the settings of a shard (shard/config/kinds.ts) and by
// scenario files.

const UNIT_MS: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};

const DURATION = /^(\d{1,10}(?:\.\d{1,3})?)(ms|s|m|h|d)$/;

/** Milliseconds, to the nearest whole one; undefined if the text is not a duration. */
export function parseDurationMs(text: string): number | undefined {
  const [, amount, unit] = DURATION.exec(text) ?? [];
  return unit === undefined ? undefined : Math.round(Number(amount) * UNIT_MS[unit]!);
}

/** The duration in the largest unit that needs no fraction. */
export function durationText(ms: number): string {
  const unit = ['d', 'h', 'm', 's'].find((each) => ms % UNIT_MS[each]! === 0) ?? 'ms';
  return ms === 0 ? '0s' : `${ms / UNIT_MS[unit]!}${unit}`;
}
