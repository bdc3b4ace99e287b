// `bigfleet freeze --for`: a freeze that ends by itself.

import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { freezeCommand } from '../../src/cli/remote/freeze.ts';
import { type Served, servedShard } from './served.ts';

let served: Served;
beforeEach(async () => {
  served = await servedShard();
});
afterEach(() => served.close());

const freeze = (...words: string[]) => served.run(freezeCommand, ['--fleet', '--why', 'w', ...words]);

describe('bigfleet freeze --for', () => {
  it.each([
    ['90m', 5400],
    ['1.5h', 5400],
    ['3d', 259_200],
    ['10ms', 1],
  ])('given %s, then the order has %d seconds', async (text, forSeconds) => {
    await freeze('--for', text);
    expect(served.shard.orders).toMatchObject([{ kind: 'freeze', forSeconds }]);
  });

  it('given no time, then the order has none', async () => {
    await freeze();
    expect(served.shard.orders[0]).not.toHaveProperty('forSeconds');
  });

  it.each([
    ['noon', 'It must be a duration such as'],
    ['-1h', 'It must be a duration such as'],
    ['0s', 'must be a whole number of seconds from 1 to 31622400'],
    ['400d', 'must be a whole number of seconds from 1 to 31622400'],
  ])(
    'given %s, then it is refused with the reason, and no order reaches the shard',
    async (text, message) => {
      await expect(freeze('--for', text)).rejects.toThrow(message);
      expect(served.shard.orders).toEqual([]);
    },
  );
});
