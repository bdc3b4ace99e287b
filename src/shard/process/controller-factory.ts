// Creates the controller of a shard on the controller's thread, with its store and its journal. controller-worker.ts
// imports it by the URL that shard.ts passes to controller-thread.ts.

import { killAtFailpoint } from '../failpoints.ts';
import { JournalThread, type JournalThreadStart } from '../journal/journal-thread.ts';
import { readPast } from '../journal/past.ts';
import { Controller } from '../planning/controller.ts';
import { SqliteControllerStore } from '../storage/controller-store-sqlite.ts';
import type { ShardEvent } from '../views.ts';
import type { MakeController } from './controller-protocol.ts';

export const makeController: MakeController = (environment, { options, file, journal }) => {
  killAtFailpoint();
  const store = new SqliteControllerStore(file);
  // Before the journal's thread opens the file, which renames an unreadable one.
  const past = journal && readPast(journal.path, environment.clock.now());
  const thread = journal && startJournal(journal, environment.publish);
  const controller = new Controller({
    ...environment,
    ...{ options, store, past },
    journal: thread && { sink: thread, limits: journal.limits },
  });
  return {
    get isIdle() {
      return controller.isIdle;
    },
    start: () => controller.start(),
    handle: (event) => controller.handle(event),
    ask: (name, ask) => controller.ask(name, ask),
    order: (order) => controller.order(order),
    stop: () => controller.stop(),
    close: async () => {
      await controller.close();
      await thread?.close();
      store.close();
    },
  };
};

function startJournal(start: JournalThreadStart, publish: (event: ShardEvent) => void): JournalThread {
  const { path } = start;
  const log = (event: string, why: string): void =>
    publish({ kind: 'log', level: 'error', event, fields: { path, why } });
  return new JournalThread({
    ...start,
    onReplaced: (why) => log('journal-replaced', why),
    onFailure: (why) => log('journal-failed', why),
  });
}
