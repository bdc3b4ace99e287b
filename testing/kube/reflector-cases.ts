// A reflector on both control planes while the API server is killed and its history is compacted. Declared by
// test/kube/*.test.ts; src/operator/kube/reflector-loop.test.ts has the rest.

import { expect } from 'vitest';
import { Reflector } from '../../src/operator/kube/index.ts';
import { Random } from '../../src/runtime/random.ts';
import { type ControlPlane, eventually } from './control-plane.ts';
import { configMaps } from './shared-cases.ts';
import type { Case, CaseContext } from './suite.ts';

async function follow(plane: ControlPlane, path: string, context: CaseContext) {
  const names = new Set<string>();
  let listed: Set<string> | null = null;
  const reflector = new Reflector({
    client: plane.admin,
    path,
    random: new Random(1),
    settings: { pageSize: 7, resumeJitterMs: 10, backoff: { baseMs: 20, maxMs: 200 } },
    consumer: {
      listing: () => {
        listed = new Set();
      },
      set: ({ metadata }) => {
        listed?.add(metadata.name);
        names.add(metadata.name);
      },
      remove: ({ metadata }) => void names.delete(metadata.name),
      listed: () => {
        for (const name of names) if (!listed!.has(name)) names.delete(name);
        listed = null;
      },
    },
  });
  context.defer(() => reflector.stop());
  reflector.start();
  await eventually('it is current', () => reflector.isCurrent);
  return { reflector, names };
}

export const REFLECTOR_CASES: readonly Case[] = [
  {
    title: 'given a reflector, when the API server is killed and comes back, then it follows again',
    run: async (context) => {
      const { plane } = context;
      const make = (name: string) => plane.admin.create(configMaps(context), { metadata: { name } });
      for (let i = 0; i < 20; i++) await make(`c${i}`);
      const { reflector, names } = await follow(plane, configMaps(context), context);
      expect(names.size).toBeGreaterThanOrEqual(20);
      await make('live');
      await eventually('it is followed', () => names.has('live'));
      await plane.stopApiServer();
      await eventually('it notices', () => reflector.failure !== null);
      await plane.startApiServer();
      await make('after');
      await plane.admin.delete(configMaps(context, 'c3'));
      await eventually('it follows again', () => names.has('after') && !names.has('c3'));
      expect(reflector.isCurrent).toBe(true);
      // History that is gone while it is away: it lists again.
      const { lists } = reflector.counters;
      await reflector.stop();
      await plane.admin.delete(configMaps(context, 'c4'));
      await make('later');
      await plane.compact();
      reflector.start();
      await eventually('it has listed again', () => names.has('later') && !names.has('c4'));
      expect(reflector.counters.lists).toBe(lists + 1);
    },
  },
];
