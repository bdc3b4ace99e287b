// The metadata entry that names the shard and epoch that bound a machine.

import { describe, expect, it } from 'vitest';
import { binderEpoch, stampFromMetadata, withBinder } from './stamp.ts';

const KEY = 'bigfleet.lucy.sh/bound-by';

describe('the binder in the metadata of a machine', () => {
  it.each(['shard-0', 'with space', '17 shard-0', 'a\nb'])(
    'given the shard %j, when it writes its epoch, then only that shard reads it back',
    (shardId) => {
      const metadata = withBinder(new Map([['why', 'x']]), { shardId, epoch: 17n });
      expect(metadata.get('why')).toBe('x');
      expect(binderEpoch(metadata, shardId)).toBe(17n);
      expect(binderEpoch(metadata, 'another')).toBeNull();
      expect(stampFromMetadata(metadata)).toBeNull();
    },
  );

  it.each(['', '17', 'x s', '-1 s', '0 s', '1.5 s', `${'9'.repeat(20)} s`])(
    'given the malformed value %j, then there is no binder',
    (text) => {
      expect(binderEpoch(new Map([[KEY, text]]), 's')).toBeNull();
    },
  );
});
