// Public names of this folder: the files of the page, and the texts and figures that it shares with the terminal.

export { costByState, costPartText, ownedText } from './cost-text.ts';
export { usedText } from './coverage.ts';
export {
  decidedText,
  decidedWhy,
  fateText,
  notListedText,
  redecisionTexts,
  waitingTexts,
} from './cycle-text.ts';
export {
  count,
  counted,
  cutText,
  inUnits,
  milliseconds,
  moment,
  perHour,
  span,
  sparkline,
  timeOfDay,
} from './figures.ts';
export type { Live } from './live.ts';
export {
  FLEET_FREEZE,
  isFrozen,
  latestSentences,
  MAX_CLUSTERS,
  MAX_FAILED,
  MAX_PLANNED,
  MAX_SHORTFALLS,
  NOTHING_YET,
  withEvent,
  withPast,
} from './live.ts';
export { loginPages } from './login-pages.ts';
export { healthText, lossesText, lossText, SHOWN_ELSEWHERE } from './loss-text.ts';
export { pageFiles } from './page-files.ts';
export { PAGE_POLICY, pageServer } from './page-server.ts';
export { heldOnPurpose, kindName, wouldText } from './plan-text.ts';
export type { DemoScenarioName, Mood } from './sentences.ts';
export {
  actionText,
  byTrouble,
  DEMO_SCENARIOS,
  failedText,
  frozenClusterText,
  headline,
  heldBackLine,
  heldBackText,
  isInTrouble,
  logText,
  machinesIn,
  missingText,
  plannedLine,
  plannedText,
  providerText,
  reasonText,
  STATES,
  VERBS,
  WHAT_IT_IS,
} from './sentences.ts';
export { resampled, unmetSinceText, withPoints } from './series.ts';
export type { SupplyGroup, SupplyRow } from './supply-text.ts';
export { supplyGroups } from './supply-text.ts';
