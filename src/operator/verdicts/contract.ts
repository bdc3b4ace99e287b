// What verdicts/ read of open episodes, apart from them. episodes/ implements it.

import type { RowKey } from '../demand/contract.ts';

/** An open episode of stuck pods, for the ConfigMap of verdicts. */
export interface EpisodeView {
  readonly row: RowKey;
  readonly group: string;
  readonly since: string;
  readonly pods: number;
  readonly machines: readonly string[];
}
