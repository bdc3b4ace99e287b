// Test support: the worker that worker-channel.test.ts (src/runtime) starts; it executes the requests of its owner.

import { BigFleetError } from '../../src/model/index.ts';
import type { Traffic } from '../../src/runtime/message-exchange.ts';
import { WorkerPort } from '../../src/runtime/worker-port.ts';

export interface ToTestWorker extends Traffic {
  readonly item: /** Returned as an item with the same text. */
    | { readonly kind: 'echo'; readonly text: string }
    | { readonly kind: 'ask-owner'; readonly text: string }
    | { readonly kind: 'throw' | 'exit' | 'close' };
  /** Answered with its length. `never` is not answered, and the others are refused. */
  readonly request: Uint8Array | 'never' | 'refuse' | 'refuse-coded';
  readonly answer: number;
}

export interface FromTestWorker extends Traffic {
  readonly item: { readonly kind: 'said'; readonly text: string };
  readonly request: string;
  readonly answer: string;
}

const port = new WorkerPort<string, FromTestWorker, ToTestWorker>();

function handle(item: ToTestWorker['item']): void {
  switch (item.kind) {
    case 'echo':
      port.queue({ kind: 'said', text: `${port.start}${item.text}` });
      break;
    case 'ask-owner':
      port.request(item.text).then(
        (answer) => port.post({ kind: 'said', text: `answer ${answer}` }),
        (error: Error) => port.post({ kind: 'said', text: `refusal ${error.message}` }),
      );
      break;
    case 'throw':
      throw new RangeError('out of range');
    case 'exit':
      process.exit(3);
      break;
    case 'close':
      port.close();
  }
}

port.listen({
  onItem: handle,
  onRequest: (request, answer, refuse) => {
    if (request === 'refuse') refuse(new TypeError('not a number'));
    else if (request === 'refuse-coded') refuse(new BigFleetError('BF_STORE_FAILED', 'The disk is full.'));
    else if (request !== 'never') answer(request.length);
  },
});
