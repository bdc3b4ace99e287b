// Behaviours of metadata, listed by harness/registry.ts: a shard's metadata is stored verbatim, visible from acceptance
// on, and cleared with the binding.

import { MachineState } from '../../../model/index.ts';
import { type Behaviour, inArea } from '../harness/behaviour.ts';
import { accepted, isUnbound, same, sameMetadata } from '../harness/expect.ts';
import { bigMetadata, keepsOrRefuses } from './transitions.ts';

const behaviour = inArea('metadata', 'core', 'core');
const { Idle, Configuring, Configured } = MachineState;

export const METADATA: readonly Behaviour[] = [
  behaviour('B501', '55 awkward keys and values come back unchanged', async (trial) => {
    const metadata = awkwardMetadata();
    const { id } = await trial.configured({ metadata });
    for (let i = 0; i < 4; i++) sameMetadata('Get', metadata, (await trial.read(id)).shardMetadata);
    sameMetadata('List', metadata, (await trial.listed(id, Configured)).shardMetadata);
  }),
  behaviour('B502', 'a new binding has nothing of the old one', async (trial) => {
    const old = new Map([
      ['example.com/old-a', '1'],
      ['example.com/old-b', '2'],
    ]);
    const { id } = await trial.configured({ metadata: old });
    isUnbound('the drained machine', await trial.drain(id, 5));
    const binding = trial.binding({ metadata: new Map([['example.com/new', '3']]) });
    const machine = await trial.configure(id, binding);
    sameMetadata('the newly bound machine', binding.metadata, machine.shardMetadata);
    same('its cluster', binding.cluster, machine.cluster);
  }),
  behaviour('B503', '2 MiB of metadata are kept exactly, or refused cleanly', async (trial) => {
    await keepsOrRefuses(trial, bigMetadata(256, 8 * 1024));
  }),
  behaviour('B504', 'metadata is there from Configuring on', async (trial) => {
    const id = await trial.idle();
    const metadata = new Map([['example.com/early', 'x']]);
    const watch = trial.watch(id, 1);
    const ack = accepted('Configure', await trial.calls.configure(id, trial.binding({ metadata })));
    const seen = await trial.traces(id, Configured);
    for (const machine of [...(await watch.stop()), ack.machine, ...seen]) {
      if (machine.state === Idle) isUnbound('the machine before Configure', machine);
      if (machine.state !== Configuring && machine.state !== Configured) continue;
      sameMetadata('the machine on its way', metadata, machine.shardMetadata);
    }
  }),
  behaviour('B505', 'what the caller does to its map later changes nothing', async (trial) => {
    const id = await trial.idle();
    const sent = new Map([['example.com/kept', 'as sent']]);
    accepted('Configure', await trial.calls.configure(id, trial.binding({ metadata: sent })));
    const kept = new Map(sent);
    sent.set('example.com/kept', 'changed').set('example.com/added', 'x');
    await trial.settles(id, Configured);
    for (let i = 0; i < 2; i++) sameMetadata('Get', kept, (await trial.read(id)).shardMetadata);
  }),
];

/** NUL, controls, C1, line ends, unicode of every width, empty values, and a NUL in a key: 55 entries. */
function awkwardMetadata(): ReadonlyMap<string, string> {
  const metadata = new Map<string, string>([
    ['example.com/nul', 'a\u0000b'],
    ['example.com/nul\u0000in-key', 'x'],
    ['example.com/empty', ''],
    ['example.com/lines', 'a\nb\r\nc'],
    ['example.com/quotes', `"'\\`],
    ['example.com/ключ', 'значение'],
    ['example.com/🛰', '🛰🛰'],
    ['example.com/joined', 'e\u0301 is not é'],
    ['example.com/right-to-left', '\u202eabc\u202c'],
    ['example.com/bom', '\ufeffx'],
    ['example.com/edge', '\u007f\u07ff\u0800\uffff\u{10ffff}'],
    [' example.com/spaces ', '  x  '],
    ['EXAMPLE.com/Case', 'X'],
    ['example.com/case', 'x'],
    ['__proto__', 'no object'],
  ]);
  for (let code = 1; metadata.size < 47; code++) {
    const control = String.fromCharCode(code);
    metadata.set(`example.com/control-${code}`, `${control}x${control}`);
  }
  for (let code = 0x80; metadata.size < 55; code++) {
    metadata.set(`example.com/c1-${code}`, String.fromCharCode(code));
  }
  return metadata;
}
