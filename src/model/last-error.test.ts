import { describe, expect, it } from 'vitest';
import { codedText, withCode } from './last-error.ts';

describe('the code of a last_error', () => {
  it('given a text with a code, when read back, then code and text are those that were written', () => {
    const written = withCode('BF_OUT_OF_STOCK', 'none: left');
    expect(codedText(written)).toEqual({ code: 'BF_OUT_OF_STOCK', text: 'none: left' });
    expect(codedText(`8 RESOURCE_EXHAUSTED: ${written}`)).toEqual(codedText(written));
  });

  it.each([
    '',
    'no capacity',
    'BF_OUT_OF_STOCK',
    'BF_NO_SUCH_CODE: none',
    'failed with BF_OUT_OF_STOCK: none',
    'BF_OUT_OF_STOCK:none',
  ])('given "%s", then there is no code and the text is unchanged', (text) => {
    expect(codedText(text)).toEqual({ code: null, text });
  });
});
