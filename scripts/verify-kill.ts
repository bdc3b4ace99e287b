// `npm run verify:kill [-- POINT…]`: kills the process of a shard at every point of every transition, starts it again,
// and checks that nothing was lost or repeated. About a quarter of a minute a point, a few at a time.

import { FAILPOINTS, type Failpoint } from '../src/shard/failpoints.ts';
import { type KillReport, runKillScenario } from '../test/e2e/kill-scenario.ts';

const AT_A_TIME = 3;

const asked = process.argv.slice(2);
const unknown = asked.filter((name) => !FAILPOINTS.some((point) => point === name));
if (unknown.length > 0) {
  console.error(`There is no point ${unknown.join(', ')}; there are:\n  ${FAILPOINTS.join('\n  ')}`);
  process.exit(2);
}
const points = FAILPOINTS.filter((point) => asked.length === 0 || asked.includes(point));
const waiting = [...points];
const failed: string[] = [];
await Promise.all(Array.from({ length: AT_A_TIME }, work));
console.log(`${points.length - failed.length} of ${points.length} points fine.`);
if (failed.length > 0) console.log(`Not fine: ${failed.join(', ')}`);
process.exit(failed.length === 0 ? 0 : 1);

async function work(): Promise<void> {
  for (let point = waiting.shift(); point !== undefined; point = waiting.shift()) {
    const began = performance.now();
    const report = await reportOf(point);
    const seconds = ((performance.now() - began) / 1000).toFixed(1);
    const verdict = report.problems.length === 0 ? 'fine' : report.problems.join('; ');
    if (report.problems.length > 0) failed.push(point);
    console.log(
      `${point.padEnd(24)} killed while ${report.diedDuring.padEnd(12)} ${seconds.padStart(5)} s  ${verdict}`,
    );
  }
}

async function reportOf(point: Failpoint): Promise<KillReport> {
  const closers: (() => unknown)[] = [];
  try {
    return await runKillScenario(
      { onTestFinished: (close) => void closers.push(close as () => unknown) },
      point,
    );
  } catch (error) {
    return { point, diedDuring: '?', problems: [error instanceof Error ? error.message : String(error)] };
  } finally {
    for (const close of closers.reverse()) await close();
  }
}
