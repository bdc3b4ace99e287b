// Sends an order to a shard and prints its answer, for `bigfleet accept`, `refuse`, `freeze`, `retry`, `quarantine` and
// `forget`.

import { asCalledHere } from '../invocation.ts';
import { proseWidth, wrapped } from '../table.ts';
import { clientOf, type OrderFlags, type RemoteIo } from './flags.ts';

/** The answer to an order that was carried out. */
export interface Done {
  readonly message: string;
}

export async function order(
  path: string,
  params: Readonly<Record<string, string | number | undefined>>,
  flags: OrderFlags,
  io: RemoteIo,
): Promise<void> {
  report(await (await clientOf(flags)).post<Done>(path, { ...params, who: flags.who }), io);
}

export function report({ message }: Done, io: RemoteIo): void {
  io.out(`${wrapped(asCalledHere(message), proseWidth()).join('\n')}\n`);
}
