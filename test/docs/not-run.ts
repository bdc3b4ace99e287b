// The commands of the documentation that commands.test.ts does not run, and why; their arguments are parsed all the same.
// And what pages assume that a reader has done before.

/** Reasons that several commands share. */
const REASON = {
  starts: 'starts what the test itself runs: a demo with the fleet that other commands query',
  installs: 'installs packages',
  cluster: 'needs a Kubernetes cluster; test/kube runs the operator in one',
  certifies: 'certifies a provider, which takes minutes; test/conformance does it',
  measures: 'measures, exercises or checks for minutes',
  elsewhere: 'names a host, a folder, a file or a time of the reader',
  connected: 'needs a cluster that is gone for good; src/cli/remote has one',
} as const;

/** By the text of the command, from its beginning: the whole text, or its first words followed by a blank. */
export const NOT_RUN: Readonly<Record<string, string>> = {
  'npm install && npm start': REASON.starts,
  'npm install && npm test': REASON.installs,
  'npm install && npm pack': REASON.installs,
  'npm run bench': REASON.measures,
  'npm run bench:gate': REASON.measures,
  'npm run --silent bench': REASON.measures,
  'npm run verify:digests': REASON.measures,
  'bigfleet provider conformance': REASON.certifies,
  'bigfleet explain pod': REASON.cluster,
  'bigfleet get status --tls-cert certs/admin.crt --tls-key certs/admin.key --tls-ca certs/ca.crt':
    REASON.elsewhere,
  'bigfleet shard --tls-cert certs/shard-shard-0.crt --tls-key certs/shard-shard-0.key --tls-ca certs/ca.crt …':
    REASON.elsewhere,
  'bigfleet shard --config shard.yaml --data-dir data-old': REASON.elsewhere,
  'bigfleet assess --contexts prod-eu,prod-us': REASON.elsewhere,
  'bigfleet assess --from prod-eu.json --from batch.json': REASON.elsewhere,
  'bigfleet decide fleet.yaml': REASON.elsewhere,
  'bigfleet history cluster web --from 2026-03-01T12:00:00Z': REASON.elsewhere,
  'bigfleet cluster retire': REASON.connected,
  'bigfleet cluster unretire': REASON.connected,
};

/** By page: commands that bring about what the page assumes, run before its own. */
export const ASSUMED: Readonly<Record<string, readonly string[]>> = {
  'docs/operate/runbooks.md': ['bigfleet freeze --action buy --why "budget review"'],
  'docs/operate/operator.md': ['bigfleet certs init'],
};
