// What other rooms may use of the page: its files, and the words and figures that it shares with the terminal.

export { costByState, costPartWords, ownedWords } from './cost-words.ts';
export {
  count,
  counted,
  cutWords,
  inUnits,
  milliseconds,
  moment,
  perHour,
  span,
  sparkline,
  timeOfDay,
} from './figures.ts';
export { resampled, unmetSinceWords, withPoints } from './history.ts';
export type { Live } from './live.ts';
export {
  FLEET_FREEZE,
  isFrozen,
  lately,
  MAX_CLUSTERS,
  MAX_FAILED,
  MAX_PLANNED,
  MAX_SHORTFALLS,
  NOTHING_YET,
  withEvent,
  withPast,
} from './live.ts';
export { healthWords, lossesWords, lossWords, TOLD_IN_WORDS } from './loss-words.ts';

export { PAGE_POLICY, pageServer, pages } from './pages.ts';
export { heldOnPurpose, kindName, wouldWords } from './plan-words.ts';
export type { SupplyGroup, SupplyRow } from './supply-words.ts';
export { supplyGroups } from './supply-words.ts';
export type { DemoScenarioName, Mood } from './words.ts';
export {
  actionWords,
  byTrouble,
  DEMO_SCENARIOS,
  failedWords,
  frozenClusterWords,
  headline,
  heldBackLine,
  heldBackWords,
  isInTrouble,
  logWords,
  machinesIn,
  missingWords,
  plannedLine,
  plannedWords,
  providerWords,
  reasonWords,
  STATES,
  VERBS,
  WHAT_IT_IS,
} from './words.ts';
