// From a shape to the profiles of its rows: the conditions on machines (node selector, node affinity, volumes, defaults,
// taints), co-location, spread, priority and penalties. Pure; what it reads of the cluster comes in as `ClusterFacts`.

import {
  BUCKET_UNSPECIFIED,
  excerpt,
  INSTANCE_TYPE_KEY,
  isLongerThan,
  makeProfile,
  NameLimits,
  Operator,
  type PenaltyBucket,
  type Profile,
  type Requirement,
  type Spread,
  WhenUnsatisfiable,
} from '../../model/index.ts';
import type { NodeSelectorTerm, PodAffinityTerm, TopologySpreadConstraint } from '../kube/objects.ts';
import { groupOf } from './co-location.ts';
import { HOSTNAME_KEY } from './keys.ts';
import {
  ANY_NODE,
  canonicalKey,
  intersect,
  merged,
  type NodeTerm,
  readTerm,
  requirementsOf,
  type SeenValues,
  without,
} from './node-terms.ts';
import { bucketOfQuantity } from './quantities.ts';
import type { TranslationSettings } from './settings.ts';
import type { Inexpressible, PodShape } from './shape.ts';
import { awayFromTaints } from './taints.ts';
import type { VolumeTerms } from './volumes.ts';

/** What a translation reads of the cluster. */
export interface ClusterFacts {
  readonly settings: TranslationSettings;
  readonly seenValues: SeenValues;
  /** Priority of pods whose spec has none, by the name of their class; null if the class is not known. */
  readonly priorityOfClass: (name: string | undefined) => number | null;
}

export interface Constraints {
  /** One profile for each alternative of the pod, in its order; one of them is the row that it counts for. */
  readonly profiles: readonly Profile[];
  /** Co-location group; '' for none. */
  readonly group: string;
  readonly remarks: readonly string[];
  /** Why the pod cannot be counted; null if it can. */
  readonly problem: string | null;
  /** Whether the result depends on the values of labels that were seen. */
  readonly dependsOnSeenValues: boolean;
}

/** Alternatives of one pod at most. */
const MAX_ALTERNATIVES = 16;
/** Terms that are read at all: merging compares each with each. */
const MAX_TERMS_READ = 64;
/** What a row of the wire may contain; the shard sets aside rows with more. */
const MAX_ROW_TERMS = 64;
const MAX_ROW_VALUES = 4096;

const MAX_INT32 = 2 ** 31 - 1;

const INEXPRESSIBLE: Readonly<Record<Inexpressible, string>> = {
  'anti-affinity':
    'Its required pod anti-affinity cannot be part of a row of demand; it is counted without it, so a further machine may be needed.',
  'host-port': 'Its host ports cannot be part of a row of demand; it is counted without them.',
  'resource-claim':
    'Its resource claims (DRA) cannot be part of a row of demand; it is counted without them.',
  'affinity-to-others':
    'Its required pod affinity is to other pods; it is counted as pods that share one value of the topology key with each other.',
};

/** The constraints of a shape whose pod uses volumes with these terms. Never throws. */
export function constraintsOf(
  shape: PodShape,
  volumes: readonly VolumeTerms[],
  facts: ClusterFacts,
): Constraints {
  try {
    const constraints = new Translation(shape, facts).run(volumes);
    if (constraints.problem === null || shape.isBound !== true) return constraints;
    // The pod runs: without it in a row, the machine below it would look unused.
    const { priority, priorityClassName } = shape;
    const rest = new Translation({ priority, priorityClassName, isBound: true }, facts).run([]);
    return { ...rest, remarks: [...constraints.remarks, constraints.problem] };
  } catch (error) {
    // Nothing of an object is validated before it arrives here.
    const problem = `Its spec cannot be read: ${excerpt(error instanceof Error ? error.message : String(error))}.`;
    return { profiles: [], group: '', remarks: [], problem, dependsOnSeenValues: false };
  }
}

class Translation {
  readonly #shape: PodShape;
  readonly #facts: ClusterFacts;
  readonly #remarks = new Set<string>();
  #problem: string | null = null;
  #dependsOnSeenValues = false;

  constructor(shape: PodShape, facts: ClusterFacts) {
    this.#shape = shape;
    this.#facts = facts;
  }

