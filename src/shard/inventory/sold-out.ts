// Whether an error of a provider means that nothing is in stock. Providers of the kit say so with a code; for others,
// which send plain text, the usual wordings of clouds are recognised. Used by actuation, by error-class.ts and by
// process/provider-calls.ts.

import { codedText } from '../../model/index.ts';

/** `error` is a `last_error`, or the detail of a refused call. A text with another code is never a stock-out. */
export function isSoldOut(error: string): boolean {
  const { code, text } = codedText(error);
  return code === null ? WORDINGS.test(text) : code === 'BF_OUT_OF_STOCK';
}

const WORDINGS =
  /insufficient.{0,20}capacity|out of (stock|capacity)|stock-?out|sold out|no capacity|capacity.{0,20}(exhausted|unavailable)/i;
