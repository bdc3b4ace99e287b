// `ShardRead.InspectNeeds` on a grpc-js server. Frames are taken from the shard only as fast as the caller reads them.

import type { Server } from '@grpc/grpc-js';
import {
  type InspectNeedsRequest,
  type InspectNeedsResponse,
  ShardReadDefinition,
} from '../../wire/gen/bigfleet/v1alpha1/shardread.ts';
import { addService, bindService, denied, identityOf } from '../../wire/index.ts';

const service = bindService(ShardReadDefinition);

export type Inspect = (request: InspectNeedsRequest) => AsyncIterable<InspectNeedsResponse>;

/** Adds the service to a server. Over TLS it is for admins and readers; without there are no identities. */
export function addShardRead(
  server: Server,
  inspect: Inspect,
  { hasTls }: { readonly hasTls: boolean },
): void {
  addService(server, service, {
    inspectNeeds: (request, call) => {
      if (hasTls) checkReader(identityOf(call).kind);
      return inspect(request);
    },
  });
}

function checkReader(kind: string): void {
  if (kind === 'admin' || kind === 'readonly') return;
  throw denied(`A ${kind} may not inspect Needs; bigfleet://admin and bigfleet://readonly may.`);
}
