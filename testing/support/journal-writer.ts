// Child process of journal-file.test.ts ("a journal after a crash"): writes cycles to the journal at the path in
// argv[2], printing the number of each, until the test kills it.

import { MachineState, wholeRollup } from '../../src/model/index.ts';
import { aMachine, aNeed, resources } from './fleets.ts';
import { fileAt, Recorded } from './journal.ts';

const recorded = new Recorded(fileAt(process.argv[2]!), { slice: 5, limits: { maxBytes: 200_000 } });
for (let i = 1; ; i++) {
  recorded.cycle([
    { kind: 'observe', machine: aMachine(`m${i % 50}`, MachineState.Idle, { pricePerHour: i }), atMs: i },
    { kind: 'demand', delta: wholeRollup('c1', [aNeed({ aggregate: resources({ cpu: i % 60 }) })]) },
  ]);
  process.stdout.write(`${i}\n`);
}
