// Points at which a test has the process killed, to see that it comes back as it should: before and after everything
// that is written, and at every step of every transition. Without somebody who listens they cost a look at a variable.

const COMMANDS = ['create', 'configure', 'drain', 'delete'] as const;
/** `decided`: the ledger has moved. `saved`: so has the file. `answered`: the brain does not know yet. */
const STAGES = ['decided', 'saved', 'calling', 'answered', 'adopted', 'seen'] as const;

export type Failpoint =
  | `${(typeof COMMANDS)[number]}.${(typeof STAGES)[number]}`
  | `${'epoch' | 'machines' | 'freeze' | 'demand'}.${'before' | 'after'}-write`
  | `bootstrap.${'asked' | 'answered'}`
  | 'reclaim.instructed'
  | 'list.applied'
  | `cycle.${'frozen' | 'decided' | 'ended'}`;

export const FAILPOINTS: readonly Failpoint[] = [
  ...COMMANDS.flatMap((command) => STAGES.map((stage) => `${command}.${stage}` as const)),
  ...(['epoch', 'machines', 'freeze', 'demand'] as const).flatMap(
    (file) => [`${file}.before-write`, `${file}.after-write`] as const,
  ),
  'bootstrap.asked',
  'bootstrap.answered',
  'reclaim.instructed',
  'list.applied',
  'cycle.frozen',
  'cycle.decided',
  'cycle.ended',
];

let onReached: ((point: Failpoint) => void) | null = null;

export function failpoint(point: Failpoint): void {
  onReached?.(point);
}

/** Each thread of the process does this for itself. Without the variable nothing happens. */
export function killAtFailpoint(): void {
  armFailpoints(process.env['BIGFLEET_FAILPOINT'], () => process.kill(process.pid, 'SIGKILL'));
}

/** `wanted` is a point, or a point and how many times it is passed first: `create.saved:2`. */
function armFailpoints(wanted: string | undefined, kill: () => void): void {
  if (wanted === undefined || wanted === '') return;
  const [name, times = '0'] = wanted.split(':');
  if (!FAILPOINTS.some((point) => point === name)) throw new Error(`there is no failpoint "${name}"`);
  let left = Number(times);
  onReached = (point) => {
    if (point === name && left-- <= 0) kill();
  };
}
