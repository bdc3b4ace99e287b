// Telling a shard something: what it answers is printed as it is.

import { asCalledHere } from '../invocation.ts';
import { proseWidth, wrapped } from '../table.ts';
import { clientOf, type OrderFlags, type RemoteIo } from './flags.ts';

/** What a shard says of an order that it carried out. */
export interface Done {
  readonly message: string;
}

export async function order(
  path: string,
  words: Readonly<Record<string, string | undefined>>,
  flags: OrderFlags,
  io: RemoteIo,
): Promise<void> {
  report(await clientOf(flags).post<Done>(path, { ...words, who: flags.who }), io);
}

export function report({ message }: Done, io: RemoteIo): void {
  io.out(`${wrapped(asCalledHere(message), proseWidth()).join('\n')}\n`);
}
