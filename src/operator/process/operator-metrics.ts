// What the operator counts and times, with the names of the reference where it has them. The process writes the ones of
// the session by field; other parts count by name, which makes a family on first use, so that a part needs no change here
// to count something. docs/reference/metrics.md lists them. Exposed by http.ts.

import {
  type Counter,
  type Distribution,
  type Gauge,
  type Labelled,
  type LabelSets,
  Registry,
} from '../../runtime/metrics-registry.ts';

/** Seconds: a roll-up takes milliseconds, an acknowledgement by a slow shard some seconds. */
const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

/** Seconds: a write to the API server, up to the minutes of one that is repeated until the server answers. */
const WRITE_SECONDS = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300];

/** Families that other parts may make. */
const MAX_FAMILIES = 100;
/** Values of one label of such a family. */
const MAX_VALUES = 50;

type LabelTexts = Readonly<Record<string, string>>;

const BOOTSTRAP_OUTCOMES = ['answered', 'refused', 'unanswered'] as const;

export class OperatorMetrics {
  readonly #registry = new Registry();
  readonly #counters: OpenFamilies<Labelled<Counter, LabelSets>> = new Map();
  readonly #gauges: OpenFamilies<Labelled<Gauge, LabelSets>> = new Map();
  readonly #histograms: OpenFamilies<Labelled<Distribution, LabelSets>> = new Map();
  readonly #beforeScrape: (() => void)[] = [];

  readonly rollupSeconds = this.#registry.histogram(
    'bigfleet_operator_rollup_duration_seconds',
    'How long a roll-up took to build and send.',
    SECONDS,
  );
  readonly rollupPhaseSeconds = this.#registry.histograms(
    'bigfleet_operator_rollup_phase_duration_seconds',
    'How long a phase of a roll-up took.',
    SECONDS,
    { phase: ['list', 'build', 'enqueue'] },
  );
  readonly rollupAckSeconds = this.#registry.histogram(
    'bigfleet_operator_rollup_ack_seconds',
    'Time from sending a roll-up to its acknowledgement.',
    SECONDS,
  );
  readonly acknowledgeSeconds = this.#registry.histogram(
    'bigfleet_operator_acknowledge_duration_seconds',
    'Time from the acknowledgement of a roll-up to the status of a CapacityRequest that is new in it.',
    WRITE_SECONDS,
  );
  readonly rollups = this.#registry.counters(
    'bigfleet_operator_rollups_total',
    'Roll-ups by what became of them.',
    {
      outcome: ['sent', 'acknowledged', 'accepted', 'held', 'refused'],
    },
  );
  readonly rollupRows = this.#registry.gauge('bigfleet_operator_rollup_rows', 'Rows of the last roll-up.');
  readonly rollupBytes = this.#registry.gauge('bigfleet_operator_rollup_bytes', 'Bytes of the last roll-up.');
  readonly isConnected = this.#registry.gauge(
    'bigfleet_operator_session_connected',
    '1 while the shard has accepted the session.',
  );
  readonly reconnects = this.#registry.counter(
    'bigfleet_operator_session_reconnects_total',
    'Connections to the shard that were lost or could not be made.',
  );
  readonly problems = this.#registry.counter(
    'bigfleet_operator_session_problems_total',
    'Messages that could not be built, sent or handled.',
  );
  readonly replies = this.#registry.gauge(
    'bigfleet_operator_replies_waiting',
    'Replies that wait for the connection. Long above 0: the shard does not read.',
  );
  readonly bootstraps = this.#registry.counters(
    'bigfleet_operator_bootstrap_requests_total',
    'Bootstrap requests: answered, refused with an error, or without an answer because the API server failed.',
    { outcome: BOOTSTRAP_OUTCOMES },
  );
  readonly dispatchInFlight = this.#registry.gauge(
    'bigfleet_operator_dispatch_inflight',
    'Bootstrap requests and writes for messages of the shard that wait or are in flight.',
  );
  readonly tokens = this.#registry.gauge(
    'bigfleet_operator_bootstrap_tokens',
    'Bootstrap tokens that are outstanding.',
  );
  readonly isLeader = this.#registry.gauge('bigfleet_operator_leader', '1 while this replica leads.');
  readonly watches = this.#registry.gauges(
    'bigfleet_operator_watch_current',
    '1 while the objects of a resource are known completely; 0 while the last demand is repeated because of it.',
    { resource: { atMost: 20 } },
  );

  /** Counts an event of another part, by full name. */
  count(name: string, labels: LabelTexts = {}, by = 1): void {
    const open = openFamily(this.#counters, name, labels, (help, sets) =>
      this.#registry.counters(name, help, sets),
    );
    open?.family.of(open.labels).add(by);
  }

  /** Sets a value of another part, by full name. */
  gauge(name: string, value: number, labels: LabelTexts = {}): void {
    const open = openFamily(this.#gauges, name, labels, (help, sets) =>
      this.#registry.gauges(name, help, sets),
    );
    open?.family.of(open.labels).set(value);
  }

  /** Adds a duration of another part, by full name. */
  observe(name: string, seconds: number, labels: LabelTexts = {}): void {
    const open = openFamily(this.#histograms, name, labels, (help, sets) =>
      this.#registry.histograms(name, help, SECONDS, sets),
    );
    open?.family.of(open.labels).observe(seconds);
  }

  /** `update` sets gauges that are kept elsewhere. */
  onScrape(update: () => void): void {
    this.#beforeScrape.push(update);
  }

  text(): string {
    for (const update of this.#beforeScrape) update();
    return this.#registry.text();
  }
}

/** A family that another part has made by its first use. */
interface OpenFamily<F> {
  readonly family: F;
  readonly names: readonly string[];
}

type OpenFamilies<F> = Map<string, OpenFamily<F> | null>;

/**
 * The family and the labels for it. Null beyond the maximum number of families, and for a name that is taken: a part that
 * counts must never fail because of it. Labels that the first use did not have are left out, missing ones are empty.
 */
function openFamily<F>(
  families: OpenFamilies<F>,
  name: string,
  labels: LabelTexts,
  make: (help: string, sets: LabelSets) => F,
): { readonly family: F; readonly labels: LabelTexts } | null {
  let open = families.get(name);
  if (open === undefined) {
    if (families.size >= MAX_FAMILIES) return null;
    open = madeFamily(labels, make);
    families.set(name, open);
  }
  if (open === null) return null;
  const { family, names } = open;
  return { family, labels: Object.fromEntries(names.map((each) => [each, labels[each] ?? ''])) };
}

function madeFamily<F>(labels: LabelTexts, make: (help: string, sets: LabelSets) => F): OpenFamily<F> | null {
  const names = Object.keys(labels);
  const sets = Object.fromEntries(names.map((each) => [each, { atMost: MAX_VALUES }]));
  try {
    return { family: make('See docs/reference/metrics.md.', sets), names };
  } catch {
    // Another kind of metric has this name.
    return null;
  }
}
