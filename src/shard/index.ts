// What other rooms may use of a shard, and the parts that its brain and hands are put together from.

export type { NewsLimits } from './api/news.ts';
export type { ApiOptions, ApiServer } from './api/serve.ts';
export { serveApi } from './api/serve.ts';
export type { Inspect } from './api/shard-read-grpc.ts';
export { addShardRead } from './api/shard-read-grpc.ts';
export { Actuation, stampOf } from './brain/actuation/actuation.ts';
export type {
  ActuationObserver,
  ActuationParts,
  RefusedAction,
} from './brain/actuation/actuation-parts.ts';
export type { Hold } from './brain/actuation/holds.ts';
export type { ActuationLimits } from './brain/actuation/limits.ts';
export { ACTUATION_LIMITS } from './brain/actuation/limits.ts';
export { AvailableCapacity } from './brain/available-capacity.ts';
export { Book } from './brain/book.ts';
export type { CallSchedulerLimits } from './brain/call-scheduler.ts';
export { CALL_SCHEDULER_LIMITS, CallScheduler } from './brain/call-scheduler.ts';
export type { Freeze, FreezeScope, FreezeStore } from './brain/freezes.ts';
export { Freezes, freezeId, freezeName } from './brain/freezes.ts';
export type { Admission, GuardrailOptions, WaitReason } from './brain/guardrails.ts';
export { DEFAULT_GUARDRAILS, Guardrails } from './brain/guardrails.ts';
export type { InspectedCycle } from './brain/inspect.ts';
export { inspectNeeds } from './brain/inspect.ts';
export type { MachineFacts, MachineStore } from './brain/machine-facts-store.ts';
export { MachineFactsStore } from './brain/machine-facts-store.ts';
export { MemoryBrainStore } from './brain/memory-store.ts';
export { NodeNews } from './brain/node-news.ts';
export type { NodeRecord } from './brain/node-state.ts';
export { nodeNameOf, nodeStateUpdate, nodeStateUpdates } from './brain/node-state.ts';
export type { BrainOptions, BrainStore, CycleTimes, EngineSetup } from './brain/options.ts';
export { DEFAULT_BRAIN } from './brain/options.ts';
export type { ReconcileLimits } from './brain/reconcile/limits.ts';
export { RECONCILE_LIMITS } from './brain/reconcile/limits.ts';
export type { ReadingFacts, ReconcileObserver, ReconcileParts } from './brain/reconcile/reconcile.ts';
export { Reconcile } from './brain/reconcile/reconcile.ts';
export type { ReportFacts } from './brain/report.ts';
export { shardReport } from './brain/report.ts';
export type { Shortfall, ShortfallGauges } from './brain/shortfalls.ts';
export { Shortfalls } from './brain/shortfalls.ts';
export type { ConfigSources, LoadedConfig, ShardConfig } from './config/config.ts';
export { brainOptionsOf, defaultConfig, loadConfig } from './config/config.ts';
export type { ProviderSpec } from './config/kinds.ts';
export { didYouMean } from './config/nearest.ts';
export { configurationPage } from './config/page.ts';
export { printConfig } from './config/print.ts';
export type { Setting, SettingKey } from './config/settings.ts';
export { KEYS as SETTING_KEYS, settingOf } from './config/settings.ts';
export type { Flags as SettingFlags } from './config/sources.ts';
export type { DataDir } from './data-dir.ts';
export { isDataDirFile, lockDirectory, openDataDir } from './data-dir.ts';
export { carryOut } from './effects.ts';
export type {
  BrainEvent,
  CallOutcome,
  Effect,
  ProviderRequest,
  SessionRef,
} from './events.ts';
export { EXPOSITION_TYPE } from './exposition.ts';
export type { HeldRollup, ReportView } from './hands/cluster-demand.ts';
export { HandsCounters } from './hands/counters.ts';
export type { BaselineRow, DemandChanges, DemandStore, FirstSeenRow } from './hands/demand-store.ts';
export { MemoryDemandStore } from './hands/demand-store.ts';
export { SqliteDemandStore } from './hands/demand-store-sqlite.ts';
export type { Extent } from './hands/guard.ts';
export type { Brain, HandsParts, SessionView } from './hands/hands.ts';
export { Hands } from './hands/hands.ts';
export type { HandsEvent, HandsLog, LogLevel } from './hands/log.ts';
export { PacedBrain } from './hands/paced-brain.ts';
export type { Identify, SessionLink, SessionPort, SessionStatus } from './hands/port.ts';
export type { ProviderEnd } from './hands/provider-hands.ts';
export { ProviderHands } from './hands/provider-hands.ts';
export { addSessions, sessionServerOptions } from './hands/session-grpc.ts';
export type { InlineParts } from './inline-brain.ts';
export { InlineBrain } from './inline-brain.ts';
export type { CycleOutcome, JournalLimits, JournalSink } from './journal/format.ts';
export { JOURNAL_LIMITS, journalFileIn } from './journal/format.ts';
export type { MachineFacts as MachineStoryFacts, StoryItem, Subject } from './journal/history.ts';
export { history } from './journal/history.ts';
export { JournalFile } from './journal/journal-file.ts';
export type { Span } from './journal/journal-reader.ts';
export { ALWAYS, JournalReader } from './journal/journal-reader.ts';
export type { ReplayedCycle } from './journal/replay.ts';
export { replay } from './journal/replay.ts';
export type { LogFile, LoggerOptions, ShardLog, ShardLogLevel } from './logger.ts';
export { logToStderr, makeLog } from './logger.ts';
export type { CyclePhase, ExecuteOutcome } from './metrics.ts';
export { BrainMetrics, HandsMetrics } from './metrics.ts';
export type { EndReason, RunningShard, ShardIo, StartShard } from './running.ts';
export { startShard } from './shard.ts';
export { ShardFacade } from './shard-facade.ts';
export { SqliteBrainStore } from './store-sqlite.ts';
export type { BrainThreadParts } from './thread/brain-thread.ts';
export { BrainThread } from './thread/brain-thread.ts';
export type { BrainLike, BrainSetup, BrainSurroundings, MakeBrain } from './thread/protocol.ts';
export type {
  ActionView,
  Answer,
  ClusterView,
  Counts,
  CycleView,
  EventsView,
  EventView,
  HeldBackView,
  LossView,
  MachineFilter,
  MachineView,
  NeedRef,
  NeedStory,
  NeedView,
  News,
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
  ShardPort,
  ShortfallView,
  StatusView,
  WaitingActionView,
} from './views.ts';