  run(volumes: readonly VolumeTerms[]): Constraints {
    for (const part of this.#shape.inexpressible ?? []) this.#remarks.add(INEXPRESSIBLE[part]);
    const terms = this.#alternatives(volumes);
    const { same, group } = this.#coLocation();
    const common = {
      spread: this.#spread(),
      priority: this.#priority(),
      interruptionBucket: this.#penalty('interruptionPenalty'),
      reclamationBucket: this.#penalty('reclamationPenalty'),
    };
    const profiles = terms.map((term) => {
      const requirements = [...requirementsOf(term), ...same];
      if (requirements.length === 0)
        requirements.push({ key: INSTANCE_TYPE_KEY, operator: Operator.Exists, values: [] });
      this.#checkSize(requirements, common.spread);
      return makeProfile({ requirements, ...common });
    });
    return {
      profiles,
      group,
      remarks: [...this.#remarks],
      problem: this.#problem,
      dependsOnSeenValues: this.#dependsOnSeenValues,
    };
  }

  #alternatives(volumes: readonly VolumeTerms[]): readonly NodeTerm[] {
    const { settings } = this.#facts;
    const { nodeSelector = {}, nodeTerms, tolerations = [], isBound } = this.#shape;
    const selected = this.#read(
      Object.entries(nodeSelector).map(([key, value]) => ({ key, operator: 'In', values: [value] })),
    );
    let terms: readonly NodeTerm[] = [selected];
    if (nodeTerms !== undefined) terms = this.#combined(terms, this.#affinityTerms(nodeTerms));
    for (const volume of volumes)
      terms = this.#combined(
        terms,
        volume.map((expressions) => this.#read(expressions.map(withoutField))),
      );
    if (isBound) terms = merged(terms.map((term) => without(term, HOSTNAME_KEY)));
    terms = terms.map((term) => this.#withDefaults(term));
    const away = awayFromTaints(terms, settings.taints, tolerations);
    for (const remark of away.remarks) this.#remarks.add(remark);
    return this.#atMost(away.terms);
  }

  #affinityTerms(terms: readonly NodeSelectorTerm[]): readonly NodeTerm[] {
    const read = terms.slice(0, MAX_TERMS_READ).flatMap(({ matchExpressions, matchFields }) => {
      const expressions = [...(matchExpressions ?? []), ...(matchFields ?? []).map(withoutField)];
      // A term without conditions selects nothing, unlike an empty label selector.
      return expressions.length === 0 ? [] : [this.#read(expressions)];
    });
    if (read.length === 0) this.#problem ??= 'Its required node affinity has no term that a node could meet.';
    if (terms.length > MAX_TERMS_READ) this.#remarks.add(tooMany(terms.length, MAX_TERMS_READ));
    return read;
  }

  #read(expressions: readonly { key: string; operator: string; values?: readonly string[] }[]): NodeTerm {
    if (expressions.length === 0) return ANY_NODE;
    if (expressions.some(({ operator }) => operator === 'Gt' || operator === 'Lt'))
      this.#dependsOnSeenValues = true;
    const { term, remarks, problem } = readTerm(expressions, this.#facts.seenValues);
    for (const remark of remarks) this.#remarks.add(remark);
    this.#problem ??= problem;
    if (term.has(HOSTNAME_KEY) && this.#shape.isBound !== true)
      this.#remarks.add('It requires a node by its name, and a new machine does not have that name.');
    return term;
  }

  #combined(terms: readonly NodeTerm[], others: readonly NodeTerm[]): readonly NodeTerm[] {
    return this.#atMost(merged(terms.flatMap((term) => others.map((other) => intersect(term, other)))));
  }

  #atMost(terms: readonly NodeTerm[]): readonly NodeTerm[] {
    if (terms.length <= MAX_ALTERNATIVES) return terms;
    this.#remarks.add(tooMany(terms.length, MAX_ALTERNATIVES));
    return terms.slice(0, MAX_ALTERNATIVES);
  }

