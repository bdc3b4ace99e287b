// Which process bound a machine, in its metadata.

import { describe, expect, it } from 'vitest';
import { binderEpoch, stampFromMetadata, withBinder } from './stamp.ts';

const KEY = 'bigfleet.lucy.sh/bound-by';

describe('the binder of a machine', () => {
  it.each(['shard-0', 'with space', '17 shard-0', 'a\nb'])('is read back, for the shard %j', (shardId) => {
    const metadata = withBinder(new Map([['why', 'x']]), { shardId, epoch: 17n });
    expect(metadata.get('why')).toBe('x');
    expect(binderEpoch(metadata, shardId)).toBe(17n);
    expect(binderEpoch(metadata, 'another')).toBeNull();
    expect(stampFromMetadata(metadata)).toBeNull();
  });

  it.each(['', '17', 'x s', '-1 s', '0 s', '1.5 s', `${'9'.repeat(20)} s`])(
    'given %j, then no binder is named',
    (text) => {
      expect(binderEpoch(new Map([[KEY, text]]), 's')).toBeNull();
    },
  );
});
