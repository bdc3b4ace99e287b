import { describe, expect, it } from 'vitest';
import { ACTION_KINDS, ACTION_WORDS, actionKindOf } from '../model/index.ts';
import { kindName, VERBS } from '../web/index.ts';

describe('words for actions', () => {
  it.each(ACTION_KINDS.map((kind) => [kind]))(
    'given %s, then every surface has the same verb and tenses',
    (kind) => {
      const { verb, doing, done } = ACTION_WORDS[kind];
      expect(kindName(kind)).toBe(verb);
      expect(VERBS[kind]).toMatchObject({ doing, done });
    },
  );

  it.each(ACTION_KINDS.map((kind) => [kind]))(
    'given %s, then either spelling is accepted in any case',
    (kind) => {
      const { verb } = ACTION_WORDS[kind];
      for (const word of [kind, kind.toLowerCase(), verb, verb.toUpperCase()])
        expect(actionKindOf(word)).toBe(kind);
    },
  );

  it('given another word, then it names no action', () => {
    expect(actionKindOf('give')).toBeUndefined();
  });
});
