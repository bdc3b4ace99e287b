// A replica that is fed part by part answers as if the question were asked about the input of the decision.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { aMachine, aNeed, anInput, anyFleets } from '../../../testing/support/fleets.ts';
import { Fleet, PendingChanges } from '../../fleet/index.ts';
import { type DecisionInput, type LedgerMachine, MachineState, wholeRollup } from '../../model/index.ts';
import { requireValid } from '../../runtime/validation.ts';
import { parseScenario } from '../../scenario/scenario.ts';
import { scenarioPieces } from '../../scenario/scenario-write.ts';
import { type WhatIfAnswer, whatIfOn } from '../../whatif/index.ts';
import { WHAT_IF_REQUEST } from '../../whatif/request.ts';
import type { MachineLedger } from '../inventory/machine-ledger.ts';
import { needId } from '../planning/queries/need-names.ts';
import { ReplicaFeed } from '../planning/replica-feed.ts';
import { FleetReplica } from './fleet-replica.ts';

const REQUEST = requireValid(
  WHAT_IF_REQUEST,
  {
    changes: {
      without: [{ provider: 'fa*', zone: 'za' }],
      prices: [{ match: { capacityType: '*' }, times: 2 }],
      demand: [{ cluster: '*', times: 2 }],
    },
    limit: 200,
    settle: 2,
  },
  'BF_INPUT_INVALID',
  'request',
);

const A_STAMP = {
  ...{ priority: 0, interruptionPenaltyDollars: 0, reclamationPenaltyDollars: 0 },
  fingerprint: 'f',
};

/** The ledger of a shard as the feed reads it, with the machines and Needs of one input after the other. */
class Source {
  readonly fleet = new Fleet();
  readonly #pending = new PendingChanges(this.fleet);
  #machines = new Map<string, LedgerMachine>();
  #clusters = new Set<string>();
  #version = 0;
  readonly feed: ReplicaFeed;

  constructor(mostSpare?: number) {
    this.feed = new ReplicaFeed(this as unknown as MachineLedger, 0, mostSpare);
  }

  ownerOf(id: string): string | undefined {
    return this.#machines.get(id)?.host?.provider;
  }

