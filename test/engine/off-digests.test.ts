// What the engine decides with sharing off, on small rungs of the scale ladder (`--options unshared`), pinned: `off` promises the
// decisions of before sharing, E1b and R113 aside (docs/adr/0038), and no comparison of engine and oracle notices a change
// that both make.
//
// A digest may be renewed if docs/internals/engine.md now lists one more difference of `off`, or if the generated fleets
// changed (testing/workload, bench/profiles). To renew it, replace it by the one that the failed test received.

import { describe, expect, it } from 'vitest';
import { digestOf } from '../../bench/ladder/digest.ts';
import { UNSHARED_OPTIONS } from '../../src/model/index.ts';
import { onEngine } from './compare.ts';
import { rungInput } from './rungs.ts';

describe('decisions with sharing off', () => {
  it.each([
    ['dev-50', 'full', 'eb54263ce3692047f3ee0c1d77efae0bbc91f041f71fd9edf6ccd24055a147ab'],
    ['dev-50', 'cold', 'c73d1d311be9f3946d3fa85701ee2e841aea040b683dd4c4ef746670f4832906'],
    ['dev-500', 'full', '1ff9665bfbf5fb47c167ea71f465509d083de72787b4ea43f48de1d8c27168d5'],
    ['dev-500', 'cold', '4727ddfc2b591ea4a0d438e8f8b949c409e790c2ece76817e5f32e82b6263ca4'],
    ['uber-5k', 'full', 'dc4d70fa0de06ec5ae3d2f89843ec6a67a82d692b78581f45955f737d063695e'],
    ['uber-5k', 'cold', '1369d560eb5798b0bcf3d4a6a162f2402f003c794e5f0e9ee3131145e9a4aecc'],
  ] as const)('given %s, %s, then the actions are those of before', (profile, beginning, digest) => {
    const { actions } = onEngine(rungInput(profile, beginning, UNSHARED_OPTIONS));
    expect(digestOf(actions)).toBe(digest);
  });
});
