// Keeps one AvailableCapacity object per profile that the shard publishes capacity for, and the published prices, by which
// the translation of pods chooses between affinity terms. The shard sends a profile only when its figures change, so
// silence says nothing: a profile goes when a new session does not repeat it, or when the cluster no longer demands it.

import { createHash } from 'node:crypto';
import type { Clock } from '../../runtime/clock.ts';
import {
  type NodeSelectorRequirement,
  NodeSelectorRequirement_Operator,
} from '../../wire/gen/bigfleet/v1alpha1/capacity.ts';
import {
  type AvailableCapacityUpdate,
  AvailableCapacityUpdate_Confidence,
} from '../../wire/gen/bigfleet/v1alpha1/shard.ts';
import { type KubeClient, KubeError } from '../kube/client.ts';
import type { KubeObject } from '../kube/objects.ts';
import { FIELD_MANAGER } from '../kube/writes.ts';
import type { OperatorLog, OperatorMetrics } from './contract.ts';
import type { KeyedWrites } from './keyed-writes.ts';
import { AVAILABLE_CAPACITIES, BIGFLEET_API, listAll } from './paths.ts';

/** Published profiles; more rows than a roll-up of the target size has. */
const MAX_PROFILES = 10_000;
/** A session repeats its profiles within a few cycles of 10 s. */
const REPEAT_WITHIN_MS = 2 * 60_000;
/** A profile without demand is kept for this time, since rows come and go with their pods. */
const UNDEMANDED_MS = 5 * 60_000;
/** Written by this operator; objects of other writers are not removed. */
const KEY_ANNOTATION = 'bigfleet.lucy.sh/supersedes-key';

const AVAILABILITY: Readonly<Record<number, string>> = {
  [AvailableCapacityUpdate_Confidence.CONFIDENCE_LOW]: 'Low',
  [AvailableCapacityUpdate_Confidence.CONFIDENCE_MEDIUM]: 'Medium',
  [AvailableCapacityUpdate_Confidence.CONFIDENCE_HIGH]: 'High',
};

const OPERATORS: Readonly<Record<number, string>> = {
  [NodeSelectorRequirement_Operator.OPERATOR_IN]: 'In',
  [NodeSelectorRequirement_Operator.OPERATOR_NOT_IN]: 'NotIn',
  [NodeSelectorRequirement_Operator.OPERATOR_EXISTS]: 'Exists',
  [NodeSelectorRequirement_Operator.OPERATOR_DOES_NOT_EXIST]: 'DoesNotExist',
};

export interface PublishedCapacity {
  /** US dollars per hour of the cheapest machine. */
  readonly costPerHour: number;
  readonly availableCount: number;
}

interface Profile {
  update: AvailableCapacityUpdate;
  /** Session that sent the latest update. */
  session: number;
  demandedMs: number;
  requirementsKey: string;
}

export interface AvailableCapacitiesDeps {
  readonly kube: KubeClient;
  readonly clock: Clock;
  readonly writes: KeyedWrites;
  readonly log: OperatorLog;
  readonly metrics: OperatorMetrics;
  /** Whether a row of the roll-up has this profile; null if that is not known, as with a shard without verdicts. */
  readonly isDemanded?: (fingerprint: string) => boolean | null;
}

export class AvailableCapacities {
  readonly #deps: AvailableCapacitiesDeps;
  readonly #profiles = new Map<string, Profile>();
  readonly #byRequirements = new Map<string, string>();
  /** Spec that the API server has, by name of the object. */
  readonly #stored = new Map<string, string>();
  #session = 0;
  #cancel: (() => void) | null = null;

  constructor(deps: AvailableCapacitiesDeps) {
    this.#deps = deps;
  }

  async load(): Promise<void> {
    for (const object of await listAll<KubeObject & { readonly spec?: unknown }>(
      this.#deps.kube,
      AVAILABLE_CAPACITIES,
    )) {
      if (/^ac-[0-9a-f]{32}$/.test(object.metadata.name))
        this.#stored.set(object.metadata.name, canonical(object.spec));
    }
  }

  /** The capacity published for exactly these requirements, in any order. */
  published(requirements: readonly NodeSelectorRequirement[]): PublishedCapacity | null {
    const key = this.#byRequirements.get(requirementsKey(requirements));
    const profile = key === undefined ? undefined : this.#profiles.get(key);
    if (profile === undefined) return null;
    const { costPerHour, availableCount } = profile.update;
    return { costPerHour: cost(costPerHour), availableCount };
  }

