// Makes the brain of a shard on its own thread, over its own file.

import { Brain } from './brain/brain.ts';
import { killAtFailpoint } from './failpoints.ts';
import { SqliteBrainStore } from './store-sqlite.ts';
import type { MakeBrain } from './thread/protocol.ts';

export const makeBrain: MakeBrain = (surroundings, { options, file }) => {
  killAtFailpoint();
  const store = new SqliteBrainStore(file);
  const brain = new Brain({ ...surroundings, options, store });
  return {
    get isIdle() {
      return brain.isIdle;
    },
    start: () => brain.start(),
    handle: (event) => brain.handle(event),
    ask: (name, ask) => brain.ask(name, ask),
    order: (order) => brain.order(order),
    stop: () => brain.stop(),
    close: async () => {
      await brain.close();
      store.close();
    },
  };
};
