// What other rooms may use of a shard, and the parts that its controller and sessions are put together from.

export { EXPOSITION_TYPE } from '../runtime/exposition.ts';
export type { Log as ShardLog, LogFile, LogLevel as ShardLogLevel } from '../runtime/logger.ts';
export { logToStderr, makeLog } from '../runtime/logger.ts';
export { Actuation, stampOf } from './actuation/actuation.ts';
export type { ActuationLimits } from './actuation/actuation-limits.ts';
export { ACTUATION_LIMITS } from './actuation/actuation-limits.ts';
export type {
  ActuationObserver,
  ActuationParts,
  RefusedAction,
} from './actuation/actuation-types.ts';
export type { Block } from './actuation/blocked-machines.ts';
export type { CallSchedulerLimits } from './actuation/call-scheduler.ts';
export { CALL_SCHEDULER_LIMITS, CallScheduler } from './actuation/call-scheduler.ts';
export type { EventStreamLimits } from './api/event-stream.ts';
export type { ApiOptions, ApiServer } from './api/serve.ts';
export { serveApi } from './api/serve.ts';
export type { Inspect } from './api/shard-read-grpc.ts';
export { addShardRead } from './api/shard-read-grpc.ts';
export type { ConfigSources, LoadedConfig, ShardConfig } from './config/config.ts';
export { controllerOptionsOf, defaultConfig, loadConfig } from './config/config.ts';
export type { ProviderSpec } from './config/kinds.ts';
export { configurationPage } from './config/page.ts';
export { printConfig } from './config/print.ts';
export type { Setting, SettingKey } from './config/settings.ts';
export { KEYS as SETTING_KEYS, settingOf } from './config/settings.ts';
export type { Flags as SettingFlags } from './config/sources.ts';
export type { QuarantinedRollup, ReportView } from './demand/cluster-demand.ts';
export type { Extent } from './demand/demand-guard.ts';
export type {
  CallOutcome,
  ControllerEvent,
  Effect,
  ProviderRequest,
  SessionRef,
} from './events.ts';
export type { MachineFacts, MachineStore } from './inventory/machine-facts-store.ts';
export { MachineFactsStore } from './inventory/machine-facts-store.ts';
export { MachineLedger } from './inventory/machine-ledger.ts';
export type { ReadingFacts, ReconcileObserver, ReconcileParts } from './inventory/reconcile.ts';
export { Reconcile } from './inventory/reconcile.ts';
export type { ReconcileLimits } from './inventory/reconcile-limits.ts';
export { RECONCILE_LIMITS } from './inventory/reconcile-limits.ts';
export type { CycleOutcome, JournalLimits, JournalSink } from './journal/format.ts';
export { JOURNAL_LIMITS, journalFileIn } from './journal/format.ts';
export type { HistoryItem, MachineFacts as MachineHistoryFacts, Subject } from './journal/history.ts';
export { history } from './journal/history.ts';
export { JournalFile } from './journal/journal-file.ts';
export type { Span } from './journal/journal-reader.ts';
export { ALWAYS, JournalReader } from './journal/journal-reader.ts';
export type { ReplayedCycle } from './journal/replay.ts';
export { replay } from './journal/replay.ts';
export { AvailableCapacity } from './planning/available-capacity.ts';
export type { Freeze, FreezeScope, FreezeStore } from './planning/freezes.ts';
export { Freezes, freezeId, freezeName } from './planning/freezes.ts';
export type { Admission, GuardrailOptions, WaitReason } from './planning/guardrails.ts';
export { DEFAULT_GUARDRAILS, Guardrails } from './planning/guardrails.ts';
export type { NodeRecord } from './planning/node-state.ts';
export { nodeNameOf, nodeStateUpdate, nodeStateUpdates } from './planning/node-state.ts';
export { NodeStateRouter } from './planning/node-state-router.ts';
export type { ControllerOptions, ControllerStore, CycleTimes, EngineSetup } from './planning/options.ts';
export { DEFAULT_CONTROLLER } from './planning/options.ts';
export type { InspectedCycle } from './planning/queries/inspect.ts';
export { inspectNeeds } from './planning/queries/inspect.ts';
export type { ReportFacts } from './planning/report.ts';
export { shardReport } from './planning/report.ts';
export type { Shortfall, ShortfallGauges } from './planning/shortfalls.ts';
export { Shortfalls } from './planning/shortfalls.ts';
export type {
  ControllerEnvironment,
  ControllerSetup,
  DecisionController,
  MakeController,
} from './process/controller-protocol.ts';
export type { ControllerThreadParts } from './process/controller-thread.ts';
export { ControllerThread } from './process/controller-thread.ts';
export { carryOut } from './process/effects.ts';
export type { InlineParts } from './process/inline-controller.ts';
export { InlineController } from './process/inline-controller.ts';
export { PacedController } from './process/paced-controller.ts';
export type { ProviderEnd } from './process/provider-calls.ts';
export { ProviderCalls, shardClient } from './process/provider-calls.ts';
export type { EndReason, RunningShard, ShardIo, StartShard } from './process/running.ts';
export { startShard } from './process/shard.ts';
export { ShardFacade } from './process/shard-facade.ts';
export { SessionCounters } from './sessions/counters.ts';
export type { LogLevel, SessionLog, SessionLogEvent } from './sessions/log.ts';
export type { Identify, SessionLink, SessionPort, SessionStatus } from './sessions/port.ts';
export { addSessions, sessionServerOptions } from './sessions/session-grpc.ts';
export type { Controller, SessionsParts, SessionView } from './sessions/sessions.ts';
export { Sessions } from './sessions/sessions.ts';
export { MemoryControllerStore } from './storage/controller-store-memory.ts';
export { SqliteControllerStore } from './storage/controller-store-sqlite.ts';
export type { DataDir } from './storage/data-dir.ts';
export { isDataDirFile, lockDirectory, openDataDir } from './storage/data-dir.ts';
export type { BaselineRow, DemandChanges, DemandStore, FirstSeenRow } from './storage/demand-store.ts';
export { MemoryDemandStore } from './storage/demand-store.ts';
export { SqliteDemandStore } from './storage/demand-store-sqlite.ts';
export type { CyclePhase, ExecuteOutcome } from './telemetry/metrics.ts';
export { ControllerMetrics, SessionMetrics } from './telemetry/metrics.ts';
export type {
  ActionView,
  Answer,
  ClusterView,
  Counts,
  CyclePlanView,
  CycleRedecisionView,
  CycleView,
  EventsView,
  EventView,
  HeldBackView,
  HistoryEvent,
  HistoryKind,
  HistoryPage,
  LossView,
  MachineFilter,
  MachineView,
  NeedExplanation,
  NeedRef,
  NeedView,
  Order,
  OrderResult,
  Page,
  PlanView,
  ProviderView,
  Quantities,
  QuestionName,
  Questions,
  ReportsView,
  SeriesPoint,
  SeriesView,
  SetAsideView,
  ShardEvent,
  ShardPort,
  ShortfallView,
  StatusView,
  VersionView,
  WaitingActionView,
} from './views.ts';