  #withDefaults(term: NodeTerm): NodeTerm {
    const silent = this.#facts.settings.defaultRequirements.filter(({ key }) => !term.has(canonicalKey(key)));
    return silent.length === 0 ? term : intersect(term, readTerm(silent, this.#facts.seenValues).term);
  }

  #coLocation(): { readonly same: readonly Requirement[]; readonly group: string } {
    const nowhere = { same: [], group: '' };
    const [first, ...others]: readonly PodAffinityTerm[] = this.#shape.podAffinity ?? [];
    if (first === undefined) return nowhere;
    if (others.length > 0)
      this.#remarks.add('It has several terms of required pod affinity; only the first is part of its row.');
    const key = canonicalKey(first.topologyKey);
    if (key === HOSTNAME_KEY) {
      this.#remarks.add(
        'It must share a node with other pods, which a row of demand cannot express; it is counted without that.',
      );
      return nowhere;
    }
    return {
      same: [{ key, operator: Operator.Same, values: [] }],
      group: groupOf(first.topologyKey, first.labelSelector),
    };
  }

  #spread(): readonly Spread[] {
    const strict = (this.#shape.spread ?? []).filter(
      ({ whenUnsatisfiable }) => whenUnsatisfiable === 'DoNotSchedule',
    );
    return strict.flatMap((term): readonly Spread[] => {
      const topologyKey = canonicalKey(term.topologyKey);
      if (topologyKey === HOSTNAME_KEY) {
        this.#remarks.add(
          'Its spread over nodes is left to the scheduler, so a further machine may be needed.',
        );
        return [];
      }
      if ((term.minDomains ?? 1) > 1)
        this.#remarks.add('minDomains of its topology spread cannot be part of a row of demand.');
      return [{ topologyKey, maxSkew: skewOf(term), whenUnsatisfiable: WhenUnsatisfiable.DoNotSchedule }];
    });
  }

  #priority(): number {
    const { priority, priorityClassName } = this.#shape;
    if (Number.isInteger(priority)) return Math.max(-MAX_INT32 - 1, Math.min(MAX_INT32, priority!));
    const known = this.#facts.priorityOfClass(priorityClassName);
    if (known === null && priorityClassName !== undefined)
      this.#remarks.add(
        `Its priority class ${excerpt(priorityClassName, 64)} is not known; it has priority 0.`,
      );
    return known ?? 0;
  }

  #penalty(kind: 'interruptionPenalty' | 'reclamationPenalty'): PenaltyBucket {
    const { [kind]: stated, priorityClassName = '' } = this.#shape;
    const bucket = stated === undefined ? null : bucketOfQuantity(stated);
    if (bucket !== null) return bucket;
    if (stated !== undefined)
      this.#remarks.add(
        `Its ${kind === 'interruptionPenalty' ? 'interruption' : 'reclamation'} penalty "${excerpt(String(stated), 64)}" is not an amount of dollars and is ignored.`,
      );
    const { priorityClassDefaults } = this.#facts.settings;
    const defaults = Object.hasOwn(priorityClassDefaults, priorityClassName)
      ? priorityClassDefaults[priorityClassName]
      : undefined;
    const value = defaults?.[kind];
    return (value === undefined ? null : bucketOfQuantity(value)) ?? BUCKET_UNSPECIFIED;
  }

  #checkSize(requirements: readonly Requirement[], spread: readonly Spread[]): void {
    let values = 0;
    for (const requirement of requirements) {
      values += requirement.values.length;
      if (
        isLongerThan(requirement.key, NameLimits.key) ||
        requirement.values.some((value) => isLongerThan(value, NameLimits.value))
      )
        this.#problem ??= `A condition on ${excerpt(requirement.key, 64)} is longer than labels can be.`;
    }
    if (requirements.length + spread.length > MAX_ROW_TERMS || values > MAX_ROW_VALUES)
      this.#problem ??= `Its conditions on nodes are too many: at most ${MAX_ROW_TERMS} with ${MAX_ROW_VALUES} values together can be counted.`;
    if (spread.some(({ topologyKey }) => isLongerThan(topologyKey, NameLimits.spreadKey)))
      this.#problem ??= 'A topology key is longer than labels can be.';
  }
}

/** `metadata.name` is the only field that the API server accepts. */
function withoutField<T extends { readonly key: string }>(expression: T): T {
  return expression.key === 'metadata.name' ? { ...expression, key: HOSTNAME_KEY } : expression;
}

function skewOf({ maxSkew }: TopologySpreadConstraint): number {
  return Number.isInteger(maxSkew) ? Math.max(1, Math.min(MAX_INT32, maxSkew)) : 1;
}

function tooMany(found: number, limit: number): string {
  return `Its node affinity has ${found} alternatives; only the first ${limit} are considered.`;
}
