// The floor: the time to read every hot machine and Need column once, in the same process and on the same memory. No
// cycle that reads everything can be faster, so `bench engine`, `bench ladder` and the gate report a cycle as a
// multiple of it. The loop of parallel-loop.ts reads the same columns.

import type { Fleet } from '../src/fleet/index.ts';
import { type Quantiles, quantilesOf } from './quantiles.ts';

type Column = Uint8Array | Uint16Array | Uint32Array | Int32Array | Float64Array;

/** A column, and how many of its entries are in use. */
export interface UsedColumn {
  readonly column: Column;
  readonly used: number;
}

/** All columns of the two ledgers, found by their type. */
export function ledgerColumns(fleet: Fleet): readonly UsedColumn[] {
  const columns: UsedColumn[] = [];
  for (const ledger of [fleet.machines, fleet.demand]) {
    for (const value of Object.values(ledger) as unknown[]) {
      if (isColumn(value)) columns.push({ column: value, used: Math.min(value.length, ledger.size) });
      else if (isVectorColumn(value)) {
        columns.push({
          column: value.data,
          used: Math.min(value.data.length, ledger.size * fleet.dimensions.stride),
        });
      }
    }
  }
  return columns;
}

function isColumn(value: unknown): value is Column {
  return ArrayBuffer.isView(value) && !(value instanceof DataView);
}

function isVectorColumn(value: unknown): value is { readonly data: Float64Array } {
  return typeof value === 'object' && value !== null && 'data' in value && value.data instanceof Float64Array;
}

/** Lets the JIT compiler optimise the loops before anything is timed. */
const WARM_UP_MS = 100;

export function floorOf(fleet: Fleet, rounds: number): Quantiles {
  const columns = ledgerColumns(fleet);
  const onePass = (): void => passOver(columns, 1);
  const started = performance.now();
  do onePass();
  while (performance.now() - started < WARM_UP_MS);
  const durations: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const start = performance.now();
    onePass();
    durations.push(performance.now() - start);
  }
  return quantilesOf(durations);
}

/** Reads all columns `times` times. */
export function passOver(columns: readonly UsedColumn[], times: number): void {
  let seen = 0;
  for (let i = 0; i < times; i++) for (const { column, used } of columns) seen ^= pass(column, used);
  // The result is read, so that the compiler does not eliminate a pass.
  if (Number.isNaN(seen)) throw new Error('unreachable');
}

// One loop per element type: a polymorphic loop is many times slower.
function pass(column: Column, used: number): number {
  if (column instanceof Uint8Array) return passUint8(column, used);
  if (column instanceof Uint16Array) return passUint16(column, used);
  if (column instanceof Uint32Array) return passUint32(column, used);
  if (column instanceof Int32Array) return passInt32(column, used);
  return passFloat64(column, used);
}

function passUint8(column: Uint8Array, used: number): number {
  let seen = 0;
  for (let i = 0; i < used; i++) seen ^= column[i]!;
  return seen;
}

function passUint16(column: Uint16Array, used: number): number {
  let seen = 0;
  for (let i = 0; i < used; i++) seen ^= column[i]!;
  return seen;
}

function passUint32(column: Uint32Array, used: number): number {
  let seen = 0;
  for (let i = 0; i < used; i++) seen ^= column[i]!;
  return seen;
}

function passInt32(column: Int32Array, used: number): number {
  let seen = 0;
  for (let i = 0; i < used; i++) seen ^= column[i]!;
  return seen;
}

// Four independent sums: a single one would be bound by the latency of additions instead of by memory.
function passFloat64(column: Float64Array, used: number): number {
  let a = 0;
  let b = 0;
  let c = 0;
  let d = 0;
  const whole = used - (used % 4);
  for (let i = 0; i < whole; i += 4) {
    a += column[i]!;
    b += column[i + 1]!;
    c += column[i + 2]!;
    d += column[i + 3]!;
  }
  for (let i = whole; i < used; i++) a += column[i]!;
  return a + b + c + d > 0 ? 1 : 0;
}
