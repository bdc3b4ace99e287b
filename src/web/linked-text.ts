// Splits a sentence at the names in it, so that each name can be a link. The sentences themselves are plain texts that
// terminal and page share (sentences.ts).

import type { Action } from './feed.ts';
import { clusterLink, machineLink, needLink } from './place.ts';

export interface TextPart {
  readonly text: string;
  /** Absent: plain text. */
  readonly href?: string;
}

export type Names = readonly (readonly [name: string, href: string])[];

/** Names that occur in each other are matched longest first; a name is a link only where it is a word of its own. */
export function linkedParts(text: string, names: Names): readonly TextPart[] {
  const known = new Map(names.filter(([name]) => name !== ''));
  if (known.size === 0) return [{ text }];
  const ordered = [...known.keys()].sort((a, b) => b.length - a.length).map(escaped);
  const pattern = new RegExp(`(?<![\\w/.-])(?:${ordered.join('|')})(?![\\w/-])`, 'g');
  const parts: TextPart[] = [];
  let from = 0;
  for (const found of text.matchAll(pattern)) {
    if (found.index > from) parts.push({ text: text.slice(from, found.index) });
    parts.push({ text: found[0], href: known.get(found[0])! });
    from = found.index + found[0].length;
  }
  if (from < text.length) parts.push({ text: text.slice(from) });
  return parts;
}

function escaped(name: string): string {
  return name.replaceAll(/[\\^$.*+?()[\]{}|/-]/g, '\\$&');
}

type Named = Pick<Action, 'machine' | 'cluster' | 'need' | 'from'>;

/** The names that the sentence of an action has. */
export function namesOf({ machine, cluster, need, from }: Named): Names {
  return [
    [machine, machineLink(machine)],
    ...needNames(need?.id),
    ...needNames(from?.id),
    ...(cluster === '' ? [] : [[cluster, clusterLink(cluster)] as const]),
  ];
}

function needNames(id: string | undefined): Names {
  return id === undefined ? [] : [[id, needLink(id)]];
}
