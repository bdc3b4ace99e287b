// docs/reference/operator-configuration.md, made from the settings. Written by scripts/generate.ts.

import * as z from 'zod';
import { SETTING_FLAGS } from './load-settings.ts';
import { SETTING_DOCS, type SettingDoc } from './setting-types.ts';
import { SETTINGS_SCHEMA } from './settings.ts';

export interface DocumentedSetting extends SettingDoc {
  readonly key: string;
}

/** Every setting, in the order of the schema. */
export function documentedSettings(
  type: z.core.$ZodType = SETTINGS_SCHEMA,
  prefix = '',
): DocumentedSetting[] {
  const doc = SETTING_DOCS.get(type as z.ZodType);
  if (doc !== undefined) return [{ key: prefix, ...doc }];
  const object = type instanceof z.ZodPipe ? type.out : type;
  if (!(object instanceof z.ZodObject)) return [];
  return Object.entries(object.shape as Record<string, z.core.$ZodType>).flatMap(([name, field]) =>
    documentedSettings(field, prefix === '' ? name : `${prefix}.${name}`),
  );
}

export function operatorConfigurationPage(): string {
  return `${HEAD}
| key | flag | default | accepted values | description |
|---|---|---|---|---|
${documentedSettings().map(rowOf).join('\n')}
`;
}

const HEAD = `# Configuration of the operator

\`bigfleet operator\` reads its settings from one YAML file, given with \`--config FILE\`, and from flags, which beat the file.
Dots in a key are sections: \`shard.addresses\` is \`addresses\` below \`shard\`. All problems are reported at once, each with
the line or the flag it comes from; a name that is not a setting is a problem too. \`bigfleet operator check --config FILE\`
checks a file and its template without a cluster. [The operator](../operate/operator.md) explains what the settings are for.

\`\`\`yaml
cluster: web
shard:
  addresses: shard.bigfleet.example:7780
  tls: { cert: /etc/bigfleet/tls/tls.crt, key: /etc/bigfleet/tls/tls.key, ca: /etc/bigfleet/tls/ca.crt }
bootstrap:
  mode: tokens
demand:
  mode: opt-in
  taints:
    - selector: { matchLabels: { team: ml } }
      taints: [{ key: dedicated, value: ml, effect: NoSchedule }]
\`\`\`

This page is generated from \`src/operator/process/settings.ts\` by \`npm run generate\`.
`;

function rowOf({ key, accepts, defaultText, about }: DocumentedSetting): string {
  const flag = (SETTING_FLAGS as Readonly<Record<string, string>>)[key];
  const cells = [
    `\`${key}\``,
    flag === undefined ? '' : `\`--${flag}\``,
    defaultText === '' ? 'none' : `\`${defaultText}\``,
    accepts,
    about,
  ];
  return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
}
