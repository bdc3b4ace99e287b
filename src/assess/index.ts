// What BigFleet would make of clusters that exist: read, never written. `bigfleet assess` is its command.

export { type AssessInput, assess } from './assess.ts';
export type { Assessment, Fleet, FreshFleet, Sharing, SharingSide } from './assessment.ts';
export type { ClusterObjects } from './cluster-objects.ts';
export { htmlPage } from './html-page.ts';
export { clusterFromApi } from './read-cluster.ts';
export { clusterFromText } from './read-file.ts';
export {
  freshWarnings,
  gapLines,
  HOURS_PER_MONTH,
  leftOutLines,
  priceNote,
  SHARING_DEFINITION,
  strandedTotals,
  waitingLines,
} from './summary.ts';
