// Names of the wire as words, for tables of `bigfleet get` and `bigfleet explain`: `ON_DEMAND` is on-demand.

export function wireWord(name: string): string {
  return name.toLowerCase().replaceAll('_', '-');
}

/** `3 configured, 1 idle`, most first. */
export function countText(counts: Readonly<Record<string, number>>): string {
  return Object.entries(counts)
    .filter(([, n]) => n > 0)
    .sort(([, a], [, b]) => b - a)
    .map(([name, n]) => `${n.toLocaleString('en-US')} ${wireWord(name)}`)
    .join(', ');
}
