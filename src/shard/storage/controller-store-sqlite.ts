// The controller's durable state in one SQLite file. It is opened, read and written on the controller's thread, and a
// call returns when its transaction is on disk: the controller calls no provider for a machine before that. Opened by
// process/controller-factory.ts.

import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { BigFleetError, type Stamp } from '../../model/index.ts';
import { SqliteFile, type SqliteFormat } from '../../runtime/sqlite-file.ts';
import type { DrainReporterStore } from '../actuation/drain-reporters.ts';
import { failpoint } from '../failpoints.ts';
import type { MachineFacts, MachineStore } from '../inventory/machine-facts-store.ts';
import type { Freeze, FreezeStore } from '../planning/freezes.ts';
import type { ControllerStore } from '../planning/options.ts';
import type { Retirement, RetirementStore } from '../planning/retirements.ts';

// One JSON text per record: fifteen columns take five times as long, and a cycle may save thousands of records. Keys are
// JSON too: texts in SQLite may end at a NUL, and ids may contain one.
const SCHEMA = `
  CREATE TABLE machines (id TEXT PRIMARY KEY, facts TEXT NOT NULL) STRICT;
  CREATE TABLE freezes (id TEXT PRIMARY KEY, freeze TEXT NOT NULL) STRICT;
`;

/** Not part of the schema, so that files of earlier versions get it when they are opened. */
const LATER_TABLES = `
  CREATE TABLE IF NOT EXISTS retirements (cluster TEXT PRIMARY KEY, retirement TEXT NOT NULL) STRICT;
  CREATE TABLE IF NOT EXISTS drain_reporters (cluster TEXT PRIMARY KEY) STRICT;
`;

const FORMAT: SqliteFormat = {
  applicationId: 0x42466272, // "BFbr"
  version: 1,
  schema: SCHEMA,
  isNot: 'does not hold what a shard remembers',
};

export class SqliteControllerStore implements ControllerStore {
  readonly machines: MachineStore;
  readonly freezes: FreezeStore;
  readonly retirements: RetirementStore;
  readonly drainReporters: DrainReporterStore;
  readonly #file: SqliteFile;
  readonly #path: string;

  /**
   * Opens or creates the file. Throws BF_STORE_LOCKED or BF_STORE_UNREADABLE; reading throws the latter too, and writing
   * BF_STORE_FAILED. After one failed write all later ones fail.
   */
  constructor(path: string) {
    this.#path = path;
    this.#file = new SqliteFile(path, FORMAT);
    this.#file.database.exec(LATER_TABLES);
    const statements = prepare(this.#file.database);
    this.machines = {
      load: () => this.#read(statements.loadMachines, factsOf),
      save: (changed, dropped) =>
        this.#write('machines', () => {
          for (const facts of changed) statements.saveMachine.run(JSON.stringify(facts.id), textOf(facts));
          for (const id of dropped) statements.dropMachine.run(JSON.stringify(id));
        }),
    };
    this.freezes = {
      freezes: () => this.#read(statements.loadFreezes, freezeOf),
      putFreeze: (freeze) =>
        this.#write('freeze', () =>
          statements.saveFreeze.run(JSON.stringify(freeze.id), JSON.stringify(freeze)),
        ),
      deleteFreezes: (ids) =>
        this.#write('freeze', () => {
          for (const id of ids) statements.dropFreeze.run(JSON.stringify(id));
        }),
    };
    this.retirements = {
      retirements: () => this.#read(statements.loadRetirements, (text) => JSON.parse(text) as Retirement),
      putRetirement: (retirement) =>
        this.#write('freeze', () =>
          statements.saveRetirement.run(JSON.stringify(retirement.cluster), JSON.stringify(retirement)),
        ),
      deleteRetirement: (cluster) =>
        this.#write('freeze', () => statements.dropRetirement.run(JSON.stringify(cluster))),
    };
    this.drainReporters = {
      drainReporters: () => this.#read(statements.loadDrainReporters, (text) => JSON.parse(text) as string),
      saveDrainReporters: (added, dropped) =>
        this.#writeNow(() => {
          for (const cluster of added) statements.saveDrainReporter.run(JSON.stringify(cluster));
          for (const cluster of dropped) statements.dropDrainReporter.run(JSON.stringify(cluster));
        }),
    };
  }

  close(): void {
    this.#file.close();
  }

  #read<T>(statement: StatementSync, convert: (text: string) => T): readonly T[] {
    try {
      return statement.all().map(({ text }) => convert(text as string));
    } catch (cause) {
      throw this.#error('BF_STORE_UNREADABLE', cause);
    }
  }

  #write(what: 'machines' | 'freeze', apply: () => void): void {
    failpoint(`${what}.before-write`);
    this.#writeNow(apply);
    failpoint(`${what}.after-write`);
  }

  #writeNow(apply: () => void): void {
    try {
      this.#file.writeNow(apply);
    } catch (cause) {
      throw this.#error('BF_STORE_FAILED', cause);
    }
  }

  #error(code: 'BF_STORE_UNREADABLE' | 'BF_STORE_FAILED', cause: unknown): BigFleetError {
    const detail = `${this.#path}: ${cause instanceof Error ? cause.message : String(cause)}.`;
    return new BigFleetError(code, detail, { cause });
  }
}

