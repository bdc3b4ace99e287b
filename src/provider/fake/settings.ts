// Settings of the fake cloud, all of which can be changed while it runs. cloud.ts reads them and passes parts on to
// market.ts and fate.ts; faulty-calls.ts reads `transport`. The presets, the command line and the control port use the
// same names; settings-patch.ts has the bounds of each number.

import { PRESETS } from './presets.ts';

/** A duration with a long tail: the median in ms, and the spread of a log-normal distribution (0: always the median). */
export interface Latency {
  readonly medianMs: number;
  readonly spread: number;
}

/** All settings of a fake cloud. */
export interface FakeSettings {
  /** Duration of a transition: drawn from the latency of its kind, times the factor of the capacity type. */
  readonly latency: {
    readonly create: Latency;
    readonly configure: Latency;
    /** Time for the pods to leave; capped by the grace period. */
    readonly drain: Latency;
    readonly delete: Latency;
    readonly factor: {
      readonly bareMetal: number;
      readonly reserved: number;
      readonly onDemand: number;
      readonly spot: number;
    };
  };
  /** Outcomes of transitions, as probabilities per transition unless noted. */
  readonly operations: {
    /** Per attempt: the attempt fails. The backend retries up to three times; then the machine is Failed. */
    readonly transientError: number;
    /** The transition fails without a retry. */
    readonly permanentError: number;
    /** Takes `slowFactor` times as long and ignores its abort signal; after a timeout the kit drops the result. */
    readonly slow: number;
    readonly slowFactor: number;
    /** The transition ends only when its signal aborts. */
    readonly hang: number;
    /** Configure only: the host has its blob, but the node never becomes Ready. */
    readonly neverReady: number;
  };
  /** Drift of spot prices and interruption rates; those of other capacity types are constant. */
  readonly market: {
    /** Largest deviation of a price from its base, as a fraction of the base. */
    readonly priceSwing: number;
    /** Largest deviation of an interruption probability from its base, as a fraction of the base. */
    readonly rateSwing: number;
    /** Interval between two moves of one offering in one zone. */
    readonly stepMs: number;
    /** Interval at which the provider polls the market; if anything moved, it describes every machine again. */
    readonly refreshMs: number;
  };
  /** An offering is out of stock in a zone with probability `outChance`, for `outMs` at a time. */
  readonly stock: {
    readonly outChance: number;
    readonly outMs: number;
  };
  /** Most hosts at a time, by `OFFERING` (in each zone) or `OFFERING/ZONE`; offerings without an entry have no limit. */
  readonly quotas: Readonly<Record<string, number>>;
  /** Hosts lost without a call. */
  readonly losses: {
    /** Multiplier on the interruption rate that a spot offering declares. */
    readonly interruptionFactor: number;
    /** Probability per hour that a host of any capacity type dies. */
    readonly deathsPerHour: number;
    /** Delay until a Failed machine is a quota slot again, or repaired if its host is owned. 0: never. */
    readonly cleanupMs: number;
    /** Interval between two draws of losses. */
    readonly tickMs: number;
  };
  /** Faults between caller and provider, as probabilities per call unless the name has another unit. */
  readonly transport: {
    /** Median delay of every call, log-normally distributed. */
    readonly delayMs: number;
    /** UNAVAILABLE; the call did not reach the provider. */
    readonly unavailable: number;
    /** UNAVAILABLE; the provider ran the call, and its answer was lost. */
    readonly lostReply: number;
    /** The provider receives the call twice; the caller receives the first answer. */
    readonly duplicate: number;
    /** The call is delayed by up to `reorderMs`, so that later calls overtake it. */
    readonly reorder: number;
    readonly reorderMs: number;
    /** The answer is delayed by a log-normal time with median `slowMs`. */
    readonly slow: number;
    readonly slowMs: number;
    /** No answer for `hangMs`, then UNAVAILABLE; the provider ran half of such calls. */
    readonly hang: number;
    readonly hangMs: number;
    /** RESOURCE_EXHAUSTED; the call did not reach the provider. */
    readonly throttle: number;
    /** Calls above this rate get RESOURCE_EXHAUSTED; 0: no limit. */
    readonly callsPerSecond: number;
    /** List only: records are missing, and the revision says that the list is complete. */
    readonly partialList: number;
  };
}

type DeepPartial<T> = { readonly [K in keyof T]?: T[K] extends object ? DeepPartial<T[K]> : T[K] };
/** Some of the settings; the others keep their values. null removes a quota. */
export type SettingsPatch = DeepPartial<Omit<FakeSettings, 'quotas'>> & {
  readonly quotas?: Readonly<Record<string, number | null>>;
};

/** The presets: without failures, like a real cloud on an ordinary day, and like one on its worst. */
export const PRESET_NAMES = ['calm', 'realistic', 'hostile'] as const;
/** One of `PRESET_NAMES`. */
export type PresetName = (typeof PRESET_NAMES)[number];

/** The settings of a preset. */
export function presetSettings(name: PresetName): FakeSettings {
  return PRESETS[name];
}
