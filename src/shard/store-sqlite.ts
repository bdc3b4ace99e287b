// What the brain must remember, in one SQLite file. It is opened, read and written on the brain's thread, and a call
// returns when its transaction is on disk: the brain calls no provider for a machine before that.

import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite';
import { type ActionKind, BigFleetError, type NeedKey, type Stamp } from '../model/index.ts';
import { SqliteFile, type SqliteFormat } from '../provider/index.ts';
import type { Freeze, FreezeStore } from './brain/freezes.ts';
import type { MachineFacts, MachineStore } from './brain/memory.ts';
import type { BrainStore } from './brain/options.ts';

// Names are blobs: texts in SQLite may end at a NUL, and groups hold one. Parts that may be absent as a whole (target,
// stamp, quarantine) are, if a column of theirs that is never null in them is null. Penalties may be infinite; REAL
// holds that.
const SCHEMA = `
  CREATE TABLE machines (id BLOB PRIMARY KEY,
    target_cluster BLOB, target_fingerprint BLOB, target_group BLOB,
    cluster BLOB NOT NULL,
    stamp_priority INTEGER, stamp_interruption REAL, stamp_reclamation REAL, stamp_fingerprint BLOB, stamp_group BLOB,
    idle_since_ms REAL,
    quarantined_by BLOB, quarantined_why BLOB, quarantined_since_ms REAL,
    forgotten INTEGER NOT NULL) STRICT, WITHOUT ROWID;
  CREATE TABLE freezes (id BLOB PRIMARY KEY, cluster BLOB, action TEXT, who BLOB NOT NULL, why BLOB NOT NULL,
    since_ms REAL NOT NULL) STRICT, WITHOUT ROWID;
`;

const FORMAT: SqliteFormat = {
  applicationId: 0x42466272, // "BFbr"
  version: 1,
  schema: SCHEMA,
  isNot: 'does not hold what a shard remembers',
};

export class SqliteBrainStore implements BrainStore {
  readonly machines: MachineStore;
  readonly freezes: FreezeStore;
  readonly #file: SqliteFile;
  readonly #path: string;

  /**
   * Opens or makes the file. Throws BF_STORE_LOCKED or BF_STORE_UNREADABLE; reading throws the latter too, and writing
   * BF_STORE_FAILED. After one failed write all later ones fail.
   */
  constructor(path: string) {
    this.#path = path;
    this.#file = new SqliteFile(path, FORMAT);
    const statements = prepare(this.#file.database);
    this.machines = {
      load: () => this.#read(statements.loadMachines, factsOf),
      save: (changed, dropped) =>
        this.#write(() => {
          for (const facts of changed) statements.saveMachine.run(...columnsOf(facts));
          for (const id of dropped) statements.dropMachine.run(Buffer.from(id));
        }),
    };
    this.freezes = {
      freezes: () => this.#read(statements.loadFreezes, freezeOf),
      putFreeze: ({ id, cluster, action, who, why, sinceMs }) =>
        this.#write(() => {
          const names = [Buffer.from(id), blobOf(cluster), action, Buffer.from(who), Buffer.from(why)];
          statements.saveFreeze.run(...names, sinceMs);
        }),
      deleteFreeze: (id) => this.#write(() => statements.dropFreeze.run(Buffer.from(id))),
    };
  }

  close(): void {
    this.#file.close();
  }

  #read<T>(statement: StatementSync, convert: (row: Row) => T): readonly T[] {
    try {
      return statement.all().map(convert);
    } catch (cause) {
      throw this.#error('BF_STORE_UNREADABLE', cause);
    }
  }

  #write(apply: () => void): void {
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
    loadMachines: database.prepare('SELECT * FROM machines'),
    saveMachine: database.prepare(`REPLACE INTO machines VALUES (${Array(15).fill('?').join(', ')})`),
    dropMachine: database.prepare('DELETE FROM machines WHERE id = ?'),
    loadFreezes: database.prepare('SELECT * FROM freezes'),
    saveFreeze: database.prepare('REPLACE INTO freezes VALUES (?, ?, ?, ?, ?, ?)'),
    dropFreeze: database.prepare('DELETE FROM freezes WHERE id = ?'),
  };
}

type Row = Record<string, unknown>;

/** In the order of the table. */
function columnsOf({ id, target, cluster, stamp, ...rest }: MachineFacts): SQLInputValue[] {
  const { idleSinceMs, quarantine, isForgotten } = rest;
  return [
    Buffer.from(id),
    blobOf(target?.cluster),
    blobOf(target?.fingerprint),
    blobOf(target?.group),
    Buffer.from(cluster),
    stamp?.priority ?? null,
    stamp?.interruptionPenaltyDollars ?? null,
    stamp?.reclamationPenaltyDollars ?? null,
    blobOf(stamp?.fingerprint),
    blobOf(stamp?.group),
    idleSinceMs,
    blobOf(quarantine?.by),
    blobOf(quarantine?.why),
    quarantine?.sinceMs ?? null,
    isForgotten ? 1 : 0,
  ];
}

function factsOf(row: Row): MachineFacts {
  return {
    id: textOf(row['id']),
    target: targetOf(row),
    cluster: textOf(row['cluster']),
    stamp: stampOf(row),
    idleSinceMs: row['idle_since_ms'] as number | null,
    quarantine: quarantineOf(row),
    isForgotten: row['forgotten'] === 1,
  };
}

function targetOf(row: Row): NeedKey | null {
  if (row['target_cluster'] === null) return null;
  return {
    cluster: textOf(row['target_cluster']),
    fingerprint: textOf(row['target_fingerprint']),
    group: textOf(row['target_group']),
  };
}

function stampOf(row: Row): Stamp | null {
  if (row['stamp_fingerprint'] === null) return null;
  return {
    priority: row['stamp_priority'] as number | null,
    interruptionPenaltyDollars: row['stamp_interruption'] as number,
    reclamationPenaltyDollars: row['stamp_reclamation'] as number,
    fingerprint: textOf(row['stamp_fingerprint']),
    group: textOf(row['stamp_group']),
  };
}

function quarantineOf(row: Row): MachineFacts['quarantine'] {
  if (row['quarantined_by'] === null) return null;
  return {
    by: textOf(row['quarantined_by']),
    why: textOf(row['quarantined_why']),
    sinceMs: row['quarantined_since_ms'] as number,
  };
}

function freezeOf(row: Row): Freeze {
  return {
    id: textOf(row['id']),
    cluster: row['cluster'] === null ? null : textOf(row['cluster']),
    action: row['action'] as ActionKind | null,
    who: textOf(row['who']),
    why: textOf(row['why']),
    sinceMs: row['since_ms'] as number,
  };
}

function blobOf(text: string | null | undefined): Buffer | null {
  return text === null || text === undefined ? null : Buffer.from(text);
}

function textOf(blob: unknown): string {
  return Buffer.from(blob as Uint8Array).toString();
}
