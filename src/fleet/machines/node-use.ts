// Node facts as numbers of a column, and their places in the keep order. Part of machine-table.ts, whose `use` column
// holds them; the engine reads them through `useAndPriceOrder` and `isProtected`.

import { nodeUseNumber } from '../../model/index.ts';

export const PROTECTED = nodeUseNumber('protected');

/**
 * By number: place among bound machines of one price. Unknown is between in use and empty: the machine may be in use, and
 * where no machine has facts all are alike. Protected ones are compared before the price, so among them nothing is left to
 * decide here.
 */
export const PLACE_AT_PRICE: readonly number[] = [1, 2, 0, 0];
