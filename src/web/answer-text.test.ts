import { describe, expect, it } from 'vitest';
import { answerLines, pathsOf } from './answer-text.ts';

describe('the paths for a name', () => {
  it.each([
    ['m-1', ['/v1/machines/m-1']],
    ['gpu/7', ['/v1/machines/gpu%2F7']],
    ['a/b/00FF00ff00', ['/v1/needs/a%2Fb/00ff00ff00', '/v1/machines/a%2Fb%2F00FF00ff00']],
  ])('given %s, then they are %j', (name, paths) => {
    expect(pathsOf(name)).toEqual(paths);
  });
});

describe('the answer about a machine', () => {
  const machine = {
    ...{ id: 'm', state: 'CONFIGURED', cluster: 'shop', pricePerHour: 2, lastError: '' },
    ...{ usage: null, unclaimed: null, held: null },
  };

  it('given one on hold, then it says so', () => {
    const unclaimed = { sentence: 'unclaimed for 4 min, given back in 6 min' };
    expect(answerLines({ ...machine, unclaimed })).toEqual([
      'm: serving in shop, $2.00/h',
      unclaimed.sentence,
    ]);
  });

  it('given one that is to be replaced, then it says so', () => {
    const renewal = { sentence: 'to be replaced by cheaper machines for 4 min' };
    expect(answerLines({ ...machine, renewal })).toEqual(['m: serving in shop, $2.00/h', renewal.sentence]);
  });

  it('given one that is kept out of decisions, then it says why', () => {
    const held = { why: 'smells of smoke' };
    expect(answerLines({ ...machine, state: 'NEW', cluster: '', held, lastError: 'disk died' })).toEqual([
      'm: NEW, $2.00/h',
      'kept out of decisions: smells of smoke',
      'disk died',
    ]);
  });
});

describe('the answer about a Need', () => {
  const answer = {
    need: { id: 'shop/00ff00ff00', isMet: false, why: 'better-ranked rows claim the machines it could use' },
    sentence: 'not met: lacks 4 cpu',
    remainders: { sentence: '3 remainders match, none holds its largest pod (4 cpu)' },
    obstacles: [{ sentence: '2 are in transit.' }],
    ...{ advice: ['Wait.'], remarks: [] },
  };

  it('given one that is not met, then it says why, and what would help', () => {
    expect(answerLines(answer)).toEqual([
      'shop/00ff00ff00: not met: lacks 4 cpu',
      answer.need.why,
      answer.remainders.sentence,
      '2 are in transit.',
      'Wait.',
    ]);
  });

  it('given one that is met, then it has no obstacles', () => {
    const need = { ...answer.need, isMet: true, why: '' };
    const sentence = 'met: keeps 2 machines, shares 1.5 cpu of machine-7';
    expect(answerLines({ ...answer, need, sentence, remainders: { sentence: '' }, advice: [] })).toEqual([
      `shop/00ff00ff00: ${sentence}`,
    ]);
  });
});
