// Import directions between the rooms: each may import only what is listed for it.
const ROOMS = {
  model: [],
  collections: ['model'],
  runtime: ['collections', 'model'],
  wire: ['collections', 'model', 'runtime'],
  fleet: ['collections', 'model'],
  engine: ['collections', 'model', 'runtime', 'fleet'],
  provider: ['collections', 'model', 'runtime', 'wire'],
  whatif: ['collections', 'model', 'runtime', 'fleet', 'engine', 'scenario'],
  shard: [
    ...['collections', 'model', 'runtime', 'fleet', 'engine', 'wire', 'provider'],
    ...['scenario', 'whatif'],
  ],
  coordinator: ['collections', 'model', 'runtime', 'wire'],
  operator: ['collections', 'model', 'runtime', 'wire'],
  scenario: ['collections', 'model', 'runtime', 'fleet', 'engine', 'provider'],
  demo: [
    ...['collections', 'model', 'runtime', 'wire', 'fleet', 'engine', 'provider', 'shard'],
    ...['scenario', 'whatif'],
  ],
  // The dashboard knows the read API alone.
  web: ['wire'],
  // Clusters are read by the client and translated by the demand of the operator; figures and plots are those of the page.
  assess: [
    ...['collections', 'model', 'runtime', 'wire', 'fleet', 'engine', 'provider'],
    ...['scenario', 'operator', 'web'],
  ],
  cli: [
    ...[
      'collections',
      'model',
      'runtime',
      'wire',
      'fleet',
      'engine',
      'provider',
      'shard',
      'coordinator',
      'operator',
    ],
    ...['scenario', 'whatif', 'demo', 'web', 'assess'],
  ],
};

// Rooms without an index.ts: their files are independent of each other and imported one by one, so that a command loads
// only what it runs.
const TOOLBOXES = ['^src/collections/', '^src/runtime/'];

// Files of other rooms that may be imported without the room's index.ts, for the same reason.
const SIDE_DOORS = [
  '^src/provider/client/call-limits\\.ts$',
  '^src/provider/conformance/harness/behaviour\\.ts$',
  '^src/provider/fake/settings\\.ts$',
  '^src/shard/planning/freezes\\.ts$',
  '^src/shard/config/index\\.ts$',
  '^src/shard/journal/(format|history|journal-reader|replay)\\.ts$',
  '^src/scenario/(document|economy-options|enum-names|offerings-file|plan-json|scenario|scenario-write)\\.ts$',
  '^src/shard/planning/queries/need-names\\.ts$',
  '^src/whatif/(request|answer)\\.ts$',
  '^src/operator/(demand|kube)/index\\.ts$',
  '^src/operator/verdicts/explain-pod\\.ts$',
  '^src/web/(figures|plot)\\.ts$',
  '^src/wire/(codec/steps|grpc/certificates|grpc/tls-advice|grpc/tls-files)\\.ts$',
];

const directions = Object.entries(ROOMS).map(([room, allowed]) => ({
  name: `${room}-imports`,
  comment: `src/${room} may import ${allowed.length === 0 ? 'no other room' : allowed.join(', ')}`,
  severity: 'error',
  from: { path: `^src/${room}/` },
  to: { path: '^src/', pathNot: [room, ...allowed].map((name) => `^src/${name}/`) },
}));

module.exports = {
  forbidden: [
    ...directions,
    {
      name: 'room-front-door',
      comment: 'another room is entered through its index.ts; generated types of the wire are public too',
      severity: 'error',
      from: { path: '^src/([^/]+)/' },
      to: {
        path: '^src/[^/]+/',
        pathNot: ['^src/$1/', '^src/[^/]+/index\\.ts$', '^src/wire/gen/', ...TOOLBOXES, ...SIDE_DOORS],
      },
    },
    {
      name: 'engine-is-pure',
      comment: 'decisions read no clock, file, network or random number: these rooms use no Node module',
      severity: 'error',
      from: {
        path: '^src/(collections|model|fleet|engine)/',
        pathNot: ['\\.test\\.ts$', '^src/engine/parallel/'],
      },
      to: { dependencyTypes: ['core'] },
    },
    {
      name: 'engine-threads',
      comment: 'engine/parallel shares work between threads and uses no other Node module',
      severity: 'error',
      from: { path: '^src/engine/parallel/', pathNot: '\\.test\\.ts$' },
      to: { dependencyTypes: ['core'], pathNot: '^(node:)?worker_threads$' },
    },
    {
      name: 'worker-threads',
      comment:
        'other rooms start threads through runtime/worker-channel.ts, which handles failures and the end',
      severity: 'error',
      from: { path: '^src/', pathNot: ['\\.test\\.ts$', '^src/(engine/parallel|runtime|shard/process)/'] },
      to: { path: '^(node:)?worker_threads$' },
    },
    {
      name: 'planning-is-pure',
      comment: 'planning, inventory and actuation of a shard know no socket, timer, file or thread',
      severity: 'error',
      from: { path: '^src/shard/(planning|inventory|actuation)/', pathNot: '\\.test\\.ts$' },
      to: {
        path: [
          '^node_modules/',
          '^src/shard/(process|sessions|storage|api)/',
          '^(node:)?(fs|net|http2?|https|tls|timers|worker_threads|child_process|sqlite)',
        ],
      },
    },
    {
      name: 'no-tests-in-product',
      severity: 'error',
      from: { path: '^src/', pathNot: '\\.test\\.ts$' },
      to: { path: ['^test/', '^testing/', '^bench/', '\\.test\\.ts$'] },
    },
    {
      name: 'no-cycles',
      severity: 'error',
      from: { path: '^src/' },
      to: { circular: true, viaOnly: { dependencyTypesNot: ['type-only'] } },
    },
    { name: 'resolvable', severity: 'error', from: {}, to: { couldNotResolve: true } },
  ],
  options: {
    parser: 'swc',
    tsPreCompilationDeps: true,
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '^src/wire/gen/' },
    enhancedResolveOptions: {
      extensions: ['.ts', '.js'],
      exportsFields: ['exports'],
      conditionNames: ['import', 'node', 'types'],
    },
  },
};
