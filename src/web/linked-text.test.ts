import { describe, expect, it } from 'vitest';
import { linkedParts } from './linked-text.ts';

const linked = (text: string, ...names: readonly string[]): string =>
  linkedParts(
    text,
    names.map((name) => [name, `#${name}`]),
  )
    .map(({ text: part, href }) => (href === undefined ? part : `[${part}]`))
    .join('');

describe('links in a sentence', () => {
  it('given names, then each is a link wherever it is a word', () => {
    expect(linked('bound m-1 (spot, a) to web: fits', 'm-1', 'web')).toBe(
      'bound [m-1] (spot, a) to [web]: fits',
    );
  });

  it('given a name that is part of another, then the longer one is the link', () => {
    expect(linked('for web/00ff00ff00 of web', 'web', 'web/00ff00ff00')).toBe(
      'for [web/00ff00ff00] of [web]',
    );
    expect(linked('m-12 and m-1', 'm-1')).toBe('m-12 and [m-1]');
  });

  it('given a name with characters of patterns, then it is taken literally', () => {
    expect(linked('lost a.b(c)+ now, not axb', 'a.b(c)+')).toBe('lost [a.b(c)+] now, not axb');
  });

  it('given no names or empty ones, then it is plain text', () => {
    expect(linked('nothing')).toBe('nothing');
    expect(linked('nothing', '')).toBe('nothing');
  });
});
