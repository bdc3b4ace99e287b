// Places of the dashboard as the part of its address behind `#`: a page, the names that it is about, and its filters, so
// that every view can be linked to, and back and forward work. The server has one page, also behind a proxy that moves
// it, so paths are not used. Runs in a browser.

export interface Place {
  /** `overview`, `needs`, `need`, `machine` and so on. */
  readonly page: string;
  /** The machine, the cluster, or the cluster and the digits of a Need. */
  readonly parts: readonly string[];
  readonly query: Readonly<Record<string, string>>;
}

/** `#/need/web/00ff00ff00?from=x`. */
export function placeOf(hash: string): Place {
  const text = hash.replace(/^#?\/?/, '');
  const [path, search] = splitOnce(text, '?');
  const [page = '', ...parts] = path.split('/').map(decoded);
  return {
    page: page === '' ? 'overview' : page,
    parts: parts.filter((part) => part !== ''),
    query: Object.fromEntries(new URLSearchParams(search)),
  };
}

/** Filters that are empty or undefined are left out. */
export function linkTo(
  page: string,
  parts: readonly string[] = [],
  query: Readonly<Record<string, string | undefined>> = {},
): string {
  const given = Object.entries(query).filter(
    (entry): entry is [string, string] => entry[1] !== undefined && entry[1] !== '',
  );
  const search = given.length === 0 ? '' : `?${new URLSearchParams(given).toString()}`;
  const path = [page === 'overview' && parts.length === 0 ? '' : page, ...parts].map(encodeURIComponent);
  return `#/${path.join('/')}${search}`;
}

export function machineLink(id: string): string {
  return linkTo('machine', [id]);
}

export function clusterLink(cluster: string): string {
  return linkTo('cluster', [cluster]);
}

/** Numbers of cycles begin again with each start of the shard; an epoch that is not known means the newest one. */
export function cycleLink(cycle: number, epoch?: number | null): string {
  return linkTo('cycle', [String(cycle)], { epoch: epoch?.toString() });
}

/** `web/00ff00ff00`: the digits follow the last slash, because the name of a cluster may have one. */
export function needLink(id: string): string {
  const slash = id.lastIndexOf('/');
  return linkTo('need', [id.slice(0, slash), id.slice(slash + 1)]);
}

/** Where a typed name leads: a Need is named by its cluster and ten hexadecimal digits; otherwise machines are searched. */
export function placeOfName(name: string): string {
  const slash = name.lastIndexOf('/');
  const digits = name.slice(slash + 1);
  // Digits are read in upper case, too; the name of a cluster is what it is.
  if (slash > 0 && /^[0-9a-f]{10}$/i.test(digits))
    return needLink(`${name.slice(0, slash)}/${digits.toLowerCase()}`);
  return linkTo('machines', [], { text: name });
}

function splitOnce(text: string, by: string): readonly [string, string] {
  const at = text.indexOf(by);
  return at === -1 ? [text, ''] : [text.slice(0, at), text.slice(at + 1)];
}

/** A part that is not well encoded is taken as it is: a person may have typed it. */
function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
