// Cursors of lists as callers see them: the name of a list and a position in it, in letters that need no escaping. A caller
// gives back what it was given; anything else is refused, because a list that began again unnoticed would repeat itself.

import type { Page } from '../views.ts';
import { Refusal } from './refusal.ts';

/** How a position of each list is written. */
const POSITIONS = {
  /** The id of the last machine. */
  machines: /^.+$/s,
  /** Whether the last machine is not Failed, and its id. */
  'machines-by-trouble': /^[01] .+$/s,
  /** The name of the last cluster. */
  clusters: /^.+$/s,
  /** When the last freeze began, and its id. */
  freezes: /^-?[\d.e+]{1,30} .+$/s,
  /** When the last action began, and its id. */
  actions: /^-?[\d.e+]{1,30} .+$/s,
  /** How many were shown. */
  'clusters-by-trouble': /^\d{1,9}$/,
  needs: /^\d{1,9}$/,
  shortfalls: /^\d{1,9}$/,
  providers: /^\d{1,9}$/,
  waiting: /^\d{1,9}$/,
} as const;

export type ListName = keyof typeof POSITIONS;

/** An answer as callers see it. */
export function withCursor<T>(list: ListName, page: Page<T>): Page<T> {
  return page.next === null ? page : { ...page, next: cursorOf(list, page.next) };
}

function cursorOf(list: ListName, position: string): string {
  return Buffer.from(`${list}:${position}`).toString('base64url');
}

export interface Place<L extends ListName> {
  readonly list: L;
  readonly position: string;
}

/** What a cursor of one of these lists means. */
export function placeOf<L extends ListName>(cursor: string, lists: readonly L[]): Place<L> {
  const text = Buffer.from(cursor, 'base64url').toString();
  const colon = text.indexOf(':');
  const list = lists.find((name) => name === text.slice(0, colon));
  const position = text.slice(colon + 1);
  // Decoding is lenient; what is not encoded to the same letters was not made here.
  if (list !== undefined && POSITIONS[list].test(position) && cursorOf(list, position) === cursor)
    return { list, position };
  const what = 'The parameter "after" is not a cursor of this list';
  throw new Refusal(400, `${what}; give back the "next" of a page, or leave it out to begin again.`);
}
