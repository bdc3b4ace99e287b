// Import directions between the rooms. `model` stands on nothing; each room may use only what is listed for it.
const ROOMS = {
  model: [],
  wire: ['model'],
  fleet: ['model'],
  engine: ['model', 'fleet'],
  provider: ['model', 'wire'],
  shard: ['model', 'fleet', 'engine', 'wire', 'provider'],
  coordinator: ['model', 'wire'],
  operator: ['model', 'wire'],
  sim: ['model', 'wire', 'fleet', 'engine', 'provider', 'shard', 'coordinator', 'operator'],
  // The dashboard knows the read API alone.
  web: ['wire'],
  cli: ['model', 'wire', 'fleet', 'engine', 'provider', 'shard', 'coordinator', 'operator', 'sim', 'web'],
};

// Files that another room may import by themselves, without all that the room's index.ts loads: a command of the command
// line should load only what it runs.
const SIDE_DOORS = [
  '^src/provider/client/call-limits\\.ts$',
  '^src/provider/conformance/behaviour\\.ts$',
  '^src/provider/fake/settings\\.ts$',
  '^src/provider/kit/directories\\.ts$',
  '^src/shard/brain/freezes\\.ts$',
  '^src/shard/config/(index|nearest)\\.ts$',
  '^src/shard/journal/(format|history|journal-reader|replay)\\.ts$',
  '^src/shard/logger\\.ts$',
  '^src/sim/(offerings-file|plan-json|scenario)\\.ts$',
  '^src/web/figures\\.ts$',
  '^src/wire/(certificates|steps|tls-advice|tls-files)\\.ts$',
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
        pathNot: ['^src/$1/', '^src/[^/]+/index\\.ts$', '^src/wire/gen/', ...SIDE_DOORS],
      },
    },
    {
      name: 'engine-is-pure',
      comment:
        'decisions read no clock, file, network or random number: model, fleet and engine use no Node module',
      severity: 'error',
      from: { path: '^src/(model|fleet|engine)/', pathNot: '\\.test\\.ts$' },
      to: { dependencyTypes: ['core'], pathNot: '^(node:)?worker_threads$' },
    },
    {
      name: 'no-tests-in-product',
      severity: 'error',
      from: { path: '^src/', pathNot: '\\.test\\.ts$' },
      to: { path: ['^test/', '^bench/', '\\.test\\.ts$'] },
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
