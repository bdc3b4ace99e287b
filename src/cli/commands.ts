// The commands of `bigfleet` by name, for program.ts. Each is loaded when it is called, so that no command pays for
// modules that only another one uses: `--help` and `get` load no engine, no gRPC and no SQLite.

import type { Command } from 'commander';

export interface CommandEntry {
  readonly name: string;
  /** Equal to the description of the command itself; a test compares them. */
  readonly summary: string;
  /** `all`: the whole program, with every command loaded. */
  readonly load: (all: () => Promise<Command>) => Promise<Command>;
}

export const COMMANDS: readonly CommandEntry[] = [
  {
    name: 'up',
    summary: 'start a shard, two fake clouds and some clusters, and watch them work',
    load: async () => (await import('./up/command.ts')).upCommand(),
  },
  {
    name: 'shard',
    summary: 'run a shard, which owns a slice of the fleet and serves the clusters that connect to it',
    load: async () =>
      (await import('./shard.ts')).shardCommand(async (config, io) => {
        const { startShard } = await import('../shard/index.ts');
        const { loginPages, pageServer } = await import('../web/index.ts');
        return await startShard(config, { ...io, loginPages: loginPages(), pages: pageServer() });
      }),
  },
  {
    name: 'operator',
    summary: 'run in a cluster: report what its pods need, let machines join, and drain nodes',
    load: async () => {
      const { operatorCommand } = await import('./operator.ts');
      return operatorCommand(async (settings, log) => {
        const { clusterFactories, startOperator } = await import('../operator/index.ts');
        return await startOperator(settings, { log, factories: clusterFactories });
      });
    },
  },
  {
    name: 'decide',
    summary: 'decide on a scenario file and print the plan; nothing is touched',
    load: async () =>
      (await import('./decide.ts')).decideCommand(async () => (await import('./decider.ts')).DECIDER),
  },
  {
    name: 'whatif',
    summary: 'compare what is decided now with a changed fleet, demand or policy; nothing is executed',
    load: async () =>
      (await import('./whatif/command.ts')).whatIfCommand(
        async () => (await import('./whatif/answerer.ts')).ANSWERER,
      ),
  },
  {
    name: 'export',
    summary: 'write the fleet of a running shard as a scenario file, for decide and whatif',
    load: async () => (await import('./remote/export.ts')).exportCommand(),
  },
  {
    name: 'assess',
    summary: 'say what BigFleet would make of your own clusters; they are only read',
    load: async () => (await import('./assess.ts')).assessCommand(),
  },
  {
    name: 'get',
    summary: 'show the current state of a running shard',
    load: async () => (await import('./remote/get.ts')).getCommand(),
  },
  {
    name: 'describe',
    summary:
      'show everything about one machine, Need, cluster, provider or past cycle, with its recent events',
    load: async () => (await import('./remote/describe.ts')).describeCommand(),
  },
  {
    name: 'top',
    summary: 'watch a running shard on a live screen: states, cost, demand, actions',
    load: async () => (await import('./top/command.ts')).topCommand(),
  },
  {
    name: 'explain',
    summary: 'explain why a Need is met or not, why a machine is here, why a pod waits, or what a word means',
    load: async () => (await import('./explain/explain.ts')).explainCommand(),
  },
  {
    name: 'config',
    summary: 'keep contexts: shards with credentials, and the one that commands use',
    load: async () => (await import('./remote/config.ts')).configCommand(),
  },
  {
    name: 'freeze',
    summary: 'stop actions of a running shard for a time or until unfreeze, also across restarts',
    load: async () => (await import('./remote/freeze.ts')).freezeCommand(),
  },
  {
    name: 'unfreeze',
    summary: 'lift a freeze',
    load: async () => (await import('./remote/freeze.ts')).unfreezeCommand(),
  },
  {
    name: 'retry',
    summary: 'clear back-off or quarantine of a machine and try it again',
    load: async () => (await import('./remote/machine-orders.ts')).retryCommand(),
  },
  {
    name: 'quarantine',
    summary: 'keep a machine out of decisions until retry',
    load: async () => (await import('./remote/machine-orders.ts')).quarantineCommand(),
  },
  {
    name: 'forget',
    summary: 'hide a machine that is Failed at its provider',
    load: async () => (await import('./remote/machine-orders.ts')).forgetCommand(),
  },
  {
    name: 'drain',
    summary: 'replace a machine by others, then drain it and give it back',
    load: async () => (await import('./remote/machine-orders.ts')).drainCommand(),
  },
  {
    name: 'accept',
    summary: 'accept a quarantined List or roll-up, or let a cluster with rows set aside shrink',
    load: async () => (await import('./remote/accept.ts')).acceptCommand(),
  },
  {
    name: 'refuse',
    summary: 'reject a quarantined roll-up and keep the demand from before it',
    load: async () => (await import('./remote/accept.ts')).refuseCommand(),
  },
  {
    name: 'cluster',
    summary: 'drain and give back all machines of a cluster that is gone for good',
    load: async () => (await import('./remote/cluster.ts')).clusterCommand(),
  },
  {
    name: 'history',
    summary: 'print the history of a machine, a Need or a cluster, with reasons',
    load: async () => (await import('./journal/history.ts')).historyCommand(),
  },
  {
    name: 'replay',
    summary: 'decide past cycles of a shard again and compare the results',
    load: async () => (await import('./journal/replay.ts')).replayCommand(),
  },
  {
    name: 'provider',
    summary: 'try out and check capacity providers',
    load: async () => (await import('./provider.ts')).providerCommand(),
  },
  {
    name: 'cost',
    summary: 'show what the fleet costs per hour, and what for',
    load: async () => (await import('./remote/cost.ts')).costCommand(),
  },
  {
    name: 'version',
    summary: 'print the version of this program, and of the shard if one answers',
    load: async () => (await import('./version.ts')).versionCommand(),
  },
  {
    name: 'completion',
    summary: 'print a script that completes commands, flags and names in a shell',
    load: async (all) => (await import('./completion/command.ts')).completionCommand(all),
  },
  {
    name: 'certs',
    summary: 'make an authority and certificates for tests and small fleets',
    load: async () => (await import('./certs.ts')).certsCommand(),
  },
];
