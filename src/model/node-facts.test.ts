import { describe, expect, it } from 'vitest';
import { NODE_USES, nodeUseText, protectedVictimText } from './node-facts.ts';

describe('texts about node facts', () => {
  it('given a known use, then the sentence begins with it', () => {
    const first = NODE_USES.map((use) => nodeUseText(use).split(':')[0]);
    expect(first).toEqual(['empty', 'in use', 'protected']);
  });

  it('given an unknown use, then there is nothing to say', () => {
    expect([nodeUseText(null), nodeUseText(undefined)]).toEqual(['', '']);
  });

  it('given a victim, then only its protection is worth a remark', () => {
    expect(protectedVictimText('protected')).toContain('no other victim was left');
    expect([protectedVictimText('empty'), protectedVictimText('in-use'), protectedVictimText(null)]).toEqual([
      '',
      '',
      '',
    ]);
  });
});
