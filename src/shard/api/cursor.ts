// Cursors of lists as callers see them: the name of a list and a position in it, encoded so that a URL needs no
// escaping. A cursor that was not made here is refused, because a list that silently started over would repeat its
// items. Used by read-routes.ts
// and cycle-routes.ts.

import type { Page } from '../views.ts';
import { Refusal } from './refusal.ts';

/** The syntax of a position in each list. */
const POSITIONS = {
  /** The id of the last machine. */
  machines: /^.+$/s,
  /** 0 if the last machine is Failed, else 1, and its id. */
  'machines-by-trouble': /^[01] .+$/s,
  /** The value that the list is sorted by and the id of the last machine, as JSON. */
  'machines-sorted': { test: isSortedPosition },
  /** The name of the last cluster. */
  clusters: /^.+$/s,
  /** Start time of the last freeze, and its id. */
  freezes: /^-?[\d.e+]{1,30} .+$/s,
  /** Start time of the last action, and its id. */
  actions: /^-?[\d.e+]{1,30} .+$/s,
  /** The id of an event. */
  history: /^[\da-z-]{1,40}$/,
  /** The id of an event in the journal. */
  decided: /^\d{1,16}$/,
  /** In the lists below: the number of items before the position. */
  'clusters-by-trouble': /^\d{1,9}$/,
  needs: /^\d{1,9}$/,
  shortfalls: /^\d{1,9}$/,
  providers: /^\d{1,9}$/,
  waiting: /^\d{1,9}$/,
  costs: /^\d{1,9}$/,
  /** The name of the last group, which may be empty. */
  'costs-by-name': /^.*$/s,
} as const;

function isSortedPosition(text: string): boolean {
  try {
    const position: unknown = JSON.parse(text);
    return (
      Array.isArray(position) &&
      position.length === 2 &&
      ['string', 'number'].includes(typeof position[0]) &&
      typeof position[1] === 'string'
    );
  } catch {
    return false;
  }
}

export type ListName = keyof typeof POSITIONS;

/** A page with its position replaced by a cursor. */
export function withCursor<P extends Pick<Page<unknown>, 'next'>>(list: ListName, page: P): P {
  return page.next === null ? page : { ...page, next: cursorOf(list, page.next) };
}

function cursorOf(list: ListName, position: string): string {
  return Buffer.from(`${list}:${position}`).toString('base64url');
}

/** The list and the position that a cursor of one of these lists has. */
export function positionIn<L extends ListName>(
  lists: readonly L[],
  cursor: string,
): { readonly list: L; readonly position: string } {
  const text = Buffer.from(cursor, 'base64url').toString();
  const colon = text.indexOf(':');
  const list = lists.find((name) => name === text.slice(0, colon));
  const position = text.slice(colon + 1);
  // Decoding is lenient: a cursor that encodes differently was not made here.
  if (list !== undefined && POSITIONS[list].test(position) && cursorOf(list, position) === cursor)
    return { list, position };
  const what = 'The parameter "after" is not a cursor of this list';
  throw new Refusal(400, `${what}; send the "next" of a page, or leave it out to start over.`);
}
