// Validates the first frame of a session: a hello of a sender that is authorised for the cluster. Used by session.ts.

import { excerpt } from '../../model/index.ts';
import { denied, type OperatorFrame, RpcError } from '../../wire/index.ts';
import type { Identify, SessionStatus } from './port.ts';

/** Why a first frame does not open a session, as a sentence; null if it does. */
export function helloProblem(frame: OperatorFrame): string | null {
  if (frame.kind === 'refusedHello') return frame.problem;
  if (frame.kind === 'hello') return frame.value.clusterId === '' ? 'The hello names no cluster.' : null;
  return `The first frame is ${frame.kind === 'unknown' ? 'of an unknown kind' : `a ${frame.kind}`}.`;
}

/** Why the caller is not authorised for a cluster; null if it is. */
export function identityProblem(identify: Identify, cluster: string): SessionStatus | null {
  try {
    const caller = identify();
    if (caller === null || (caller.kind === 'cluster' && caller.id === cluster)) return null;
    const name = caller.kind === 'cluster' || caller.kind === 'shard' ? ` "${excerpt(caller.id)}"` : '';
    throw denied(`The caller is ${caller.kind}${name}, the hello is of cluster "${excerpt(cluster)}".`);
  } catch (error) {
    if (!(error instanceof RpcError)) throw error;
    return { code: error.code, details: error.message };
  }
}
