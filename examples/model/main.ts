// Example of `bigfleet/model`, the vocabulary: quantities, requirements, profiles and machine states.
//   npx node -C bigfleet-source examples/model/main.ts

import {
  type Attributes,
  BigFleetError,
  bucketOfDollars,
  CapacityType,
  COMMANDS,
  covers,
  formatResources,
  MachineState,
  makeProfile,
  meetsAll,
  Operator,
  parseQuantity,
  stateName,
  subtract,
  ZONE_KEY,
} from 'bigfleet/model';

// Amounts are whole numbers of a unit: thousandths of a CPU, bytes of memory. Demand rounds up, supply rounds down.
const wanted = new Map([
  ['cpu', parseQuantity('1500m', 'cpu', 'up')],
  ['memory', parseQuantity('6Gi', 'memory', 'up')],
]);
const offered = new Map([
  ['cpu', parseQuantity('4', 'cpu', 'down')],
  ['memory', parseQuantity('16Gi', 'memory', 'down')],
]);
console.log(`fits: ${covers(offered, wanted)}`);
console.log(`left: ${JSON.stringify(formatResources(subtract(offered, wanted)))}`);

const profile = makeProfile({
  priority: 10,
  interruptionBucket: bucketOfDollars(5),
  requirements: [
    { key: ZONE_KEY, operator: Operator.In, values: ['east-2', 'east-1'] },
    { key: 'example.com/gpu', operator: Operator.DoesNotExist, values: [] },
  ],
});
console.log(`fingerprint: ${profile.fingerprint}`);

const machine: Attributes = { instanceType: 'small', zone: 'east-1', labels: new Map() };
console.log(`meets its requirements: ${meetsAll(machine, profile.requirements)}`);
console.log(`capacity types: ${Object.keys(CapacityType).join(', ')}`);

const { from, to } = COMMANDS.create;
console.log(`create: ${stateName(from)} to ${stateName(to)} to ${stateName(MachineState.Idle)}`);

try {
  parseQuantity('four', 'cpu', 'up');
} catch (error) {
  if (error instanceof BigFleetError) console.log(`refused with ${error.code}`);
}
