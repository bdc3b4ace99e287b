import { describe, expect, it } from 'vitest';
import { addressList, type Lookup, resolveEndpoints } from './endpoints.ts';

const known: Lookup = async (host) => {
  if (host === 'shard.example')
    return [
      { address: '10.0.0.1', family: 4 },
      { address: 'fd00::1', family: 6 },
    ];
  throw new Error('ENOTFOUND');
};

describe('addresses of a shard', () => {
  it('given a list with blanks, then its parts', () => {
    expect(addressList(' a:1, b:2 ,,[::1]:3')).toEqual(['a:1', 'b:2', '[::1]:3']);
  });

  it('given names and addresses, then all endpoints in order, with the name for the certificate', async () => {
    const found = await resolveEndpoints(['127.0.0.1:1', 'shard.example:7780', '[::1]:3', 'gone:1'], known);
    expect(found).toEqual([
      { address: '127.0.0.1:1', host: '127.0.0.1' },
      { address: '10.0.0.1:7780', host: 'shard.example' },
      { address: '[fd00::1]:7780', host: 'shard.example' },
      { address: '[::1]:3', host: '::1' },
    ]);
  });

  it('given no name that resolves, then the reasons are named', async () => {
    await expect(resolveEndpoints(['gone:1', 'lost:2'], known)).rejects.toThrow(
      'gone: ENOTFOUND; lost: ENOTFOUND',
    );
  });
});
