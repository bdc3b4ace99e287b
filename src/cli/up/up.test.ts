import { describe, expect, it } from 'vitest';
import { upCommand } from './command.ts';

describe('bigfleet up', () => {
  it.each(['bare-metal', 'bare-metal=free'])(
    'given %s as a price of owned machines, then the error shows the expected form, and nothing starts',
    async (text) => {
      const command = upCommand()
        .exitOverride()
        .configureOutput({ writeErr: () => {} });
      await expect(command.parseAsync(['--owned-price', text], { from: 'user' })).rejects.toThrow(
        /--owned-price.* Expected dollars per hour as NAME=PRICE/,
      );
    },
  );
});