  apply(update: AvailableCapacityUpdate): void {
    const key = update.supersedesKey;
    const known = this.#profiles.get(key);
    if (key === '' || (known === undefined && this.#profiles.size >= MAX_PROFILES)) {
      this.#deps.metrics.count('bigfleet_operator_available_capacity_ignored_total');
      return;
    }
    const requirements = requirementsKey(update.requirements);
    if (known !== undefined && known.requirementsKey !== requirements)
      this.#byRequirements.delete(known.requirementsKey);
    this.#profiles.set(key, {
      update,
      session: this.#session,
      demandedMs: this.#deps.clock.now(),
      requirementsKey: requirements,
    });
    this.#byRequirements.set(requirements, key);
    this.#write(key);
  }

  connected(): void {
    this.#session++;
    this.#cancel?.();
    this.#cancel = this.#deps.clock.after(REPEAT_WITHIN_MS, () => this.#endRepeats());
  }

  disconnected(): void {
    this.#cancel?.();
    this.#cancel = null;
  }

  /** Removes profiles that no row demands. Called once a minute or so. */
  sweep(): void {
    const { clock, isDemanded } = this.#deps;
    const now = clock.now();
    for (const [key, profile] of [...this.#profiles]) {
      const demanded = isDemanded?.(key.replace(/^available:/, '')) ?? null;
      if (demanded !== false) profile.demandedMs = now;
      else if (now - profile.demandedMs >= UNDEMANDED_MS) this.#drop(key);
    }
  }

  #endRepeats(): void {
    this.#cancel = null;
    for (const [key, profile] of [...this.#profiles]) if (profile.session < this.#session) this.#drop(key);
    const wanted = new Set([...this.#profiles.keys()].map(availableCapacityName));
    for (const name of [...this.#stored.keys()]) if (!wanted.has(name)) this.#remove(name);
  }

  #drop(key: string): void {
    const profile = this.#profiles.get(key)!;
    this.#profiles.delete(key);
    if (this.#byRequirements.get(profile.requirementsKey) === key)
      this.#byRequirements.delete(profile.requirementsKey);
    this.#remove(availableCapacityName(key));
  }

  #write(key: string): void {
    const name = availableCapacityName(key);
    const profile = this.#profiles.get(key)!;
    if (this.#stored.get(name) === canonical(specOf(profile.update))) return;
    this.#deps.writes.submit(`ac/${name}`, () => this.#sync(key, name));
  }

  #remove(name: string): void {
    if (this.#stored.has(name)) this.#deps.writes.submit(`ac/${name}`, () => this.#delete(name));
  }

  async #sync(key: string, name: string): Promise<void> {
    const profile = this.#profiles.get(key);
    if (profile === undefined) return await this.#delete(name);
    const spec = specOf(profile.update);
    const body = {
      apiVersion: BIGFLEET_API,
      kind: 'AvailableCapacity',
      metadata: { name, annotations: { [KEY_ANNOTATION]: key.slice(0, 400) } },
      spec,
    };
    await this.#deps.kube.patch(`${AVAILABLE_CAPACITIES}/${name}`, 'apply', body, {
      fieldManager: FIELD_MANAGER,
      force: true,
    });
    this.#stored.set(name, canonical(spec));
  }

  async #delete(name: string): Promise<void> {
    try {
      await this.#deps.kube.delete(`${AVAILABLE_CAPACITIES}/${name}`);
    } catch (error) {
      if (!(error instanceof KubeError && error.isNotFound)) throw error;
    }
    this.#stored.delete(name);
  }
}

/** `ac-` and the first 32 hex digits of the SHA-256 of the whole key, as the reference has it. */
export function availableCapacityName(supersedesKey: string): string {
  return `ac-${createHash('sha256').update(supersedesKey).digest('hex').slice(0, 32)}`;
}

function specOf(update: AvailableCapacityUpdate): object {
  return {
    // Same exists on the wire only, and an operator of a newer shard is not known here.
    requirements: update.requirements.flatMap(({ key, operator, values }) => {
      const word = OPERATORS[operator];
      if (word === undefined) return [];
      return [values.length === 0 ? { key, operator: word } : { key, operator: word, values: [...values] }];
    }),
    resources: Object.fromEntries(
      [...(update.resources?.resources ?? [])].sort(([a], [b]) => (a < b ? -1 : 1)),
    ),
    availableCount: update.availableCount,
    availability: AVAILABILITY[update.confidence] ?? 'None',
    cost: costText(update.costPerHour),
  };
}

/** Dollars as a quantity: at most six digits after the point, never in the exponent form of a double. */
export function costText(dollars: number): string {
  const text = cost(dollars).toFixed(6);
  return text.replace(/\.?0+$/, '');
}

function cost(dollars: number): number {
  return Number.isFinite(dollars) && dollars > 0 ? Math.min(dollars, 1e12) : 0;
}

function requirementsKey(requirements: readonly NodeSelectorRequirement[]): string {
  const terms = requirements.map(({ key, operator, values }) =>
    JSON.stringify([key, operator, [...values].sort()]),
  );
  return terms.sort().join('\n');
}

/** Equal for equal specs, whatever the order of their keys. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_, part: unknown) =>
    part !== null && typeof part === 'object' && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)))
      : part,
  );
}