  particularsOf(id: string): Pick<LedgerMachine, 'host'> {
    return { host: this.#machines.get(id)?.host ?? null };
  }

  become({ machines, needs, nowMs }: DecisionInput): void {
    const before = this.#machines;
    this.#machines = new Map(machines.map((machine) => [machine.id, machine]));
    for (const id of before.keys()) if (!this.#machines.has(id)) this.#pending.append({ kind: 'gone', id });
    for (const machine of machines) {
      this.#pending.append({ kind: 'observe', machine, atMs: nowMs });
      this.#pending.append({ kind: 'block', id: machine.id, blocked: machine.blocked });
    }
    const byCluster = Map.groupBy(needs, ({ cluster }) => cluster);
    for (const cluster of new Set([...this.#clusters, ...byCluster.keys()])) {
      const delta = wholeRollup(cluster, byCluster.get(cluster) ?? [], ++this.#version);
      this.#pending.append({ kind: 'demand', delta });
      this.#clusters.add(cluster);
    }
    const commit = this.#pending.commitMachines().writeRows();
    this.feed.committed(commit);
  }

  /** The input as the ledger has it, without what the clock-keeping of a shard adds. */
  inputOf({ nowMs, options }: DecisionInput): DecisionInput {
    const { machines, clusters, demand } = this.fleet;
    const records = [...this.#machines.values()].map((machine): LedgerMachine => {
      const record = machines.recordAt(machines.slotOf(machine.id)!);
      return { ...machine, ...record };
    });
    return {
      ...{ nowMs, options, machines: records },
      needs: clusters.sorted().flatMap((cluster) => [...demand.needsOf(cluster)]),
    };
  }
}

function asked(replica: FleetReplica): WhatIfAnswer | null {
  let found: WhatIfAnswer | null = null;
  const onAnswer = (answer: WhatIfAnswer | null): void => {
    found = answer;
  };
  replica.ask(REQUEST, { onAnswer });
  return found;
}

describe('a replica of the ledger', () => {
  it('answers as if asked about the ledger itself, whatever has changed since the last part', () => {
    fc.assert(
      fc.property(fc.array(anyFleets(), { minLength: 1, maxLength: 3 }), (inputs) => {
        // Given
        const source = new Source();
        const replica = new FleetReplica();
        for (const input of inputs) {
          source.become(input);
          // When
          const { nowMs: atMs, options } = input;
          replica.apply(source.feed.next(atMs, { atMs, options }));
          // Then
          expect(asked(replica)).toEqual(whatIfOn(source.inputOf(input), REQUEST, needId));
        }
      }),
      { numRuns: Number(process.env['BIGFLEET_RUNS'] ?? 100) },
    );
  });

  it('given more changes than a part holds, then they are passed on in parts, and the last one makes it whole', () => {
    // Given
    const machines = Array.from({ length: 5000 }, (_, i) => aMachine(`m${i}`, MachineState.Idle));
    const input = anInput(machines, [aNeed({ cluster: 'c1' })]);
    const source = new Source();
    const replica = new FleetReplica();
    const { nowMs: atMs, options } = input;
    const partsOf = (): number => {
      for (let parts = 1; ; parts++) {
        const part = source.feed.next(atMs, { atMs, options });
        replica.apply(part);
        expect(part.owners.length).toBeLessThanOrEqual(4096);
        if (part.isWhole) return parts;
      }
    };
    source.become(input);
    expect(partsOf()).toBe(2);
    // When
    const changed = { ...input, machines: machines.map((machine) => ({ ...machine, blocked: true })) };
    source.become(changed);
    // Then
    expect(partsOf()).toBe(2);
    expect(asked(replica)).toEqual(whatIfOn(source.inputOf(changed), REQUEST, needId));
    expect(partsOf()).toBe(1);
  });

  it('given machines that come and go, then the feed is over before it keeps much more than there is', () => {
    // Given
    const source = new Source(1000);
    const { nowMs, options } = anInput([], []);
    const rounds = (count: number, from: number): void => {
      for (let round = from; round < from + count; round++) {
        const machines = Array.from({ length: 100 }, (_, i) => {
          const stamp = { ...A_STAMP, group: `${round}.${i}` };
          return aMachine(`m${round}.${i}`, MachineState.Configured, { stamp });
        });
        source.become(anInput(machines, []));
        while (!source.feed.next(nowMs, { atMs: nowMs, options }).isWhole);
      }
    };
    // When
    rounds(12, 0);
    expect(source.feed.isOver(nowMs)).toBe(false);
    rounds(5, 12);
    // Then
    expect(source.feed.isOver(nowMs)).toBe(true);
  });

  it('given a feed that was not asked for ten minutes, then it is over', () => {
    const source = new Source();
    expect(source.feed.isOver(600_000)).toBe(false);
    expect(source.feed.isOver(600_001)).toBe(true);
  });

  it('has no answer before the first decision', () => {
    // Given
    const source = new Source();
    const replica = new FleetReplica();
    // When
    replica.apply(source.feed.next(0, null));
    // Then
    expect(asked(replica)).toBeNull();
    expect(replica.export()).toBeNull();
  });

  it('exports a scenario on which the engine decides the same', () => {
    fc.assert(
      fc.property(anyFleets(), (input) => {
        // Given
        const source = new Source();
        source.become(input);
        const replica = new FleetReplica();
        const { nowMs: atMs, options } = input;
        replica.apply(source.feed.next(atMs, { atMs, options }));
        // When
        const scenario = parseScenario([...scenarioPieces(replica.export()!)].join(''));
        // Then
        if (!scenario.ok) throw new Error(JSON.stringify(scenario.problems.slice(0, 3)));
        const { machines } = scenario.value.input;
        expect(
          machines.filter(({ state }) => state === MachineState.Idle).every(({ host }) => host !== null),
        ).toBe(true);
        const exported = whatIfOn(scenario.value.input, REQUEST, needId);
        expect(exported.verdicts).toEqual(asked(replica)!.verdicts);
        expect(exported.actions).toEqual(asked(replica)!.actions);
      }),
      { numRuns: Number(process.env['BIGFLEET_RUNS'] ?? 100) },
    );
  });
});
