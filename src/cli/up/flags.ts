// Flags of `bigfleet up` and their defaults.

import { join } from 'node:path';
import type { DemoEnvironmentSize } from '../../demo/index.ts';

export interface UpFlags {
  readonly clusters?: number;
  readonly machines?: number;
  readonly seed?: number;
  readonly speed: number;
  readonly port: number;
  readonly dir: string;
  readonly fresh: boolean;
  readonly output: 'text' | 'json';
  readonly plain: boolean;
  /** Dollars per hour by instance type or kind of capacity. */
  readonly ownedPrice?: ReadonlyMap<string, number>;
}

export const STANDARD_DIR = join('.bigfleet', 'up');
export const STANDARD: DemoEnvironmentSize = { clusters: 6, machines: 400, seed: 1 };
export const FIRST_PORT = 7777;
/** Ports that are tried from the first one on. */
export const PORTS = 100;
export const MAX_PORT = 65_535;
