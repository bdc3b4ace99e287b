// Texts on the wire that operator and shard must spell alike.

import { expect, it } from 'vitest';
import { MACHINE_GONE } from '../../src/operator/nodes/machines.ts';
import { MACHINE_GONE as SHARD_MACHINE_GONE } from '../../src/shard/planning/node-state.ts';

it('given a machine that its provider no longer has, then the operator knows the error that the shard reports', () => {
  expect(MACHINE_GONE).toBe(SHARD_MACHINE_GONE);
});
