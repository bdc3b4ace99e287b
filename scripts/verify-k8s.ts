// `npm run verify:k8s`: everything that needs a real Kubernetes control plane. Builds it where it is missing, runs all
// tests that use one, those at rest for ten minutes with the default timers of operator and shard included, and fails if
// one of them fails or did not run. Takes about half an hour. Exit code 0: all passed.

import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { styleText } from 'node:util';
import { findKubebox, kubernetesVersion } from '../testing/kube/kubebox.ts';

/** Tests on control planes: folders, or the beginning of file names. */
const FOLDERS = ['test/kube', 'test/operator/end-to-end'];
/** How tests on a real one are named. */
const REAL = /\(real\)/;
const REST_MINUTES = 10;
/** Of the test that exists only with minutes given. */
const REST = new RegExp(`default timers.* ${REST_MINUTES} min`);

interface Report {
  readonly testResults: readonly {
    readonly name: string;
    readonly status: string;
    readonly message?: string;
    readonly assertionResults: readonly { readonly fullName: string; readonly status: string }[];
  }[];
}

const built = spawnSync(process.execPath, ['scripts/k8s-build.ts'], { stdio: 'inherit' });
const { folder, why } = findKubebox();
if (built.status !== 0 || folder === null) {
  console.error(`NOT RUN: there is no control plane: ${why ?? 'see above'}.`);
  process.exit(1);
}
const version = kubernetesVersion(folder);
console.log(`Kubernetes ${version} in ${folder}`);
const output = mkdtempSync(join(tmpdir(), 'bigfleet-verify-k8s-'));
const file = join(output, 'report.json');
const vitest = [
  'node_modules/vitest/vitest.mjs',
  'run',
  ...FOLDERS,
  '--reporter=default',
  '--reporter=json',
  `--outputFile.json=${file}`,
];
// Required: a test that finds no control plane fails instead of reporting that it did not run.
const env = {
  ...process.env,
  BIGFLEET_REQUIRE_K8S: '1',
  BIGFLEET_REST_MINUTES: String(REST_MINUTES),
};
const result = spawnSync(process.execPath, vitest, { stdio: 'inherit', env });
const report = JSON.parse(readFileSync(file, 'utf8')) as Report;
rmSync(output, { recursive: true, force: true });

const tests = report.testResults.flatMap(({ assertionResults }) => assertionResults);
const real = tests.filter(({ fullName }) => REAL.test(fullName));
const passed = real.filter(({ status }) => status === 'passed').length;
const missing = tests.filter(({ status }) => status !== 'passed' && status !== 'failed');
for (const { fullName, status } of missing) console.error(`${styleText('red', status)} ${fullName}`);
const hasRested = real.some(({ fullName }) => REST.test(fullName));
if (!hasRested) console.error(`${styleText('red', 'missing')} the test at rest with default timers`);
const isGood = result.status === 0 && missing.length === 0 && hasRested && passed === real.length;
console.log(
  `Kubernetes ${version}: ${passed} of ${real.length} tests on a real control plane passed, ${missing.length} did not run; ${tests.length - real.length} on the fake.`,
);
process.exit(isGood ? 0 : 1);
