// Checks that the API server refused no request of an operator for a missing right or an object that its schema does not
// allow, so that a gap in the manifests fails the test that meets it. Used by kube-world.ts at the end of each world.

import type { ControlPlane } from '../../testing/kube/control-plane.ts';

/** Events of the operator's log with the error of a failed write. */
const FAILED_WRITE = /"?(write\.failed|verdicts\.config-map-failed|take-over-failed|lease-problem)"?/;
/** As the message of a KubeError begins: METHOD PATH at SERVER: STATUS REASON. */
const FORBIDDEN = /: 403 Forbidden/;
const INVALID = /: 422 Invalid/;
const OPERATOR = 'bigfleet-operator';
/** Lines that the error shows. */
const MOST = 10;

export function expectNoRefusals(lines: readonly string[], planes: readonly ControlPlane[]): void {
  const isRestarted = planes.some(({ wasRestarted }) => wasRestarted);
  const isRefused = (line: string) => INVALID.test(line) || (!isRestarted && FORBIDDEN.test(line));
  const logged = lines.filter((line) => FAILED_WRITE.test(line) && isRefused(line));
  // The log does not have all of them: the recorder of Events only counts its failures.
  const answered = planes.flatMap(({ fake }) => fake?.refusals ?? []);
  const refused = [...logged, ...answered.filter((line) => line.startsWith(OPERATOR))];
  if (refused.length === 0) return;
  const shown = refused.slice(0, MOST).join('\n');
  throw new Error(`the API server refused ${refused.length} requests of the operator:\n${shown}`);
}
