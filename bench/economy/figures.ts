// The figures of `bench economy`, as its JSON has them. Costs are dollars an hour; a multiple is a cost over the lower bound.

/** A cost and how it compares. */
export interface Cost {
  readonly dollarsPerHour: number;
  readonly multiple: number;
  /** By class of cluster size; owned machines are charged their rent there (lower-bound.ts). */
  readonly multipleBySize: Readonly<Record<string, number>>;
  /** Machines in clusters. */
  readonly machines: number;
}

export interface ColdFigures extends Cost {
  /** Cycles until the plan was empty. */
  readonly cycles: number;
  readonly unmetRows: number;
}

export interface EndToEndFigures extends Cost {
  readonly cycles: number;
  /** Whether the last cycles changed nothing. */
  readonly isQuiet: boolean;
  /** Before any episode: pods that the scheduler could not place although every row was met. */
  readonly pendingAtFirst: number;
  readonly pendingAtEnd: number;
  readonly episodesOpened: number;
  readonly episodesOpen: number;
}

/** A run at one of the lengths in the parameters. */
export interface NoiseSpan {
  readonly cycles: number;
  readonly inUseDrains: number;
  /** Of these, in the cluster in the middle by size. */
  readonly inMedianCluster: number;
  readonly meanMultiple: number;
}

export interface NoiseFigures {
  readonly spans: readonly NoiseSpan[];
  readonly inUseDrainsBySize: Readonly<Record<string, number>>;
  /** Every twentieth cycle. */
  readonly series: readonly NoisePoint[];
}

export interface NoisePoint {
  readonly cycle: number;
  readonly multiple: number;
  /** Since the beginning. */
  readonly inUseDrains: number;
  readonly pendingPods: number;
}

export interface ConsolidationFigures {
  /** Of a fleet bought under the first policy, at the beginning and at the end. */
  readonly before: number;
  readonly after: number;
  /** Of a fleet bought under the policy itself. */
  readonly fresh: number;
  readonly afterOverFresh: number;
  readonly cycles: number;
  readonly isQuiet: boolean;
  /** Dollars an hour after each cycle, without repetitions at the end. */
  readonly series: readonly number[];
}

export interface PolicyFigures {
  readonly cold?: ColdFigures;
  readonly largeShapes?: ColdFigures;
  readonly endToEnd?: EndToEndFigures;
  /** Without the limit of open episodes, so that every pod runs in the end. */
  readonly endToEndUnlimited?: EndToEndFigures;
  readonly noise?: NoiseFigures;
  readonly consolidation?: ConsolidationFigures;
}

export interface SeedFigures {
  readonly seed: number;
  readonly demand: {
    readonly clusters: number;
    readonly rows: number;
    readonly pods: number;
    readonly cores: number;
    readonly memoryGiB: number;
    readonly gpus: number;
    readonly offerings: number;
    readonly ownedMachines: number;
    readonly clustersBySize: Readonly<Record<string, number>>;
  };
  /** Dollars an hour, with all shapes and without small ones. */
  readonly lowerBound: { readonly all: number; readonly large: number };
  readonly packer: { readonly all: Cost; readonly large: Cost };
  readonly policies: Readonly<Record<string, PolicyFigures>>;
}

export interface EconomyResult {
  readonly profile: string;
  readonly seeds: readonly SeedFigures[];
}

export function rounded(value: number, digits = 3): number {
  return Number(value.toFixed(digits));
}
