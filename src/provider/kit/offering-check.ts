// Validates a backend's description before a shard can read it; provider.ts calls it at the start and at every refresh.
// Every shard would drop an invalid record by itself, far from the cause; here the description is rejected with all its
// problems at once, and the last valid inventory stays.

import {
  BigFleetError,
  CapacityType,
  type ErrorCode,
  excerpt,
  type HostRef,
  isCapacityType,
  MAX_UNITS,
  MachineState,
  machineProblems,
  type Problem,
  type ResourceVector,
} from '../../model/index.ts';
import type { Offering } from '../backend.ts';

/** Labels that repeat a field of the record. Readers use the field, so a label that differs would mislead. */
const FIELD_LABELS: ReadonlySet<string> = new Set([
  'instance-type',
  'instance_type',
  'instanceType',
  'zone',
  'availability-zone',
  'availability_zone',
  'capacity-type',
  'capacity_type',
  'capacityType',
]);

/** Problems shown in the message of the error; the rest are counted, and all are in `problems`. */
const SHOWN_PROBLEMS = 20;

/** Checks a description in parts: half a million offerings at once would block the event loop. */
export class OfferingCheck {
  readonly problems: Problem[] = [];
  readonly #offerings: readonly Offering[];
  readonly #isZoned: boolean;
  readonly #seen = new Set<string>();

  /** `requireZone` requires a zone even if only one is in use. */
  constructor(offerings: readonly Offering[], requireZone: boolean) {
    this.#offerings = offerings;
    this.#isZoned = requireZone || offerings.some(({ zone }) => zone !== offerings[0]!.zone);
  }

  /** Checks the offerings `from` to `to` (exclusive); call it once per offering. */
  check(from: number, to: number): void {
    for (let i = from; i < Math.min(to, this.#offerings.length); i++) this.#checkOne(this.#offerings[i]!, i);
  }

  #checkOne(offering: Offering, place: number): void {
    const report = (code: ErrorCode, field: string, message: string): void => {
      this.problems.push({ code, path: `offerings[${place}](${excerpt(offering.id)}).${field}`, message });
    };
    for (const { code, path, message } of machineProblems(asMachine(offering))) report(code, path, message);
    if (this.#seen.has(offering.id)) report('BF_OFFERING_DUPLICATE', 'id', 'Another offering has this id.');
    this.#seen.add(offering.id);
    if (offering.instanceType === '')
      report('BF_OFFERING_TYPE', 'instanceType', 'There is no instance type.');
    if (offering.zone === '' && this.#isZoned) report('BF_OFFERING_ZONE', 'zone', 'There is no zone.');
    checkCapacity(offering, report);
    if (offering.host !== null && !isHost(offering.host)) {
      report('BF_MACHINE_HOST_MISSING', 'host', 'The host needs a provider and a ref.');
    }
    checkAmounts(offering.resources, 'resources', report);
    checkAmounts(offering.allocatable, 'allocatable', report);
    for (const key of offering.labels.keys()) {
      if (FIELD_LABELS.has(key))
        report('BF_OFFERING_LABEL', 'labels', `The label "${excerpt(key)}" repeats a field.`);
    }
  }
}

/** Readers require both names of a host. */
export function isHost(host: HostRef): boolean {
  return host.provider !== '' && host.ref !== '';
}

type Report = (code: ErrorCode, field: string, message: string) => void;

function checkCapacity({ capacityType, interruptionProbability }: Offering, report: Report): void {
  if (!isCapacityType(capacityType) || capacityType === CapacityType.Unspecified) {
    report(
      'BF_MACHINE_CAPACITY_TYPE_UNKNOWN',
      'capacityType',
      `The capacity type is ${Number(capacityType)}.`,
    );
  }
  if (capacityType === CapacityType.Spot && interruptionProbability === 0) {
    report('BF_MACHINE_PROBABILITY', 'interruptionProbability', 'Spot capacity can always be interrupted.');
  }
}

function checkAmounts(amounts: ResourceVector, field: string, report: Report): void {
  for (const [name, units] of amounts) {
    if (name === '') report('BF_RESOURCE_NAME', field, 'A resource has no name.');
    if (Number.isInteger(units) && units >= 0 && units <= MAX_UNITS) continue;
    const where = `${field}["${excerpt(name)}"]`;
    if (units < 0) report('BF_QUANTITY_NEGATIVE', where, `The amount is ${units}.`);
    else if (!Number.isInteger(units)) report('BF_QUANTITY_SYNTAX', where, `${units} is not a whole number.`);
    else report('BF_QUANTITY_OVERFLOW', where, `The amount is ${units}.`);
  }
}

function asMachine(offering: Offering) {
  const state = offering.host === null ? MachineState.Speculative : MachineState.Idle;
  return { ...offering, state, cluster: '', lastError: '', stamp: null, target: null };
}

/** The description was rejected as a whole. */
export class OfferingsError extends BigFleetError {
  override readonly problems: readonly Problem[];

  constructor(problems: readonly Problem[]) {
    const shown = problems
      .slice(0, SHOWN_PROBLEMS)
      .map(({ code, path, message }) => `\n  ${code} at ${path}: ${message}`);
    const more = problems.length > SHOWN_PROBLEMS ? `\n  and ${problems.length - SHOWN_PROBLEMS} more` : '';
    super('BF_OFFERINGS_INVALID', `${problems.length} problems.${shown.join('')}${more}\n`);
    this.name = 'OfferingsError';
    this.problems = problems;
  }
}
