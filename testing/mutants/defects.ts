// Defects injected on purpose: mistakes that shards of this kind have made, each as a change of one place in the
// product. The simulation has to find every one of them; see scripts/verify-defects.ts.

export interface Defect {
  readonly name: string;
  /** Its effect, as one sentence. */
  readonly what: string;
  readonly file: string;
  /** Occurs in the file exactly once. */
  readonly text: string;
  readonly replacement: string;
}

export const DEFECTS: readonly Defect[] = [
  {
    name: 'double action',
    what: 'Every call to a provider is made twice.',
    file: 'src/shard/actuation/call-scheduler.ts',
    text: "    this.#parts.emit({ kind: 'call', call: number, provider, machine, request });\n",
    replacement:
      "    this.#parts.emit({ kind: 'call', call: number, provider, machine, request });\n" +
      "    this.#parts.emit({ kind: 'call', call: number, provider, machine, request });\n",
  },
  {
    name: 'retry without a Get',
    what: 'A call whose answer was lost is treated as one that was never made, and the machine is free again.',
    file: 'src/shard/actuation/action-executor.ts',
    text: "      case 'transient':\n      case 'permanent':",
    replacement:
      "      case 'transient':\n        this.#takeBack(inFlight, 'provider_error');\n        break;\n      case 'permanent':",
  },
  {
    name: 'lost update',
    what: 'A record that arrives during an action is dropped and never read again.',
    file: 'src/shard/inventory/reconcile.ts',
    text: '    this.#parts.observer.dropped(id);\n    this.check(id);\n',
    replacement: '    this.#parts.observer.dropped(id);\n',
  },
  {
    name: 'early reclaim',
    what: 'After a start every cluster counts as having reported.',
    file: 'src/shard/planning/cycles.ts',
    text: '      readyClusters,\n',
    replacement: '      readyClusters: readyClusters.size < 0 ? readyClusters : null,\n',
  },
  {
    name: 'missing fence',
    what: 'A provider accepts calls of a process that has been replaced.',
    file: 'src/provider/kit/fences.ts',
    text: 'if (!isNewer(token, mark)) return { heldBy: mark };',
    replacement: 'if (!isNewer(token, mark) && token.epoch < 0n) return { heldBy: mark };',
  },
  {
    name: 'stale cursor',
    what: 'A List of changes leaves out the oldest change.',
    file: 'src/provider/kit/listing.ts',
    text: 'this.#records.slotsSince(since))',
    replacement: 'this.#records.slotsSince(since + 1))',
  },
  {
    name: 'missing rollback',
    what: 'A machine whose cluster sends no blob stays bound in the ledger.',
    file: 'src/shard/actuation/action-executor.ts',
    text: '      ledger.move(machine, { command: Command.Abandon }, clock.now());\n',
    replacement: '      void [ledger, machine, Command.Abandon, clock];\n',
  },
  {
    name: 'dropped durable write',
    what: 'A decision becomes durable only in the next cycle, after the provider was called.',
    file: 'src/shard/actuation/actuation.ts',
    text: '    if (taken.length > 0) this.#parts.machineFacts.flush();\n',
    replacement: '',
  },
  {
    name: 'target not persisted',
    what: 'The target of a machine is lost when the process ends.',
    file: 'src/shard/inventory/machine-facts-store.ts',
    text: '    return { id, provider, target, cluster, stamp, idleSinceMs, ...verdicts };',
    replacement: '    return { id, provider, target: null, cluster, stamp, idleSinceMs, ...verdicts };',
  },
  {
    name: 'target lost by a drain',
    what: 'A machine that was drained for a row becomes free for every row.',
    file: 'src/fleet/machines/machine-status.ts',
    text: 'return known.state === Draining ? known.target : null;',
    replacement: 'return null;',
  },
  {
    name: 'unreported clusters lose their machines',
    what: 'After a start, the first cluster to report acquires machines that are in flight for others.',
    file: 'src/shard/planning/awaited-machines.ts',
    text: 'if (this.#isOver || state',
    replacement: 'if (!this.#isOver || state',
  },
  {
    name: 'ignored freeze',
    what: 'The guardrails admit actions of a frozen scope.',
    file: 'src/shard/planning/guardrails.ts',
    text: 'if (view.freezes.isFrozen(action)) waiting.frozen.push(action);',
    replacement: 'if (view.nowMs < 0) waiting.frozen.push(action);',
  },
  {
    name: 'freeze that a restart undoes',
    what: 'A freeze is in force but never written to disk.',
    file: 'src/shard/planning/freezes.ts',
    text: '    this.#store.putFreeze(freeze);\n',
    replacement: '',
  },
  {
    name: 'Creating does not count',
    what: 'A machine that is being bought for a row is bought again.',
    file: 'src/engine/assign/in-flight.ts',
    text: 'machines.state[slot] === MachineState.Creating && (withBlocked',
    replacement: 'machines.state[slot] === MachineState.Failed && (withBlocked',
  },
  {
    name: 'accepts every roll-up',
    what: 'A roll-up that loses nearly everything is used at once.',
    file: 'src/shard/demand/demand-guard.ts',
    text: 'if (this.#baseline === null || !isCollapse(this.#baseline, extent)) return false;',
    replacement: 'if (this.#baseline !== undefined || !isCollapse(this.#baseline!, extent)) return false;',
  },
  {
    name: 'reclaim on a quarantined roll-up',
    what: 'A cluster whose first roll-up after a start is quarantined is treated as having reported no demand.',
    file: 'src/shard/demand/rollups.ts',
    text: "        log('warn', 'rollup-held', describeQuarantined(taken.quarantined));\n",
    replacement:
      "        log('warn', 'rollup-held', describeQuarantined(taken.quarantined));\n" +
      '        const delta = { cluster, base: 0, version: 0, origin: new Int32Array(0), fresh: [] };\n' +
      "        if (demand.view.rows === null) post({ kind: 'demand', delta, rowsSetAside: 0 });\n",
  },
  {
    name: 'wrong hold clock',
    what: 'A machine that has just become Idle is treated as Idle since it was first seen.',
    file: 'src/fleet/machines/machine-status.ts',
    text: 'return meaningOf(known.state, seen) === Meaning.RolledBack ? (known.idleSinceMs ?? atMs) : atMs;',
    replacement: 'return meaningOf(known.state, seen) === Meaning.RolledBack ? (known.idleSinceMs ?? 0) : 0;',
  },
  {
    name: 'cap by cycle alone',
    what: 'The cap on Reclaims applies to each cycle, not to ten seconds.',
    file: 'src/shard/planning/guardrails.ts',
    text: 'Math.max(0, cap - this.#window.countOf(cluster))',
    replacement: 'Math.max(0, cap)',
  },
  {
    name: 'stale observation accepted',
    what: 'A List that began before a call of the shard overwrites the state of the machine.',
    file: 'src/shard/inventory/reconcile.ts',
    text: 'return !this.#parts.actuation.isBusy(id) && this.#parts.scheduler.isCurrent(id, began);',
    replacement: 'return began > 0 && id !== "";',
  },
  {
    name: 'orphan ignored',
    what: 'A host that the ledger records as a quota slot is never discovered.',
    file: 'src/shard/inventory/reconcile.ts',
    text: '    if (known?.state === MachineState.Speculative && hasHost(state))\n      observer.orphanFound(id, provider, state);\n',
    replacement:
      '    if (known?.state === MachineState.Speculative && hasHost(state)) {\n      observer.orphanFound(id, provider, state);\n      return;\n    }\n',
  },
  {
    name: 'request left open',
    what: 'A bootstrap request without a timely answer is never withdrawn.',
    file: 'src/shard/actuation/bootstrap-requests.ts',
    text: "      emit({ kind: 'withdraw-bootstrap', cluster, request });\n      this.#end(",
    replacement: '      this.#end(',
  },
  {
    name: 'silent reconnect',
    what: 'A cluster that reconnects does not receive the changes of its machines meanwhile.',
    file: 'src/shard/planning/controller.ts',
    text: '        this.#nodeStates.sendAll(event.cluster);\n',
    replacement: '',
  },
  {
    name: 'share given twice',
    what: 'What a row borrows of a machine is offered to the next row again.',
    file: 'src/engine/assign/remainders.ts',
    text: '      this.#left[at + d]! -= amount;\n',
    replacement: '',
  },
  {
    name: 'hold without an end',
    what: 'The time since which no row claims a machine is not recorded.',
    file: 'src/shard/planning/cycles.ts',
    text: "      ledger.append({ kind: 'unclaimed', ...clock });\n",
    replacement: '      state.awaited.reported(clock.id);\n',
  },
];
