// Defects of the fence. Each of these keeps its own marks instead of the kit's, in the same store, so that only the
// rule is wrong. Listed in provider.ts.

import type { Store, StoredState } from '../../../src/provider/index.ts';
import { RpcError, status } from '../../../src/wire/index.ts';
import {
  type ChangeRequest,
  changes,
  type Defect,
  inCalls,
  isRefusedWith,
  type Mutant,
  staleToken,
  stateOf,
} from './mutant.ts';
import { TRANSITION_STATES } from './transition-states.ts';

type Token = Pick<ChangeRequest, 'shardEpoch' | 'sequenceNumber'>;

interface Rule {
  /** Which calls share a mark; in a correct fence those of one shard and machine. */
  readonly owner: (request: ChangeRequest) => { readonly machine: string; readonly shard: string };
  readonly isNewer: (token: Token, mark: Token) => boolean;
  /** Whether the mark advances when the kit refuses the call. */
  readonly movesOn: (error: unknown) => boolean;
}

const HEALTHY: Rule = {
  owner: ({ machineId, shardId }) => ({ machine: machineId, shard: shardId }),
  isNewer: (token, mark) =>
    token.shardEpoch > mark.shardEpoch ||
    (token.shardEpoch === mark.shardEpoch && token.sequenceNumber > mark.sequenceNumber),
  movesOn: () => true,
};

class Marks {
  readonly #rule: Rule;
  readonly #store: Store;
  readonly #marks = new Map<string, Token>();

  constructor(rule: Rule, store: Store, stored: StoredState) {
    this.#rule = rule;
    this.#store = store;
    for (const { machine, shard, epoch, sequence } of stored.marks) {
      this.#marks.set(keyOf({ machine, shard }), { shardEpoch: epoch, sequenceNumber: sequence });
    }
  }

