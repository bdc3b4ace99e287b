// `ShardRead.InspectNeeds` on a grpc-js server. The controller returns the whole answer at once, and it is buffered in
// the shard's memory until the caller has read it. So the number of concurrent callers is bounded, and a caller that
// stops reading is disconnected. process/shard.ts adds it to the server of the sessions.

import type { Server } from '@grpc/grpc-js';
import { BigFleetError } from '../../model/index.ts';
import {
  type InspectNeedsRequest,
  type InspectNeedsResponse,
  ShardReadDefinition,
} from '../../wire/gen/bigfleet/v1alpha1/shardread.ts';
import {
  addService,
  bindService,
  denied,
  identityOf,
  RpcError,
  resetStream,
  status,
} from '../../wire/index.ts';

const service = bindService(ShardReadDefinition);

export type Inspect = (request: InspectNeedsRequest) => AsyncIterable<InspectNeedsResponse>;

interface ReadLimits {
  /** Callers served at the same time. */
  readonly callers: number;
  /** Longest time in which a caller reads nothing. */
  readonly stallMs: number;
}

const READ_LIMITS: ReadLimits = { callers: 8, stallMs: 30_000 };

export interface ReadCounters {
  refused: number;
  /** Disconnected because they did not read. */
  stalled: number;
}

interface ReadOptions {
  readonly hasTls: boolean;
  readonly limits?: ReadLimits;
}

/** Adds the service to a server. Over TLS it is for `admin` and `readonly` identities; without TLS there are no identities. */
export function addShardRead(
  server: Server,
  inspect: Inspect,
  { hasTls, limits = READ_LIMITS }: ReadOptions,
): ReadCounters {
  const counters: ReadCounters = { refused: 0, stalled: 0 };
  let callers = 0;
  addService(server, service, {
    inspectNeeds: async function* inspectNeeds(request, call) {
      if (hasTls) checkReader(identityOf(call).kind);
      if (callers >= limits.callers) {
        counters.refused++;
        const detail = `${limits.callers} callers are being served.`;
        throw new RpcError(status.RESOURCE_EXHAUSTED, new BigFleetError('BF_READ_LIMIT', detail).message);
      }
      callers++;
      let isWaiting = false;
      const watch = setTimeout(() => {
        // The controller is still preparing the answer, so the caller is not at fault.
        if (!isWaiting) return;
        counters.stalled++;
        resetStream(call);
      }, limits.stallMs).unref();
      try {
        for await (const frame of inspect(request)) {
          watch.refresh();
          isWaiting = true;
          yield frame;
          isWaiting = false;
        }
      } finally {
        clearTimeout(watch);
        callers--;
      }
    },
  });
  return counters;
}

function checkReader(kind: string): void {
  if (kind === 'admin' || kind === 'readonly') return;
  throw denied(`A ${kind} may not inspect Needs; bigfleet://admin and bigfleet://readonly may.`);
}
