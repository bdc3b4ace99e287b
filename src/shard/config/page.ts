// docs/reference/configuration.md, made from the table of settings. Written by scripts/generate.ts.

import { KEYS, type SettingKey, settingOf, variableOf } from './settings.ts';

export function configurationPage(): string {
  return `${HEAD}
| key | flag | default | accepted values | description |
|---|---|---|---|---|
${KEYS.map(rowOf).join('\n')}
`;
}

const HEAD = `# Configuration of a shard

\`bigfleet shard\` reads its settings from four sources; a later one overrides an earlier one:

1. the defaults below;
2. one YAML file, given with \`--config FILE\`. Dots in a key are sections: \`cycle.interval\` is \`interval\` below \`cycle\`;
3. the environment: \`${variableOf('cycle.readyWait')}\` is \`cycle.readyWait\`, and so on for every key. An empty variable is
   not set. Lists have commas: \`${variableOf('providers')}=metal=10.0.0.1:9000,cloud=10.0.0.2:9000\`;
4. flags. A switch may be turned off too: \`--dry-run=false\`.

All problems are reported at once, each with the line, the variable or the flag it comes from; a name that is not a
setting is a problem too. \`bigfleet shard --print-config\` prints the effective settings, with the source of every value
that is not the default; \`--config\` accepts its output.

\`\`\`yaml
id: shard-0
dataDir: /var/lib/bigfleet
providers:
  - { name: metal, address: 127.0.0.1:9000 }
  - { name: cloud, address: 127.0.0.1:9001 }
cycle:
  interval: 1s
releaseHold:
  onDemand: 10m
  reserved: never
\`\`\`

This page is generated from \`src/shard/config/settings.ts\` by \`npm run generate\`.
`;

function rowOf(key: SettingKey): string {
  const { kind, defaultValue, about, flag } = settingOf(key);
  const plain = defaultValue === undefined ? undefined : kind.write(defaultValue);
  const cells = [
    `\`${key}\``,
    flag === undefined ? '' : `\`--${flag}\``,
    plain === undefined || typeof plain === 'object' ? 'none' : `\`${plain}\``,
    kind.what,
    about,
  ];
  return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
}
