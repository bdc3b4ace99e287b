// The demand of a cluster for other rooms: what its pods ask for, without an operator that runs. `bigfleet assess` makes it
// once from lists.

export { podResources } from '../pods/resources.ts';
export { DEFAULT_TRANSLATION } from '../pods/settings.ts';
export { claimNames } from '../pods/volumes.ts';
export { Demand } from './demand.ts';
