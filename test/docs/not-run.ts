// The commands of the documentation that commands.test.ts does not run, and why; their arguments are parsed all the same.
// And what pages assume that a reader has done before.

/** Reasons that several commands share. */
const REASON = {
  starts: 'starts what the test itself runs: a demo with the fleet that other commands query',
  installs: 'installs packages',
  cluster: 'needs a Kubernetes cluster; test/kube runs the operator in one',
  kubectl: 'is no command of this program, and needs a Kubernetes cluster',
  certifies: 'certifies a provider, which takes minutes; test/conformance does it',
  measures: 'measures, exercises or checks for minutes',
  elsewhere: 'names a host, a folder or a file of the reader',
  waits: 'prints nothing until something of this kind happens; test/cli/get-formats.test.ts does it',
  login: 'needs a token over TLS; src/shard/api/access.test.ts does it',
  control: 'needs the provider of the example before it; src/provider/fake/control.test.ts does it',
  background: 'runs on after the shell; the same without & is run',
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
  kubectl: REASON.kubectl,
  'bigfleet up': REASON.starts,
  'bigfleet provider conformance': REASON.certifies,
  'bigfleet provider fake &': REASON.background,
  'bigfleet operator --config': REASON.cluster,
  'bigfleet operator --cluster': REASON.cluster,
  'bigfleet operator manifests --cluster web --shard shard.example:7780 | kubectl apply -f -': REASON.kubectl,
  'bigfleet get mc --state creating --watch': REASON.waits,
  'bigfleet get ev --kind loss,log --watch': REASON.waits,
  'bigfleet get status --tls-cert certs/admin.crt --tls-key certs/admin.key --tls-ca certs/ca.crt':
    REASON.elsewhere,
  "curl -s -H 'content-type: application/json' https://shard-0:8780/v1/login": REASON.login,
  "curl -s -H 'content-type: application/json' https://shard-0:8780/v1/logout": REASON.login,
  'curl -X PATCH -d \'{"stock": {"outChance": 1}}\' 127.0.0.1:9001/settings': REASON.control,
  'bigfleet version -o json --shard https://shard.example:8780': REASON.elsewhere,
  'bigfleet certs init --dir /etc/bigfleet/tls': REASON.elsewhere,
  'bigfleet certs token prometheus --role view --dir /etc/bigfleet/tls': REASON.elsewhere,
  'bigfleet shard --tls-cert certs/shard-shard-0.crt --tls-key certs/shard-shard-0.key --tls-ca certs/ca.crt …':
    REASON.elsewhere,
  'bigfleet shard --config shard.yaml --data-dir data-old': REASON.elsewhere,
  'bigfleet shard --provider metal=10.0.0.1:9000': REASON.elsewhere,
};

const PROD = 'bigfleet config set-context prod --shard https://shard.example:8780 --token-file token';

/** By page: commands that bring about what the page assumes, run before its own. */
export const ASSUMED: Readonly<Record<string, readonly string[]>> = {
  'docs/operate/runbooks.md': ['bigfleet freeze --action buy --why "budget review"'],
  'docs/operate/operator.md': ['bigfleet certs init'],
  'docs/reference/cli.md: bigfleet certs issue': ['bigfleet certs init'],
  'docs/reference/cli.md: bigfleet config use-context': [PROD],
  'docs/reference/cli.md: bigfleet config delete-context': [
    'bigfleet config set-context old --shard 127.0.0.1:8780',
  ],
  'docs/reference/cli.md: bigfleet config current-context': [PROD, 'bigfleet config use-context prod'],
};
