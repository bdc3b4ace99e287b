import { expect, it } from 'vitest';
import { moduleBeside } from './module-path.ts';

it.each([
  ['file:///checkout/src/engine/parallel/worker-pool.ts', 'file:///checkout/src/engine/parallel/worker.ts'],
  ['file:///package/dist/engine/worker-pool.js', 'file:///package/dist/engine/worker.js'],
])('given a caller at %s, then the module is %s', (url, beside) => {
  expect(moduleBeside(url, 'worker').href).toBe(beside);
});