  check(request: ChangeRequest): void {
    const mark = this.#marks.get(keyOf(this.#rule.owner(request)));
    if (mark !== undefined && !this.#rule.isNewer(request, mark)) throw staleToken();
  }

  async move(request: ChangeRequest): Promise<void> {
    const owner = this.#rule.owner(request);
    const { shardEpoch, sequenceNumber } = request;
    this.#marks.set(keyOf(owner), { shardEpoch, sequenceNumber });
    await this.#store.write({ marks: [{ ...owner, epoch: shardEpoch, sequence: sequenceNumber }] });
  }

  forgetMachine(machine: string): void {
    for (const key of this.#marks.keys()) if (key.startsWith(`${machine} `)) this.#marks.delete(key);
  }
}

function keyOf({ machine, shard }: { readonly machine: string; readonly shard: string }): string {
  return `${machine} ${shard}`;
}

function isFenced({ machineId, shardId, shardEpoch, sequenceNumber }: ChangeRequest): boolean {
  if (machineId === '') return false;
  return shardId !== '' || shardEpoch !== 0n || sequenceNumber !== 0n;
}

function withRule(rule: Partial<Rule>): Mutant['build'] {
  const { movesOn, ...rest } = { ...HEALTHY, ...rule };
  return inCalls((kit, store, stored) => {
    const marks = new Marks({ ...rest, movesOn }, store, stored);
    return changes(kit, async ({ request, send, sendUnfenced }) => {
      if (!isFenced(request)) return await send();
      marks.check(request);
      const isEager = movesOn === HEALTHY.movesOn;
      // Before any await, as the kit does, or two concurrent calls would both pass.
      if (isEager) await marks.move(request);
      try {
        const ack = await sendUnfenced();
        if (!isEager) await marks.move(request);
        return ack;
      } catch (error) {
        if (!isEager && movesOn(error)) await marks.move(request);
        throw error;
      }
    });
  });
}

const asText = (value: bigint) => String(value);
const unsigned = (value: bigint) => BigInt.asUintN(64, value);
const isNegative = ({ shardEpoch, sequenceNumber }: Token) => shardEpoch < 0n || sequenceNumber < 0n;

const refusesNegative: NonNullable<Defect['calls']> = (kit) =>
  changes(kit, async ({ request, send }) => {
    if (isNegative(request)) throw new RpcError(status.INVALID_ARGUMENT, 'negative token');
    return await send();
  });

const ignoresNegative: NonNullable<Defect['calls']> = (kit) =>
  changes(kit, ({ request, send, sendUnfenced }) => (isNegative(request) ? sendUnfenced() : send()));

/** A repeated call is answered before its token is checked. */
const repeatsFirst: NonNullable<Defect['calls']> = (kit) =>
  changes(kit, async ({ kind, request, send, sendUnfenced }) => {
    const state = await stateOf(kit, request.machineId);
    const { via, to } = TRANSITION_STATES[kind];
    return state === via || state === to ? await sendUnfenced() : await send();
  });

/** Deleting a machine also deletes its marks. */
const dropsMarksOnDelete: NonNullable<Defect['calls']> = (kit, store, stored) => {
  const marks = new Marks(HEALTHY, store, stored);
  return changes(kit, async ({ kind, request, send, sendUnfenced }) => {
    if (!isFenced(request)) return await send();
    marks.check(request);
    await marks.move(request);
    const ack = await sendUnfenced();
    if (kind === 'delete') marks.forgetMachine(request.machineId);
    return ack;
  });
};

/** A caller without a token counts as a shard without a name. */
const fencesEveryCaller: NonNullable<Defect['calls']> = (kit) => {
  const seen = new Set<string>();
  return changes(kit, async ({ kind, request, send }) => {
    const isRepeated =
      !isFenced(request) && request.machineId !== '' && seen.has(`${kind} ${request.machineId}`);
    if (isRepeated) throw staleToken();
    seen.add(`${kind} ${request.machineId}`);
    return await send();
  });
};

const refusesWithAborted: NonNullable<Defect['calls']> = (kit) =>
  changes(kit, async ({ send }) => {
    try {
      return await send();
    } catch (error) {
      if (!isRefusedWith(error, status.FAILED_PRECONDITION)) throw error;
      throw new RpcError(status.ABORTED, 'stale token');
    }
  });

export const FENCE_MUTANTS: readonly Mutant[] = [
  {
    name: 'one mark per shard',
    area: 'fencing',
    named: ['FencingPerMachineIsolation', 'B302', 'B1204'],
    build: withRule({ owner: ({ shardId }) => ({ machine: '', shard: shardId }) }),
  },
  {
    name: 'one mark per machine',
    area: 'fencing',
    named: ['B302', 'B1204'],
    build: withRule({ owner: ({ machineId }) => ({ machine: machineId, shard: '' }) }),
  },
  {
    name: 'an equal token passes',
    area: 'fencing',
    named: ['FencingUnknownShardAccepted', 'FencingStaleSequenceRejected', 'B303', 'B305', 'B312', 'B1201'],
    build: withRule({ isNewer: (token, mark) => !HEALTHY.isNewer(mark, token) }),
  },
  {
    name: 'epochs compared as text',
    area: 'fencing',
    named: ['B303'],
    build: withRule({
      isNewer: (token, mark) =>
        token.shardEpoch === mark.shardEpoch
          ? token.sequenceNumber > mark.sequenceNumber
          : asText(token.shardEpoch) > asText(mark.shardEpoch),
    }),
  },
  {
    name: 'tokens counted in doubles',
    area: 'transitions',
    named: ['B212'],
    build: withRule({
      isNewer: (token, mark) => {
        const [epoch, marked] = [Number(token.shardEpoch), Number(mark.shardEpoch)];
        return epoch === marked ? Number(token.sequenceNumber) > Number(mark.sequenceNumber) : epoch > marked;
      },
    }),
  },
  {
    name: 'negative tokens are refused',
    area: 'properties',
    named: ['B1201', 'B1204'],
    build: inCalls(refusesNegative),
  },
  {
    name: 'negative tokens are not fenced',
    area: 'properties',
    named: ['B1201', 'B1204'],
    build: inCalls(ignoresNegative),
  },
  {
    name: 'tokens compared without their sign',
    area: 'properties',
    named: ['B1201', 'B1204'],
    build: withRule({
      isNewer: (token, mark) => {
        const [epoch, marked] = [unsigned(token.shardEpoch), unsigned(mark.shardEpoch)];
        return epoch === marked
          ? unsigned(token.sequenceNumber) > unsigned(mark.sequenceNumber)
          : epoch > marked;
      },
    }),
  },
  {
    name: 'a new epoch does not reset the sequence',
    area: 'fencing',
    named: ['FencingNewEpochResetsSequence', 'B303', 'B310', 'B405'],
    build: withRule({
      isNewer: (token, mark) =>
        token.shardEpoch >= mark.shardEpoch && token.sequenceNumber > mark.sequenceNumber,
    }),
  },
  {
    name: 'the epoch is ignored',
    area: 'fencing',
    named: ['FencingStaleEpochRejected', 'B303', 'B305', 'B312', 'B1201'],
    build: withRule({ isNewer: (token, mark) => token.sequenceNumber > mark.sequenceNumber }),
  },
  {
    name: 'the mark does not move when the call fails',
    area: 'fencing',
    named: ['B301', 'B311'],
    build: withRule({ movesOn: () => false }),
  },
  {
    name: 'no marks for unknown machines',
    area: 'fencing',
    named: ['B301'],
    build: withRule({ movesOn: (error) => !isRefusedWith(error, status.NOT_FOUND) }),
  },
  { name: 'Delete drops marks', area: 'fencing', named: ['B310'], build: inCalls(dropsMarksOnDelete) },
  {
    name: 'a repeated call is answered before the fence',
    area: 'fencing',
    named: ['FencingUnknownShardAccepted', 'FencingReadsUnaffected', 'B305', 'B306', 'B307', 'B405'],
    build: inCalls(repeatsFirst),
  },
  {
    name: 'callers without a token are fenced',
    area: 'fencing',
    named: ['CreateIdempotent', 'B308', 'ConfigureIdempotent', 'DrainIdempotent', 'DeleteIdempotent'],
    build: inCalls(fencesEveryCaller),
  },
  {
    name: 'stale tokens are ABORTED',
    area: 'fencing',
    named: [
      'FencingUnknownShardAccepted',
      'B301',
      'B302',
      'B303',
      'B305',
      'B306',
      'B307',
      'B309',
      'B311',
      'B312',
    ],
    build: inCalls(refusesWithAborted),
  },
];