function prepare(database: DatabaseSync) {
  return {
    loadMachines: database.prepare('SELECT facts AS text FROM machines'),
    // Faster than REPLACE, which deletes and inserts.
    saveMachine: database.prepare(
      'INSERT INTO machines VALUES (?, ?) ON CONFLICT (id) DO UPDATE SET facts = excluded.facts',
    ),
    dropMachine: database.prepare('DELETE FROM machines WHERE id = ?'),
    loadFreezes: database.prepare('SELECT freeze AS text FROM freezes'),
    saveFreeze: database.prepare('REPLACE INTO freezes VALUES (?, ?)'),
    dropFreeze: database.prepare('DELETE FROM freezes WHERE id = ?'),
    loadRetirements: database.prepare('SELECT retirement AS text FROM retirements'),
    saveRetirement: database.prepare('REPLACE INTO retirements VALUES (?, ?)'),
    dropRetirement: database.prepare('DELETE FROM retirements WHERE cluster = ?'),
    loadDrainReporters: database.prepare('SELECT cluster AS text FROM drain_reporters ORDER BY rowid'),
    saveDrainReporter: database.prepare('INSERT OR IGNORE INTO drain_reporters VALUES (?)'),
    dropDrainReporter: database.prepare('DELETE FROM drain_reporters WHERE cluster = ?'),
  };
}

/** Penalties of a stamp may be infinite, which JSON numbers cannot express; those are written as texts. */
type StoredFacts = Omit<MachineFacts, 'stamp'> & {
  readonly stamp: { readonly [K in keyof Stamp]: Stamp[K] | string } | null;
};

function textOf(facts: MachineFacts): string {
  const { stamp } = facts;
  if (stamp === null) return JSON.stringify(facts);
  const stored: StoredFacts = {
    ...facts,
    stamp: {
      ...stamp,
      interruptionPenaltyDollars: numberOrText(stamp.interruptionPenaltyDollars),
      reclamationPenaltyDollars: numberOrText(stamp.reclamationPenaltyDollars),
    },
  };
  return JSON.stringify(stored);
}

function factsOf(text: string): MachineFacts {
  const { stamp, ...stored } = JSON.parse(text) as StoredFacts;
  // Files of earlier versions do not contain the provider of a machine, nor what operators report of its node.
  const facts = {
    ...stored,
    provider: stored.provider ?? '',
    drain: stored.drain ?? null,
    protectedUntilMs: stored.protectedUntilMs ?? null,
    node: stored.node ?? null,
  };
  if (stamp === null) return { ...facts, stamp };
  return {
    ...facts,
    stamp: {
      ...(stamp as Stamp),
      interruptionPenaltyDollars: Number(stamp.interruptionPenaltyDollars),
      reclamationPenaltyDollars: Number(stamp.reclamationPenaltyDollars),
    },
  };
}

/** Freezes of earlier versions have no end. */
function freezeOf(text: string): Freeze {
  const freeze = JSON.parse(text) as Omit<Freeze, 'untilMs'> & Partial<Pick<Freeze, 'untilMs'>>;
  return { ...freeze, untilMs: freeze.untilMs ?? null };
}

function numberOrText(value: number): number | string {
  return Number.isFinite(value) ? value : String(value);
}
