// Invariants of every world, under any faults, checked by invariants.ts and world.ts. scripts/generate.ts writes the list
// to docs/internals/robustness.md.

export const INVARIANTS = {
  'acts-on-real-state':
    'An action begins on a machine in the state that its provider has, unless the cloud changed it meanwhile.',
  'rolled-back-is-free': 'An action of which no provider received a call leaves its machine unchanged.',
  'one-binding': 'A machine serves one cluster at a time; a bound machine is not bound again.',
  'nothing-twice': 'A provider accepts no more operations than the shard has begun actions.',
  'fence-holds': 'Once a newer process has changed a machine, no older process changes it.',
  'epochs-rise':
    'No provider receives an epoch below one it has received, and the newest process is never fenced.',
  'drains-wait':
    'No provider is given a grace by a drain of a cluster whose last hello announced reports of drains.',
  'no-early-reclaim':
    'No machine leaves a cluster as excess before the cluster has reported to this process.',
  'collapse-is-quarantined':
    'A roll-up that loses nearly everything is not accepted before its third repetition.',
  'claimed-or-reclaimed': 'No machine has two actions in a cycle, and none is reclaimed that a row claims.',
  'replaced-before-reclaimed':
    'With a reclaim hold, no machine is reclaimed while a row that it matches counts on one that is not Configured yet.',
  'marks-expire': 'No machine is to be replaced by cheaper ones for longer than it was when that began.',
  'shares-fit': 'What rows take of a machine, by claim and by share, is never more than it has.',
  'frozen-is-frozen': 'No action begins or is sent in a frozen scope, also after a restart.',
  'reclaim-cap':
    'No more Reclaims of a cluster in any 10 s than its cap, and none in the first 10 s of a process.',
  'hold-is-kept': 'A host is released only after its hold, and an owned one never.',
  'known-machines': 'The ledger has no machine that no provider has.',
  'incremental-equals-full': 'Incremental cycles decide what full ones decide.',
  'entries-apply': 'Every pending change applies.',
  settles: 'Once faults end, the world settles.',
  'ledger-equals-provider':
    'At rest the ledger equals the record of the provider for every machine, prices included.',
  'hosts-on-record': 'At rest the ledger has every host that is paid for.',
  'nothing-idle': 'At rest no host that could be released is Idle beyond its hold.',
  'nothing-beyond-hold':
    'At rest no machine that could be given back is kept beyond its hold although its work fits into remainders.',
  'demand-is-met': 'At rest, with supply to spare, every plain row is met.',
  'clusters-know': 'At rest a cluster knows exactly the machines that serve it.',
  'no-open-requests': 'At rest no request and no instruction is open, and no action is in flight.',
  'quiet-when-constant': 'At constant demand no action begins, however prices change.',
  'exact-acquisition':
    'Demand that rises once is met by exactly the machines it takes, each bought and bound once.',
  'exact-replacement': 'A machine that is lost is replaced by exactly one.',
  'exact-preemption': 'A shortage is met by exactly as many preemptions as machines are short.',
  'no-exception': 'Nothing throws.',
} as const;
export type InvariantName = keyof typeof INVARIANTS;
