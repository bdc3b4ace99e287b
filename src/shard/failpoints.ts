// Points at which `npm run verify:kill` and test/e2e/kill-scenario.ts kill the process to check its recovery: before and
// after every write, and at every step of every transition. A failpoint without a listener costs one read of a variable.

const COMMANDS = ['create', 'configure', 'drain', 'delete'] as const;
/**
 * Stages of a provider call. `decided`: the ledger is updated. `saved`: the file is too. `calling`: just before the call.
 * `answered`: the answer is not yet posted to the controller. `adopted`: the machine as the provider answered it is in the
 * ledger. `seen`: a List or Get shows that the transition has ended.
 */
const STAGES = ['decided', 'saved', 'calling', 'answered', 'adopted', 'seen'] as const;

export type Failpoint =
  | `${(typeof COMMANDS)[number]}.${(typeof STAGES)[number]}`
  | `${'epoch' | 'machines' | 'freeze' | 'demand'}.${'before' | 'after'}-write`
  | `bootstrap.${'asked' | 'answered'}`
  | 'reclaim.instructed'
  | 'list.applied'
  | `cycle.${'committed' | 'decided' | 'ended'}`;

export const FAILPOINTS: readonly Failpoint[] = [
  ...COMMANDS.flatMap((command) => STAGES.map((stage) => `${command}.${stage}` as const)),
  ...(['epoch', 'machines', 'freeze', 'demand'] as const).flatMap(
    (file) => [`${file}.before-write`, `${file}.after-write`] as const,
  ),
  'bootstrap.asked',
  'bootstrap.answered',
  'reclaim.instructed',
  'list.applied',
  'cycle.committed',
  'cycle.decided',
  'cycle.ended',
];

let onReached: ((point: Failpoint) => void) | null = null;

export function failpoint(point: Failpoint): void {
  onReached?.(point);
}

/** Must be called on each thread of the process. Without the environment variable it does nothing. */
export function killAtFailpoint(): void {
  armFailpoints(process.env['BIGFLEET_FAILPOINT'], () => process.kill(process.pid, 'SIGKILL'));
}

/** `wanted`: a point, optionally with the number of times it is passed before the kill: `create.saved:2`. */
function armFailpoints(wanted: string | undefined, kill: () => void): void {
  if (wanted === undefined || wanted === '') return;
  const [name, times = '0'] = wanted.split(':');
  if (!FAILPOINTS.some((point) => point === name)) throw new Error(`there is no failpoint "${name}"`);
  let left = Number(times);
  onReached = (point) => {
    if (point === name && left-- <= 0) kill();
  };
}
