// Makes the brain of a shard on its own thread, over its own file.

import { killAtFailpoint } from '../failpoints.ts';
import { JournalThread, type JournalThreadStart } from '../journal/journal-thread.ts';
import { readPast } from '../journal/past.ts';
import { Brain } from '../planning/controller.ts';
import { SqliteBrainStore } from '../storage/controller-store-sqlite.ts';
import type { News } from '../views.ts';
import type { MakeBrain } from './controller-protocol.ts';

export const makeBrain: MakeBrain = (surroundings, { options, file, journal }) => {
  killAtFailpoint();
  const store = new SqliteBrainStore(file);
  // Before its writer opens it: one that cannot be read is put aside then.
  const past = journal && readPast(journal.path, surroundings.clock.now());
  const thread = journal && startJournal(journal, surroundings.tell);
  const brain = new Brain({
    ...surroundings,
    ...{ options, store, past },
    journal: thread && { sink: thread, limits: journal.limits },
  });
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
      await thread?.close();
      store.close();
    },
  };
};

function startJournal(start: JournalThreadStart, tell: (news: News) => void): JournalThread {
  const { path } = start;
  const log = (event: string, why: string): void =>
    tell({ kind: 'log', level: 'error', event, fields: { path, why } });
  return new JournalThread({
    ...start,
    onReplaced: (why) => log('journal-replaced', why),
    onFailure: (why) => log('journal-failed', why),
  });
}
